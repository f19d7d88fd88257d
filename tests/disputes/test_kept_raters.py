"""Who a dispute's raters are is kept beside it: lists go by it, and read no ratings but those they show."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.models import Dispute, DisputeRater, Rating
from annotate.core.rounds import disputes_of, raters_of
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, post_message
from annotate.disputes.commands.state import ask_raters
from annotate.disputes.queries.activity import open_by_rater
from annotate.disputes.queries.disputes import count_remaining, sections_of, work_counts, work_list
from tests.disputes.disputed_texts import make_disputed_texts
from tests.factories import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return make_disputed_texts()


def test_stored_raters_have_a_unit_value_in_every_dispute_state(cast: Cast) -> None:
    settled, decided = Dispute.objects.order_by("number")[:2]
    for annotator in cast.annotators:
        answer_dispute(dispute=settled, rater=annotator, value=4)
    adjudicate(dispute=decided, value=3, note="Two say so.", by=cast.admin)
    for dispute in Dispute.objects.all():
        kept = dispute.raters.order_by("rater__alias")
        assert [each.rater for each in kept] == list(raters_of(dispute))
        assert dispute.status == Dispute.Status.OPEN or not kept.exclude(since=None).exists()


def test_rater_without_a_unit_value_has_no_such_dispute(cast: Cast) -> None:
    dispute, me = Dispute.objects.get(number=1), cast.annotators[1]
    Rating.objects.filter(
        assignment__annotator=me, assignment__item=dispute.item_id, dimension=dispute.dimension_id
    ).update(value=None, cannot_rate=True)
    ask_raters([dispute])
    assert not disputes_of(me).filter(pk=dispute.pk).exists()
    assert DisputeRater.objects.filter(dispute=dispute).count() == 2


def test_counts_and_the_overview_read_no_ratings(cast: Cast) -> None:
    me = cast.annotators[0]
    post_message(dispute=Dispute.objects.get(number=2), author=cast.annotators[2], text="Is it?")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        counts, raters = work_counts(me), open_by_rater(cast.project)
    assert (counts.needing_me, counts.waiting, counts.done) == (8, 0, 0)
    assert [(each.open, each.needing) for each in raters] == [(8, 8), (8, 0), (8, 8)]
    assert not [query["sql"] for query in asked if Rating._meta.db_table in query["sql"]]


def test_long_list_shows_its_first_disputes_and_their_total(cast: Cast) -> None:
    me = cast.annotators[0]
    work = work_list(me, most=3)
    assert [each.number for each in work.needing_me] == [1, 2, 3]
    needs, waits, _ = sections_of(work, me)
    assert (needs.count, needs.has_more, waits.count, waits.has_more) == (8, True, 0, False)
    assert not any(each.has_more for each in sections_of(work_list(me), me))


def test_next_dispute_prefers_the_same_output_and_wraps_around(cast: Cast) -> None:
    me = cast.annotators[0]
    for dispute in Dispute.objects.select_related("item"):
        others = list(Dispute.objects.exclude(pk=dispute.pk).order_by("number"))
        same = [each.number for each in others if each.item_id == dispute.item_id]
        apart = [each for each in others if each.item.document_id != dispute.item.document_id]
        elsewhere = [each.number for each in apart]
        left = count_remaining(me, dispute)
        assert left.following == same[0]
        after = [number for number in elsewhere if number > dispute.number]
        assert left.next_document == (after or elsewhere)[0]
        assert left.disputes == 7
