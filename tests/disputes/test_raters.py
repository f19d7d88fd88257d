"""Who rates a disputed unit: whoever gave it a value in Round I, not whoever holds a place of its item."""

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import Assignment, Dispute, Rating
from annotate.core.rounds import disputes_of, raters_of, rounds_of
from annotate.disputes.commands.disputes import answer_dispute
from annotate.disputes.queries.disputes import work_list
from annotate.disputes.queries.page import dispute_page
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.queries.reliability_data import reliability_data
from tests.factories import make_project
from tests.rating.rounds import assigned, opened, rate

pytestmark = pytest.mark.django_db


def disputed(*, third: str):
    """Two raters give 1 and 5; the third reserves the item and does what the word says."""
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5), strict=False):
        rate(cast, round, annotator, cast.items[0], value)
    last = cast.annotators[2]
    reserve_items(round=round, annotator=last, how_many=len(cast.items))
    if third == "rates":
        rate(cast, round, last, cast.items[0], 3)
    if third in ("cannot rate", "rates the other dimension"):
        other = third == "rates the other dimension"
        Rating.objects.create(
            assignment=assigned(cast, round, last, cast.items[0]),
            dimension=cast.dimensions[1 if other else 0],
            value=3 if other else None,
            cannot_rate=not other,
            created_at=timezone.now(),
            updated_at=timezone.now(),
        )
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast, Dispute.objects.get(round__project=cast.project)


NOT_RATERS = ["only reserves", "cannot rate", "rates the other dimension"]


@pytest.mark.parametrize("third", NOT_RATERS)
def test_rater_without_a_unit_value_is_not_a_dispute_rater(third):
    cast, dispute = disputed(third=third)
    first, second, last = cast.annotators
    assert list(raters_of(dispute)) == [first, second]
    assert [list(disputes_of(each)) for each in cast.annotators] == [[dispute], [dispute], []]
    assert [each.rater for each in dispute_page(dispute, reader=first).standpoints] == [first, second]
    assert work_list(last).needing_me == []
    assert not Assignment.objects.filter(round__number=2, annotator=last).exists()


def test_rater_with_a_value_is_a_dispute_rater():
    cast, dispute = disputed(third="rates")
    assert list(raters_of(dispute)) == cast.annotators
    assert Assignment.objects.filter(round__number=2).count() == 3


@pytest.mark.parametrize("third", NOT_RATERS)
def test_they_see_nothing_of_it_and_give_it_nothing(client, third):
    cast, dispute = disputed(third=third)
    client.force_login(cast.annotators[2].user)
    where = [cast.project.slug, dispute.number]
    assert client.get(reverse("dispute", args=where)).status_code == 404
    assert client.post(reverse("dispute_answer", args=where), {"value": 3}).status_code == 404
    sent = {"only_send": "on", "comment": "Hm."}
    assert client.post(reverse("dispute_answer", args=where), sent).status_code == 404


def test_round_two_has_the_raters_and_the_gaps_of_round_one():
    cast, dispute = disputed(third="cannot rate")
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4)
    before, after = (reliability_data(rounds_of(cast.project)[number])["fluency"] for number in (1, 2))
    assert before.raters == after.raters == ("Rater A", "Rater B")
    np.testing.assert_array_equal(before.values, [[1], [5]])
    np.testing.assert_array_equal(after.values, [[4], [5]])


def test_before_round_two_there_are_no_disputes():
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    assert Dispute.objects.count() == 1
    assert list(disputes_of(cast.annotators[0])) == []


def test_ratings_of_another_project_make_no_rater():
    others, _ = disputed(third="rates")
    cast, dispute = disputed(third="only reserves")
    assert list(raters_of(dispute)) == cast.annotators[:2]
    assert [each.round.project for each in disputes_of(others.annotators[2])] == [others.project]
