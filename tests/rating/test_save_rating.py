from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotate.core.errors import AssignmentGoneError, InvalidValueError, RoundClosedError
from annotate.core.models import Assignment, Dispute, Rating, RatingChange
from annotate.rating.commands.ratings import (
    LONGEST_COMMENT,
    Answer,
    SaveOrigin,
    SaveOutcome,
    SubmittedAnswer,
    save_rating,
    save_ratings,
)
from annotate.rating.commands.rounds import close_round_one
from tests.factories import make_project
from tests.fastpath.fast_path import fast_path  # noqa: F401 - plays each test by both ways
from tests.rating.rounds import assigned, frozen, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    return cast, round, assigned(cast, round, cast.annotators[0], cast.items[0])


def save(scene, answer, *, key="fluency", seen=0, seconds=0.0):
    cast, round, assignment = scene
    return save_rating(
        assignment=assignment,
        dimension=frozen(round, key),
        answer=answer,
        by=cast.annotators[0].user,
        sent=SaveOrigin(seen_revision=seen, active_seconds=seconds),
    )


def test_a_value_is_stored_with_its_history(scene):
    save(scene, Answer(value=3))
    save(scene, Answer(value=5, comment="Second thought."), seen=1)
    rating = Rating.objects.get()
    assert (rating.value, rating.comment, rating.revision) == (5, "Second thought.", 2)
    history = RatingChange.objects.order_by("revision")
    assert list(history.values_list("value_before", "value_after", "cause", "actor")) == [
        (None, 3, "rated", scene[0].annotators[0].user_id),
        (3, 5, "rated", scene[0].annotators[0].user_id),
    ]


def test_the_same_answer_again_leaves_no_second_row_of_history(scene):
    save(scene, Answer(value=3))
    save(scene, Answer(value=3), seen=1, seconds=12.5)
    assert RatingChange.objects.count() == 1
    assert Rating.objects.get().active_seconds == 12.5


def test_later_save_wins_and_reports_the_replaced_value(scene):
    save(scene, Answer(value=3))
    saved = save(scene, Answer(value=4), seen=0)
    assert saved.replaced == Answer(value=3)
    assert Rating.objects.get().value == 4
    assert save(scene, Answer(value=2), seen=2).replaced is None


def save_both(scene, first, second, *, sequence=0, keys=("fluency", "coherence")):
    cast, round, assignment = scene
    given = [
        SubmittedAnswer(
            frozen(round, key), answer, SaveOrigin(client="one browser", sequence=sequence + number)
        )
        for number, (key, answer) in enumerate(zip(keys, (first, second), strict=True))
    ]
    return save_ratings(assignment=assignment, given=given, by=cast.annotators[0].user)


def stored():
    return dict(Rating.objects.values_list("dimension__key", "value"))


def test_answers_that_come_together_are_saved_each_with_its_history(scene):
    saved = save_both(scene, Answer(value=3), Answer(value=4))
    assert saved == [SaveOutcome(1, None, None, True), SaveOutcome(1, None, None, True)]
    assert stored() == {"fluency": 3, "coherence": 4}
    assert RatingChange.objects.count() == 2
    scene[2].refresh_from_db()
    assert scene[2].completed_at is not None


def test_repeated_grouped_answers_are_stored_once(scene):
    save(scene, Answer(value=1))
    for _ in range(2):  # its acknowledgement was lost
        save_both(scene, Answer(value=3), Answer(value=4), sequence=10)
    assert stored() == {"fluency": 3, "coherence": 4}
    changes = RatingChange.objects.order_by("pk").values_list("revision", "value_after")
    assert list(changes) == [(1, 1), (2, 3), (1, 4)]


def test_of_answers_that_come_together_an_older_one_changes_nothing(scene):
    save_both(scene, Answer(value=5), Answer(value=5), sequence=20)
    late = save_both(scene, Answer(value=2), Answer(value=2), sequence=20 - 1)
    assert [each.overtaken for each in late] == [Answer(value=5), Answer(value=5)]
    assert stored() == {"fluency": 5, "coherence": 5}


def test_rejected_answer_does_not_block_others(scene):
    refused, saved = save_both(scene, Answer(value=9), Answer(value=4))
    assert isinstance(refused, InvalidValueError)
    assert "9 is not on this scale" in refused.message
    assert saved == SaveOutcome(1, None, None, False)
    assert stored() == {"coherence": 4}


def test_two_answers_about_one_dimension_are_not_taken_together(scene):
    saved, refused = save_both(scene, Answer(value=3), Answer(value=4), keys=("fluency", "fluency"))
    assert isinstance(saved, SaveOutcome)
    assert isinstance(refused, InvalidValueError)
    assert stored() == {"fluency": 3}


def test_closed_round_accepts_no_grouped_answers(scene):
    close_round_one(project=scene[0].project, by=scene[0].admin)
    with pytest.raises(RoundClosedError):
        save_both(scene, Answer(value=3), Answer(value=4))
    assert stored() == {}


def test_a_request_that_a_later_one_overtook_changes_nothing(scene):
    cast, round, assignment = scene
    for value, sequence in [(5, 20), (2, 10), (5, 20)]:
        saved = save_rating(
            assignment=assignment,
            dimension=frozen(round),
            answer=Answer(value=value),
            by=cast.annotators[0].user,
            sent=SaveOrigin(client="one browser", sequence=sequence),
        )
        if sequence == 10:
            assert saved.overtaken == Answer(value=5)
    assert Rating.objects.get().value == 5
    assert RatingChange.objects.count() == 1


def test_another_browsers_clock_does_not_decide(scene):
    cast, round, assignment = scene
    for value, client, sequence in [(5, "one", 999), (2, "other", 1)]:
        save_rating(
            assignment=assignment,
            dimension=frozen(round),
            answer=Answer(value=value),
            by=cast.annotators[0].user,
            sent=SaveOrigin(client=client, sequence=sequence),
        )
    assert Rating.objects.get().value == 2


def test_reassigned_item_accepts_no_answer_of_its_former_holder(scene):
    cast, _, assignment = scene
    Assignment.objects.filter(item=assignment.item, annotator=cast.annotators[1]).delete()
    Assignment.objects.filter(pk=assignment.pk).update(annotator=cast.annotators[1], position=99)
    with pytest.raises(AssignmentGoneError, match="another rater has it now"):
        save(scene, Answer(value=3))
    assert not Rating.objects.exists()


def test_an_item_is_complete_when_every_dimension_has_an_answer(scene):
    assert not save(scene, Answer(value=3)).assignment_complete
    assert not save(scene, Answer(comment="Hm."), key="coherence").assignment_complete
    assert save(scene, Answer(cannot_rate=True), key="coherence", seen=1).assignment_complete
    scene[2].refresh_from_db()
    assert scene[2].completed_at is not None


def test_taking_an_answer_back_makes_the_item_incomplete_again(scene):
    save(scene, Answer(value=3))
    save(scene, Answer(value=3), key="coherence")
    assert not save(scene, Answer(), seen=1).assignment_complete
    scene[2].refresh_from_db()
    assert scene[2].completed_at is None
    assert scene[2].started_at is not None


@pytest.mark.parametrize("value", [0, 6, -1, 10**9])
def test_value_outside_the_scale_is_rejected_with_a_message(scene, value):
    with pytest.raises(InvalidValueError, match=f"Fluency is rated from 1 to 5; {value} is not"):
        save(scene, Answer(value=value))
    assert not Rating.objects.exists()


def test_value_together_with_cannot_rate_is_rejected(scene):
    with pytest.raises(InvalidValueError, match="not both"):
        save(scene, Answer(value=3, cannot_rate=True))


def test_comment_beyond_its_length_is_rejected_with_both_numbers(scene):
    with pytest.raises(InvalidValueError, match=r"10,001 characters; at most 10,000"):
        save(scene, Answer(comment="x" * (LONGEST_COMMENT + 1)))


def test_closed_round_accepts_nothing_and_keeps_its_values(scene):
    save(scene, Answer(value=3))
    close_round_one(project=scene[0].project, by=scene[0].admin)
    with pytest.raises(RoundClosedError, match="closed"):
        save(scene, Answer(value=4), seen=1)
    assert Rating.objects.get().value == 3


@pytest.mark.django_db(transaction=True)
def test_a_round_closed_in_the_middle_of_saving_loses_no_acknowledged_rating():
    cast = make_project(documents=4, systems=2, annotators=3)
    round = opened(cast)
    work = [(annotator, item) for item in cast.items for annotator in cast.annotators]
    assignments = [(annotator, assigned(cast, round, annotator, item)) for annotator, item in work]

    def give(pair):
        annotator, assignment = pair
        value = 1 if annotator == cast.annotators[0] else 5
        try:
            save_rating(
                assignment=assignment,
                dimension=frozen(round),
                answer=Answer(value=value),
                by=annotator.user,
            )
        except RoundClosedError:
            return None
        else:
            return assignment.item_id, value
        finally:
            connection.close()

    def close(_):
        try:
            close_round_one(project=cast.project, by=cast.admin)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as people:
        acknowledged = list(people.map(give, assignments[:12]))
        closings = [people.submit(close, None) for _ in range(2)]
        acknowledged += list(people.map(give, assignments[12:]))
        for closing in closings:
            closing.result()
    kept = [each for each in acknowledged if each]
    assert Rating.objects.count() == len(kept)
    apart = {item for item, value in kept if (item, 1) in kept and (item, 5) in kept}
    assert set(Dispute.objects.values_list("item", flat=True)) == apart
    assert len(apart) >= 4


def test_value_that_is_undone_leaves_an_open_answer_and_its_history(scene):
    save(scene, Answer(value=2), key="coherence")
    assert save(scene, Answer(value=4)).assignment_complete
    assert not save(scene, Answer(), seen=1).assignment_complete
    rating = Rating.objects.get(dimension__key="fluency")
    assert (rating.value, rating.is_answered, rating.revision) == (None, False, 2)
    changes = rating.changes.order_by("revision").values_list("value_before", "value_after")
    assert list(changes) == [(None, 4), (4, None)]
