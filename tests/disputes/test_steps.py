"""Disputes on a scale of tenths or halves: distances are points, whatever floats make of them."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.models import Dimension, Dispute, Project, Rating
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, take_back
from annotate.disputes.queries.rules import Rule, rule_of
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_project
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def stepped(step: float, **changes: object) -> Cast:
    cast = make_project()
    Dimension.objects.update(scale_step=step, **changes)
    return cast


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        ((3.3, 1.3, 2), 2),
        ((1.8, 3.8, 3.8), 2),
        ((2.1, 4.1, 2.2), 2),
        ((2.9, 4.9, 3), 2),
        ((1.1, 3.2, 2), 2.1),
        ((1.1, 3, 2), None),
        ((3.1, 1.2, 2), None),
    ],
)
def test_exactly_two_points_on_a_scale_of_tenths_are_disputed(values, spread) -> None:
    cast = stepped(0.1)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, values, strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    assert [dispute.spread for dispute in Dispute.objects.all()] == [spread] * (spread is not None)


def test_a_dispute_settles_at_exactly_the_tolerance_and_its_value_can_be_a_half_point() -> None:
    cast = stepped(0.1)
    dispute = discussed(cast, 2.4, 4.4, 3.4)
    first, second, _ = cast.annotators
    assert answer_dispute(dispute=dispute, rater=second, value=4.4, comment="Still.").status == "open"
    assert 4.4 - 3.4 > 1
    settled = answer_dispute(dispute=dispute, rater=first, value=3.4, comment="Nearly.")
    assert (settled.status, settled.tolerance) == ("settled", 1)
    revision = Rating.objects.get(assignment__round__number=2, assignment__annotator=first).revision
    assert take_back(dispute=dispute, rater=first, revision=revision).status == "open"
    decided = adjudicate(dispute=dispute, value=2.3, note="Between.", by=cast.admin)
    decided.refresh_from_db()
    assert decided.adjudicated_value == 2.3
    with pytest.raises(InvalidValueError, match=r"from 1 to 5 in steps of 0\.1; 2\.35 is not on this scale"):
        adjudicate(dispute=dispute, value=2.35, note="Between.", by=cast.admin)


def test_what_opens_a_dispute_never_settles_it_whatever_the_step() -> None:
    project = Project(dispute_threshold=2, tolerance=1)

    def of(step: float, threshold: float | None = None) -> Rule:
        return rule_of(project, Dimension(scale_step=step, dispute_threshold=threshold))

    assert of(1) == of(0.5) == Rule(2, 1)
    assert of(1, 1) == Rule(1, 0)
    assert of(0.5, 1) == Rule(1, 0.5)
    assert of(0.1, 0.3) == Rule(0.3, 0.2)
    assert of(0.5, 0.5) == Rule(0.5, 0)


def test_dimension_has_a_half_point_rule_and_the_page_shows_its_effect(client: Client) -> None:
    cast = stepped(0.5)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (2, 3.5, 3), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    client.force_login(cast.admin)
    address = reverse("dispute_rules", args=[cast.project.slug])
    key = cast.dimensions[0].pk
    entered = {"threshold": "2", "tolerance": "1", f"threshold_{key}": "1.5", f"tolerance_{key}": ".5"}
    refused = client.post(address, entered | {f"threshold_{key}": "1.2"})
    assert "Enter whole points, or a multiple of 0.5." in refused.content.decode()
    assert client.post(address, entered).status_code == 302
    page = client.get(address).content.decode()
    assert "<strong>1.5 points: 1</strong> (the rule)" in page
    assert "0.5 points: 1" in page
    assert "2 points: 0" in page
    dispute = close_round_one(project=cast.project, by=cast.admin).disputes.get()
    assert (dispute.spread, dispute.threshold, dispute.tolerance) == (1.5, 1.5, 0.5)


def test_a_whole_scale_takes_whole_thresholds_only(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    entered = {"threshold": "2", "tolerance": "1", f"threshold_{cast.dimensions[0].pk}": "1.5"}
    refused = client.post(reverse("dispute_rules", args=[cast.project.slug]), entered)
    assert "Enter a whole number." in refused.content.decode()


def test_the_page_of_a_dispute_writes_half_points_in_the_reader_s_language(client: Client) -> None:
    cast = stepped(0.5)
    dispute = discussed(cast, 1.5, 4, 3)
    user = cast.annotators[0].user
    assert user is not None
    client.force_login(user)
    address = reverse("dispute", args=[cast.project.slug, dispute.number])
    page = client.get(address).content.decode()
    assert "2.5 apart in Round I" in page
    assert '<button name="value" value="3.5"' in page
    assert 'name="keep" value="1.5"' in page
    german = client.get(address, headers={"accept-language": "de"}).content.decode()
    assert 'name="keep" value="1.5"' in german
    assert ">3,5<" in german
    answer = {"value": "3.5", "comment": "Yes.", "seen_revision": "0", "rater": cast.annotators[0].alias}
    client.post(reverse("dispute_answer", args=[cast.project.slug, dispute.number]), answer)
    given = Rating.objects.get(assignment__round__number=2, assignment__annotator=cast.annotators[0])
    assert given.value == 3.5
    open_again = client.post(
        reverse("dispute_answer", args=[cast.project.slug, dispute.number]), answer | {"value": "3.3"}
    )
    assert "in steps of 0.5; 3.3 is not on this scale" in open_again.content.decode()
