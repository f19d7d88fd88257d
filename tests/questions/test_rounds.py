"""Questions of other kinds through both rounds: saved, completed, disputed, discussed, decided."""

from pathlib import Path
from typing import Any

import pytest

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import DimensionSpec
from annotate.core.models import AssignedUnit, Assignment, Dispute, Item, Rating, RatingChange
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.material.commands.imports import import_file
from annotate.rating.commands.ratings import Answer, SubmittedAnswer, save_ratings
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two
from annotate.setup.commands import add_dimension
from tests.factories import Cast, make_project
from tests.material.files import item, jsonl, source
from tests.questions.asking import add_question, give, open_questions, question_of

pytestmark = pytest.mark.django_db

ANSWERS = {
    "labels": ({"labels": ["grammar"]}, {"labels": ["spelling"]}),
    "parts": ({"parts": ["yes", "no", "yes"]}, {"parts": ["yes", "no", "no"]}),
    "ranking": ({"ranks": [1, 2, 3]}, {"ranks": [2, 1, 3]}),
    "spans": (
        {"spans": [{"part": 0, "start": 0, "end": 4, "category": "fluency", "severity": "minor"}]},
        {"spans": []},
    ),
}


@pytest.mark.parametrize("kind", [*ANSWERS, "preference"])
def test_answers_that_differ_are_disputed_and_settle_when_they_meet(kind: str) -> None:
    cast = open_questions(kind)
    one, other = cast.annotators
    item = Assignment.objects.filter(annotator=one).order_by("item")[0].item_id
    mine: dict[str, Any] = {"value": -2}
    yours: dict[str, Any] = {"value": 1}
    if kind != "preference":
        mine, yours = ({"value": None, "data": data} for data in ANSWERS[kind])
    assert give(one, item, kind, **mine).assignment_complete
    give(other, item, kind, **yours)
    close_round_one(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    assert dispute.item_id == item
    open_round_two(project=cast.project, by=cast.admin)
    assert answer_dispute(dispute=dispute, rater=one, **yours).status == "settled"
    moved = Rating.objects.get(assignment__round__number=2)
    held = Rating.objects.get(assignment__round__number=1, assignment__annotator=other)
    assert moved.value == held.value
    change = RatingChange.objects.get(rating=moved)
    assert (change.cause, change.data) == ("changed", moved.data)


@pytest.mark.parametrize("kind", ANSWERS)
def test_equal_answers_are_no_dispute(kind: str) -> None:
    cast = open_questions(kind)
    item = Assignment.objects.order_by("item")[0].item_id
    for annotator in cast.annotators:
        give(annotator, item, kind, data=ANSWERS[kind][0])
    close_round_one(project=cast.project, by=cast.admin)
    assert not Dispute.objects.exists()


def test_an_adjudicated_answer_keeps_its_data() -> None:
    cast = open_questions("labels")
    item = cast.items[0].pk
    for annotator, data in zip(cast.annotators, ANSWERS["labels"], strict=True):
        give(annotator, item, "labels", data=data)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    both = {"labels": ["grammar", "spelling"]}
    dispute = Dispute.objects.get()
    decided = adjudicate(dispute=dispute, value=None, data=both, note="Both.", by=cast.admin)
    assert (decided.adjudicated_value, decided.adjudicated_data) == (2, both)
    assert dispute.events.filter(kind="adjudicated").get().data == both


def test_only_comparisons_are_assigned_if_only_they_have_questions() -> None:
    cast = open_questions("preference", systems=3, documents=2)
    kinds = set(Assignment.objects.values_list("item__kind", flat=True))
    assert kinds == {"pair"}
    assert Item.objects.exclude(kind="output").count() == 2 * 3
    assert cast.project.systems.filter(compares=True).count() == 3


def test_each_item_gets_its_applicable_questions() -> None:
    cast = open_questions("labels", "preference")
    one = cast.annotators[0]
    pair = Item.objects.exclude(kind="output").order_by("pk")[0].pk
    assert give(one, pair, "preference", value=1).assignment_complete
    assert give(one, cast.items[0].pk, "labels", data={"labels": []}).assignment_complete


def test_sides_follow_a_recorded_order_per_annotator() -> None:
    cast = open_questions("preference", annotators=4, systems=2, documents=6)
    for annotator in cast.annotators:
        for pair in Item.objects.exclude(kind="output"):
            give(annotator, pair.pk, "preference", value=-1)
    orders = list(Rating.objects.values_list("data__order", flat=True))
    assert sorted(map(tuple, orders))[:: len(orders) - 1] == [(0, 1), (1, 0)]


def test_started_answer_is_stored_and_not_complete() -> None:
    cast = open_questions("parts")
    saved = give(cast.annotators[0], cast.items[0].pk, "parts", data={"parts": ["yes", None, None]})
    assert not saved.assignment_complete
    rating = Rating.objects.get()
    assert (rating.value, rating.data) == (None, {"parts": ["yes", None, None]})


def test_a_condition_hides_and_shows_a_question() -> None:

    cast = make_project(dimensions=(), annotators=1, raters_per_item=1)
    add_question(cast.project, "labels", "Errors")
    spec = DimensionSpec(
        "Severity", "How bad.", shown_if={"dimension": "errors", "values": ["grammar", "spelling"]}
    )
    add_dimension(project=cast.project, dimension=spec)
    round = open_round_one(project=cast.project, by=cast.admin)
    (one,), item = cast.annotators, cast.items[0].pk
    Assignment.objects.filter(round=round, item=item).update(annotator=one, position=1)
    assert give(one, item, "errors", data={"labels": []}).assignment_complete
    assert not give(one, item, "errors", data={"labels": ["grammar"]}).assignment_complete
    assert give(one, item, "severity", value=4).assignment_complete
    # The answer that hides it takes it back, and the history keeps it.
    assert give(one, item, "errors", data={"labels": []}).assignment_complete
    hidden = Rating.objects.get(dimension__key="severity")
    assert (hidden.value, hidden.cannot_rate) == (None, False)
    assert list(hidden.changes.order_by("revision").values_list("value_after", flat=True)) == [4, None]


def make_conditional() -> tuple[Cast, Assignment]:
    """Make a project with errors and their severity, and give an item of its open Round I to an annotator."""
    cast = make_project(dimensions=(), annotators=1, raters_per_item=1)
    add_question(cast.project, "labels", "Errors")
    spec = DimensionSpec("Severity", "How bad.", shown_if={"dimension": "errors", "values": ["grammar"]})
    add_dimension(project=cast.project, dimension=spec)
    round = open_round_one(project=cast.project, by=cast.admin)
    assignments = Assignment.objects.filter(round=round, item=cast.items[0])
    assignments.update(annotator=cast.annotators[0], position=1)
    return cast, assignments.get()


def test_question_appears_if_its_condition_question_is_missing() -> None:
    cast, assignment = make_conditional()
    severity = cast.project.dimensions.get(key="severity")
    Assignment.objects.filter(pk=assignment.pk).update(partial=True, inclusion_probability=None)
    AssignedUnit.objects.create(assignment=assignment, dimension=severity, inclusion_probability=1)
    assert give(cast.annotators[0], cast.items[0].pk, "severity", value=2).assignment_complete
    assert Rating.objects.get(dimension=severity).value == 2


def test_simultaneous_answers_are_stored_in_any_order() -> None:
    cast, assignment = make_conditional()
    errors, severity = (question_of(assignment, key) for key in ("errors", "severity"))
    found = Answer(data={"labels": ["grammar"]})
    given = [SubmittedAnswer(severity, Answer(value=5)), SubmittedAnswer(errors, found)]
    (first, second) = save_ratings(assignment=assignment, given=given, by=cast.annotators[0].user)
    assert not isinstance(first, InvalidValueError)
    assert not isinstance(second, InvalidValueError)
    assert second.assignment_complete
    assert Rating.objects.get(dimension__key="severity").value == 5


def test_repeated_answer_after_a_clear_replaces_nothing_unseen() -> None:
    cast, _ = make_conditional()
    one, item = cast.annotators[0], cast.items[0].pk
    give(one, item, "errors", data={"labels": ["grammar"]})
    give(one, item, "severity", value=5)
    give(one, item, "errors", data={"labels": []})
    give(one, item, "errors", data={"labels": ["grammar"]})
    assert give(one, item, "severity", value=5).replaced is None
    assert Rating.objects.get(dimension__key="severity").value == 5


@pytest.mark.parametrize("text", ["a\x00b", "half \ud83d"])
def test_strings_invalid_in_a_database_are_rejected_with_a_message(text: str) -> None:
    cast = open_questions("text")
    with pytest.raises(InvalidValueError, match="cannot be read"):
        give(cast.annotators[0], cast.items[0].pk, "text", data={"text": text})


def test_written_escape_of_nul_is_a_text_like_others() -> None:
    cast = open_questions("text")
    give(cast.annotators[0], cast.items[0].pk, "text", data={"text": r"It prints \u0000."})
    assert Rating.objects.get().data == {"text": r"It prints \u0000."}


@pytest.mark.parametrize("values", [[7], ["grammar"], [1.25]])
def test_condition_lists_only_possible_answers(values: list[float | str]) -> None:
    cast = make_project()
    spec = DimensionSpec("Why", "Why so.", shown_if={"dimension": "fluency", "values": values})
    with pytest.raises(InvalidValueError, match="Fluency does not have"):
        add_dimension(project=cast.project, dimension=spec)


@pytest.mark.parametrize(("kind", "parts", "assigned"), [("parts", True, True), ("preference", False, False)])
def test_outputs_that_come_later_get_parts_and_no_work_without_questions(
    kind: str, parts: bool, assigned: bool, tmp_path: Path
) -> None:
    cast = open_questions(kind, systems=2, documents=1)
    late = jsonl(tmp_path, item("late", system="system-1", text="It came late. It came."))
    assert not import_file(project=cast.project, source=source(late, items=True), by=None).refused_count
    made = Item.objects.get(document__key="late")
    assert (made.parts.count() == 2, made.assignments.exists()) == (parts, assigned)
