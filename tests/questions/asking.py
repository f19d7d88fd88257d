"""Projects that ask questions of other kinds, with a Round I in which they are answered."""

from typing import Any

from annotate.core.guideline import DimensionSpec, FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Dimension, Membership, Project, Round
from annotate.material.commands.comparisons import draw_comparisons
from annotate.material.commands.parts import split_items
from annotate.questions import KINDS
from annotate.rating.commands.ratings import Answer, SaveOutcome, save_rating
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import add_dimension
from tests.factories import Cast, make_project

LABELS = [{"name": "Grammar"}, {"name": "Spelling"}, {"name": "Wrong word"}]
SPAN_OPTIONS = {
    "categories": [{"name": "Accuracy"}, {"name": "Fluency"}],
    "severities": [{"name": "minor", "weight": 1}, {"name": "major", "weight": 5}],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "labels": {"labels": LABELS},
    "parts": {"labels": [{"name": "Yes"}, {"name": "No"}]},
    "preference": {"strength": 2},
    "ranking": {},
    "spans": SPAN_OPTIONS,
    "text": {"longest": 100},
}


def add_question(project: Project, kind: str, name: str = "", **options: Any) -> Dimension:
    """Add a question of a kind, with usual options or these."""
    spec = DimensionSpec(
        name=name or kind.capitalize(),
        definition="What is asked.",
        kind=kind,
        options=options or OPTIONS[kind],
    )
    return add_dimension(project=project, dimension=spec)


def make_questions(*kinds: str, annotators: int = 2, systems: int = 3, documents: int = 2) -> Cast:
    """Make a project with a question of each kind, and items for each."""
    cast = make_project(
        dimensions=(), annotators=annotators, raters_per_item=annotators, systems=systems, documents=documents
    )
    for kind in kinds:
        add_question(cast.project, kind)
    for item in cast.items:
        item.text = f"{item.text} It is short. It has no end"
        item.save(update_fields=["text"])
    compared = {kind: 2 if kind == "preference" else 3 for kind in kinds if KINDS[kind].compares}
    for size in compared.values():
        draw_comparisons(project=cast.project, size=size)
    if "parts" in kinds:
        split_items(project=cast.project)
    return cast


def open_questions(*kinds: str, **size: int) -> Cast:
    """Make the same, and open Round I with every item given to everybody."""
    cast = make_questions(*kinds, **size)
    share_out(open_round_one(project=cast.project, by=cast.admin), cast.annotators)
    return cast


def share_out(round: Round, annotators: list[Membership]) -> None:
    """Give every item of Round I to each of these annotators."""
    for annotator in annotators:
        assignments = Assignment.objects.filter(round=round, annotator=None).order_by("item", "slot")
        taken: set[int] = set()
        for assignment in assignments:
            if assignment.item_id not in taken:
                taken.add(assignment.item_id)
                assignment.annotator, assignment.position = annotator, len(taken)
                assignment.save(update_fields=["annotator", "position"])


def question_of(assignment: Assignment, key: str) -> FrozenDimension:
    """Return a question as the round froze it."""
    found = guideline_of(assignment.round).dimension(key)
    assert found
    return found


def give(
    annotator: Membership, item: int, key: str, value: float | None = None, data: Any = None
) -> SaveOutcome:
    """Save an answer of Round I."""
    assignment = Assignment.objects.get(annotator=annotator, item=item, round__number=1)
    answer = Answer(value=value, data=data)
    return save_rating(
        assignment=assignment, dimension=question_of(assignment, key), answer=answer, by=annotator.user
    )
