"""Signals in how people rate, and ratings that are left out of the statistics and taken in again."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core.errors import InvalidValueError
from annotate.core.models import CountingDecision, Dispute, Rating, Role
from annotate.disputes.commands.disputes import answer_dispute
from annotate.exports.registry import TABLES
from annotate.quality import RatedItem, signals_of
from annotate.quality.commands import decide_counting
from annotate.quality.queries import SIGNALS, evidence, raters_with_signals
from annotate.rating.commands.ratings import Answer, SaveOrigin, save_rating
from annotate.rating.commands.rounds import close_round_one
from annotate.results import figures
from annotate.results.commands import current_page
from annotate.results.queries.kept import KeptPage
from annotate.results.queries.reliability_data import rated_items
from annotate.results.registry import result_of
from tests.factories import Cast, make_member, make_project
from tests.rating.rounds import assigned, discussed, frozen, opened, rate

pytestmark = pytest.mark.django_db


def item(key: int, *values: int, seconds: float = 60, characters: int = 500) -> RatedItem:
    ends = (min(values), max(values)) if values else (None, None)
    return RatedItem(key, characters, seconds, len(values), *ends)


def test_signals_match_hand_calculation() -> None:
    signals = signals_of(
        [
            item(1, 4, 4, 4, seconds=9.9),  # 500 characters take 10 s at 3,000 a minute
            item(2, 4, 4, 4, seconds=10),
            item(3, 4, 4, seconds=0),  # two values are not remarkable; not timed; yet one value throughout
            item(4, 1, 2, 3),
            item(5, 5, 5, 5),
            item(6),
        ]
    )
    assert (signals.items, signals.timed, signals.median_seconds) == (6, 5, 60)
    assert (signals.too_fast, signals.too_fast_shown) == (1, [1])
    assert (signals.straight, signals.straight_shown, signals.several_values) == (3, [1, 2, 5], 4)
    assert signals.longest_run == 3


def test_nothing_rated_shows_nothing() -> None:
    signals = signals_of([])
    assert (signals.median_seconds, signals.too_fast, signals.straight) == (None, 0, 0)
    assert signals.longest_run == 0


DIMENSIONS = ("fluency", "coherence", "relevance")


def straight(cast: Cast, value: int, seconds: float) -> None:
    """Let the first annotator give one value to every dimension of the first item."""
    round, me = opened(cast), cast.annotators[0]
    assignment = assigned(cast, round, me, cast.items[0])
    for key in DIMENSIONS:
        answer, sent = Answer(value=value), SaveOrigin(active_seconds=seconds)
        save_rating(assignment=assignment, dimension=frozen(round, key), answer=answer, by=me.user, sent=sent)


def kept_signals(cast: Cast) -> KeptPage:
    return current_page(project=cast.project, result=result_of(cast.project, SIGNALS))


def test_signs_are_read_from_the_ratings_with_their_items() -> None:
    cast = make_project(dimensions=DIMENSIONS)
    straight(cast, 4, seconds=0.1)
    kept = kept_signals(cast)
    first, second, _ = raters_with_signals(cast.project, kept)
    assert (first.signals.items, first.signals.too_fast, first.signals.straight) == (1, 1, 1)
    assert second.signals.items == 0
    found = evidence(cast.annotators[0], kept)
    assert found.too_fast == found.straight
    assert (found.straight[0].document, found.straight[0].values) == ("product-1", [4, 4, 4])
    assert found.straight[0].seconds == pytest.approx(0.3)


def leave_out(cast: Cast, number: int = 2) -> None:
    decide_counting(membership=cast.annotators[number], counted=False, note="Clicked through.", by=cast.admin)


def test_left_out_ratings_are_in_no_statistic_and_come_back() -> None:
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (3, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    leave_out(cast)
    assert list(rated_items(round)["fluency"].data.raters) == ["Rater A", "Rater B"]
    close_round_one(project=cast.project, by=cast.admin)
    assert not Dispute.objects.exists()
    exported = [row["counted"] for row in TABLES["ratings"].rows(cast.project)]
    assert exported == [True, True, False]
    final = next(iter(TABLES["final_values"].rows(cast.project)))
    counted = {annotator.pseudonym: 3 for annotator in cast.annotators[:2]}
    assert (final["values"], final["final_value"]) == (counted, 3)
    decide_counting(membership=cast.annotators[2], counted=True, note="It was a mistake.", by=cast.admin)
    assert len(rated_items(round)["fluency"].data.raters) == 3
    assert Rating.objects.count() == 3


def test_a_dispute_settles_by_the_values_that_count() -> None:
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    leave_out(cast)
    for annotator, value in zip(cast.annotators[:2], (3, 3), strict=True):
        dispute = answer_dispute(dispute=dispute, rater=annotator, value=value, comment="So it is.")
    assert dispute.status == Dispute.Status.SETTLED
    answer_dispute(dispute=dispute, rater=cast.annotators[2], value=1)
    dispute.refresh_from_db()
    assert dispute.status == Dispute.Status.SETTLED


def test_decision_needs_a_reason_and_is_stored_once() -> None:
    cast = make_project()
    with pytest.raises(InvalidValueError, match="Add a note"):
        decide_counting(membership=cast.annotators[0], counted=False, note=" ", by=cast.admin)
    for _ in range(2):
        leave_out(cast)
    assert CountingDecision.objects.get().note == "Clicked through."


def address(cast: Cast, number: int | None = None) -> str:
    rest = "" if number is None else f"{cast.annotators[number].pk}/"
    return f"/projects/{cast.project.slug}/annotator-quality/{rest}"


def test_the_pages_show_signs_and_take_the_decision(client: Client) -> None:
    cast = make_project(dimensions=DIMENSIONS)
    straight(cast, 4, seconds=0.1)
    client.force_login(cast.admin)
    assert "1 of 1" in client.get(address(cast)).content.decode()
    assert "4 4 4" in client.get(address(cast, 0)).content.decode()
    assert client.post(address(cast, 0), {"counted": "", "note": ""}).status_code == 422
    page = client.post(address(cast, 0), {"counted": "", "note": "Too fast."}, follow=True).content.decode()
    assert "Statistics exclude the ratings of" in page
    assert "Too fast." in page
    agreement = client.get(f"/projects/{cast.project.slug}/results/agreement/").content.decode()
    assert "An admin excluded the ratings of Rater A from results." in agreement
    client.post(address(cast, 0), {"counted": "1", "note": "Talked."})
    cast.annotators[0].refresh_from_db()
    assert cast.annotators[0].counted


FIGURES = {
    "annotator-quality/": "Median time",
    "annotator-quality/{place}/": "finished in Round I",
    "dispute-rules/": "units with two values or more",
}


@pytest.mark.parametrize("address", FIGURES)
def test_pending_computation_shows_no_zeros(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = make_project(dimensions=DIMENSIONS)
    straight(cast, 4, seconds=0.1)
    client.force_login(cast.admin)
    url = f"/projects/{cast.project.slug}/{address.format(place=cast.annotators[0].pk)}"
    with monkeypatch.context() as patch:
        patch.setattr(figures, "AT_ONCE", 0)
        html = client.get(url).content.decode()
    assert "Computing results" in html
    assert FIGURES[address] not in html
    html = client.get(url).content.decode()
    assert "Computing results" not in html
    assert FIGURES[address] in html


def test_only_admins_who_do_not_rate_see_quality(client: Client) -> None:
    cast = make_project()
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        assert client.get(address(cast)).status_code == 404
        assert client.post(address(cast, 0), {"note": "x"}).status_code == 404
    opened(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    assert client.get(address(cast)).status_code == 403
    assert client.get(address(cast, 0)).status_code == 403


@pytest.mark.parametrize("documents", [1, 4])
def test_the_number_of_queries_is_fixed(
    client: Client, documents: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    cast = make_project(documents=documents, annotators=documents, raters_per_item=1, dimensions=DIMENSIONS)
    straight(cast, 4, seconds=0.1)
    client.force_login(cast.admin)
    client.get(address(cast))  # the signals are kept from now on
    with django_assert_num_queries(11):
        client.get(address(cast))
    with django_assert_num_queries(14):
        client.get(address(cast, 0))
