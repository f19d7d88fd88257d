"""Projects with one scale and a question of every other kind, answered by people."""

from typing import Any

from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, ComparisonSide, Item, ItemPart
from annotate.material.commands.comparisons import draw_comparisons
from annotate.material.commands.parts import split_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_one
from annotate.rating.queries.assignments import dimensions_of_kind
from tests.factories import Cast, make_project
from tests.questions.asking import OPTIONS, add_question

TEXT = "One sentence is here. It is short. It has no end"


def make_mixed_project(*, systems: int = 3, documents: int = 3) -> Cast:
    """Make a project with the scale "fluency", each other kind, and comparisons of two and of three."""
    cast = make_project(annotators=2, raters_per_item=2, systems=systems, documents=documents)
    for kind in OPTIONS:
        add_question(cast.project, kind)
    Item.objects.filter(document__project=cast.project).update(text=TEXT)
    for item in cast.items:
        item.text = TEXT
    draw_comparisons(project=cast.project, size=2)
    draw_comparisons(project=cast.project, size=3)
    split_items(project=cast.project)
    return cast


def answer_everything(cast: Cast) -> None:
    """Open Round I, let everybody answer all questions, and close it.

    The first annotator rates 2 or 4 in turn, the second 1 more or less. Both give the same other answers.
    """
    round = open_round_one(project=cast.project, by=cast.admin)
    guideline = guideline_of(round)
    assignments = Assignment.objects.filter(round=round).order_by("item", "slot").select_related("item")
    for number, assignment in enumerate(assignments):
        assignment.annotator, assignment.position = cast.annotators[number % 2], number + 1
        assignment.save(update_fields=["annotator", "position"])
        for dimension in dimensions_of_kind(guideline, assignment.item.kind):
            value = (2, 3, 4, 5)[number % 4] if dimension.is_scale else None
            data = answer_of(dimension.kind, assignment.item)
            answer = Answer(value=1 if dimension.kind == "preference" else value, data=data)
            save_rating(
                assignment=assignment, dimension=dimension, answer=answer, by=cast.annotators[number % 2].user
            )
    close_round_one(project=cast.project, by=cast.admin)


def answer_of(kind: str, item: Item) -> dict[str, Any] | None:
    """Return people's answers; in comparisons the second side is better, or first in the ranking."""
    if kind == "ranking":
        sides = ComparisonSide.objects.filter(item=item).count()
        return {"ranks": [2, 1, *range(3, sides + 1)]}
    answers: dict[str, dict[str, Any]] = {
        "labels": {"labels": ["grammar"]},
        "parts": {"parts": ["yes"] * ItemPart.objects.filter(item=item).count()},
        "spans": {"spans": [{"part": 0, "start": 0, "end": 12, "category": "fluency", "severity": "minor"}]},
        "text": {"text": "It reads well."},
    }
    return answers.get(kind)
