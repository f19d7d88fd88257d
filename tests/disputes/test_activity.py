"""When something last happened to a dispute is kept beside it, and is what its history says."""

import pytest
from django.db.models import F

from annotate.core.models import Dispute, Post
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, post_message
from annotate.disputes.queries.activity import DisputeFilter, disputes_of_project, last_activity
from annotate.rating.commands.rounds import close_round_two
from tests.conftest import Clock
from tests.disputes.disputed_texts import make_disputed_texts

pytestmark = pytest.mark.django_db


def test_what_happens_moves_the_last_word_as_the_history_says(clock: Clock) -> None:
    cast = make_disputed_texts()
    me, other = cast.annotators[0], cast.annotators[2]
    answered, written_to, decided, untouched = Dispute.objects.order_by("number")[:4]
    opened = untouched.active_at
    for act in (
        lambda: answer_dispute(dispute=answered, rater=me, value=2),
        lambda: post_message(dispute=written_to, author=other, text="Is it?"),
        lambda: adjudicate(dispute=decided, value=3, note="Two say so.", by=cast.admin),
    ):
        clock.advance(minutes=1)
        act()
    found = Dispute.objects.annotate(by_history=last_activity(cast.project))
    assert not found.exclude(active_at=F("by_history")).exists()
    by_time = found.filter(number__lte=4).order_by("-active_at", "number")
    assert [each.pk for each in by_time] == [decided.pk, written_to.pk, answered.pk, untouched.pk]
    untouched.refresh_from_db()
    assert untouched.active_at == opened
    clock.advance(minutes=1)
    close_round_two(project=cast.project, by=cast.admin)
    untouched.refresh_from_db()
    assert untouched.active_at > opened


def test_the_list_counts_posts_of_its_page_alone() -> None:
    cast = make_disputed_texts()
    post_message(dispute=Dispute.objects.get(number=1), author=cast.annotators[0], text="One.")
    found = disputes_of_project(cast.project, DisputeFilter(), round_two=None)
    assert [each.posts_count for each in found[:2]] == [1, 0]  # type: ignore[attr-defined]
    assert Post._meta.db_table not in str(found.order_by().values("pk").query)
