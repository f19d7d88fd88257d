"""Unfinished work handed to others: nothing that was answered is lost, and every unit keeps its raters."""

from collections import Counter

import pytest
from django.test import Client

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Assignment, Membership, Rating, RatingChange, Round
from annotate.people.commands import deactivate_member
from annotate.people.queries import loads_of
from annotate.rating.commands.assignments import HandedOver, hand_over_work, reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.assignments import asked_dimensions
from annotate.results.queries.reliability_data import rated_items
from tests.factories import Cast, make_member, make_project
from tests.rating.rounds import frozen, opened

pytestmark = pytest.mark.django_db


def make_scene() -> Cast:
    return make_project(dimensions=("fluency", "coherence"), annotators=4, raters_per_item=2)


def begin(cast: Cast) -> tuple[Round, Assignment]:
    """Let the first annotator reserve all four items and answer one dimension of one of them."""
    round, me = opened(cast), cast.annotators[0]
    reserve_items(round=round, annotator=me)
    begun = Assignment.objects.filter(annotator=me).order_by("position")[0]
    save_rating(assignment=begun, dimension=frozen(round), answer=Answer(value=4), by=me.user)
    return round, begun


def raters_by_unit(round: Round) -> Counter[tuple[int, str]]:
    guideline = FrozenGuideline.from_json(round.guideline.content)
    assignments = Assignment.objects.filter(round=round)
    return Counter(
        (assignment.item_id, each.key)
        for assignment in assignments
        for each in asked_dimensions(assignment, guideline)
    )


def test_unstarted_items_change_hands_and_started_ones_are_divided(cast: Cast) -> None:
    round, begun = begin(cast)
    before = raters_by_unit(round)
    assert hand_over_work(membership=cast.annotators[0], to=[cast.annotators[1]]) == HandedOver(4, 0, 1)
    assert raters_by_unit(round) == before
    begun.refresh_from_db()
    assert (begun.annotator, begun.partial) == (cast.annotators[0], True)
    assert begun.completed_at
    rest = Assignment.objects.get(item=begun.item_id, annotator=cast.annotators[1])
    guideline = FrozenGuideline.from_json(round.guideline.content)
    assert [each.key for each in asked_dimensions(rest, guideline)] == ["coherence"]
    assert rest.origin == "taken over from Rater A"
    assert rest.units.get().inclusion_probability == 1
    loads = loads_of(cast.project)
    assert (loads[cast.annotators[0].pk].done, loads[cast.annotators[0].pk].open) == (1, 0)
    assert loads[cast.annotators[1].pk].waiting == 4


def test_rated_items_stay_with_their_rater_and_count(cast: Cast) -> None:
    round, begun = begin(cast)
    hand_over_work(membership=cast.annotators[0], to=[cast.annotators[1]])
    assert Rating.objects.get().assignment.annotator == cast.annotators[0]
    assert RatingChange.objects.get().value_after == 4
    assert list(rated_items(round)["fluency"].data.raters) == ["Rater A"]
    with pytest.raises(InvalidValueError, match="not asked"):
        save_rating(
            assignment=begun, dimension=frozen(round, "coherence"), answer=Answer(value=1), by=cast.admin
        )


def test_no_rater_gets_an_item_twice_and_the_rest_is_free(cast: Cast) -> None:
    round, begun = begin(cast)
    other = cast.annotators[1]
    reserve_items(round=round, annotator=other, how_many=len(cast.items))
    assert hand_over_work(membership=cast.annotators[0], to=[other]) == HandedOver(0, 4, 1)
    assert Assignment.objects.filter(round=round, annotator=None, position=None).count() == 4
    third = cast.annotators[2]
    assert reserve_items(round=round, annotator=third, how_many=9) == 4
    assert Assignment.objects.filter(annotator=third, item=begun.item_id, partial=True).exists()


def test_everyone_else_gets_an_even_share(cast: Cast) -> None:
    round, _ = begin(cast)
    hand_over_work(membership=cast.annotators[0], to=cast.annotators[1:])
    given = Assignment.objects.filter(round=round, annotator__in=cast.annotators[1:])
    counts = Counter(given.values_list("annotator", flat=True)).values()
    assert sorted(counts) == [1, 1, 2]


def test_second_handover_from_a_closed_membership_moves_nothing(cast: Cast) -> None:
    begin(cast)
    membership = cast.annotators[0]
    deactivate_member(membership=membership)
    hand_over_work(membership=membership, to=[cast.annotators[1]])
    assert hand_over_work(membership=membership, to=[cast.annotators[1]]) == HandedOver(0, 0, 0)


def test_only_active_annotators_of_the_project_take_work(cast: Cast) -> None:
    begin(cast)
    membership, closed = cast.annotators[0], cast.annotators[1]
    deactivate_member(membership=closed)
    closed.refresh_from_db()
    stranger = make_project().annotators[0]
    researcher = Membership.objects.get(project=cast.project, role="researcher")
    for wrong in (closed, stranger, researcher, membership):
        with pytest.raises(InvalidValueError):
            hand_over_work(membership=membership, to=[wrong])


def test_only_an_open_round_one_has_work_to_hand_over(cast: Cast) -> None:
    with pytest.raises(NotReadyError, match="open Round I"):
        hand_over_work(membership=cast.annotators[0])
    begin(cast)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(NotReadyError):
        hand_over_work(membership=cast.annotators[0])


def test_the_page_of_a_person_hands_over(client: Client, cast: Cast) -> None:
    begin(cast)
    client.force_login(cast.admin)
    me = f"/projects/{cast.project.slug}/people/{cast.annotators[0].pk}/"
    page = client.get(me).content.decode()
    assert "1 started, 3 not started" in page
    answer = client.post(me + "hand-over/", {"to": "everyone"}, follow=True).content.decode()
    assert "4 of 4 unfinished items have another rater now. 1 were started" in answer
    assert (
        client.post(me + "hand-over/", {"to": str(make_member(make_project().project).pk)}).status_code == 422
    )
    assert (
        "There was no unfinished work"
        in client.post(me + "hand-over/", {"to": "queue"}, follow=True).content.decode()
    )
