"""Who adjudicates without rating: the queue, what they see, what they decide."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Dispute, Membership, Role
from annotate.disputes.commands.disputes import answer_dispute
from annotate.disputes.queries.disputes import count_undecided
from annotate.rating.commands.rounds import close_round_one, close_round_two
from tests.disputes.disputed_texts import make_disputed_texts
from tests.factories import Cast, make_member, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return make_disputed_texts()


@pytest.fixture
def adjudicator(cast: Cast, client: Client) -> Membership:
    """Someone who did not rate, signed in; discussion has not resolved disputes 2 and 5."""
    membership = make_member(cast.project, Role.ADJUDICATOR)
    client.force_login(membership.user)  # type: ignore[arg-type]
    for number in (2, 5):
        for rater in (cast.annotators[0], cast.annotators[2]):
            answer_dispute(dispute=Dispute.objects.get(number=number), rater=rater, value=None, differs=True)
    return membership


def address(cast: Cast, number: int = 2) -> str:
    return reverse("dispute", args=[cast.project.slug, number])


def test_overview_and_list_show_pending_disputes_first(
    cast: Cast, client: Client, adjudicator: Membership
) -> None:
    home = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    assert "2 disputes were not resolved by discussion and wait for you." in home
    listing = reverse("disputes", args=[cast.project.slug])
    found = client.get(listing).context["disputes"]
    assert [each.number for each in found] == [2, 5]
    assert len(client.get(listing, {"all": "1"}).context["disputes"]) == 8


def test_the_thread_is_read_under_aliases_and_a_decision_ends_the_dispute(
    cast: Cast,
    client: Client,
    adjudicator: Membership,
) -> None:
    page = reverse("dispute", args=[cast.project.slug, 2])
    html = client.get(page).content.decode()
    assert "Rater A" in html
    assert "Decide this dispute" in html
    assert "1 other needs you" in html
    for rater in cast.annotators:
        assert rater.label not in html
    decided = reverse("dispute_decide", args=[cast.project.slug, 2])
    client.post(decided, {"value": "2", "note": "One slip, and a small one."})
    dispute = Dispute.objects.get(number=2)
    assert (dispute.status, dispute.adjudicated_value) == ("adjudicated", 2)
    assert dispute.events.last().actor == adjudicator.user  # type: ignore[union-attr]
    left = count_undecided(Dispute.objects.select_related("item").get(number=2))
    assert (left.disputes, left.following, left.next_document) == (1, 5, 5)


@pytest.mark.parametrize("name", ["results", "exports", "people", "dispute_rules", "quality", "judges"])
def test_nothing_else_of_what_others_gave_is_theirs(
    cast: Cast,
    client: Client,
    adjudicator: Membership,
    name: str,
) -> None:
    assert client.get(reverse(name, args=[cast.project.slug])).status_code == 404


def test_who_rated_a_unit_does_not_adjudicate_it(cast: Cast, client: Client) -> None:
    user = cast.annotators[1].user
    make_member(cast.project, Role.ADJUDICATOR, user=user)
    client.force_login(user)  # type: ignore[arg-type]
    assert "Decide this dispute" not in client.get(address(cast)).content.decode()
    sent = {"value": "2", "note": "I rated it."}
    assert client.post(reverse("dispute_decide", args=[cast.project.slug, 2]), sent).status_code == 403
    assert Dispute.objects.get(number=2).status != "adjudicated"


def test_after_round_two_nothing_waits_and_systems_stay_hidden(
    cast: Cast, client: Client, adjudicator: Membership
) -> None:
    close_round_two(project=cast.project, by=cast.admin)
    home = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    assert "No dispute waits for you." in home
    listing = reverse("disputes", args=[cast.project.slug])
    assert not client.get(listing, {"all": "1"}).context["shows_systems"]
    assert "waits for an adjudicator" not in client.get(address(cast)).content.decode()


def test_an_admin_who_rated_opens_no_dispute_before_round_two(client: Client) -> None:
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    user = cast.annotators[0].user
    make_member(cast.project, Role.ADMIN, user=user)
    close_round_one(project=cast.project, by=cast.admin)
    client.force_login(user)  # type: ignore[arg-type]
    assert client.get(address(cast, 1)).status_code == 200
