"""The units of an assignment, and the progress of requested units."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Q

from agreement.streams import Stream
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import (
    AssignedUnit,
    Assignment,
    DimensionOrder,
    Membership,
    Project,
    Rating,
    Round,
)
from annotate.questions import kind_of
from annotate.questions.kind import hidden_dimensions
from annotate.rating.queries.contents import stored_answer

Unit = tuple[int, int]
"""The ids of an item and a dimension."""


@dataclass(frozen=True)
class UnitProgress:
    """A unit's assignments, and their outcomes; `missing` ones have no answer, or none yet."""

    assignments: int
    rated: int
    cannot_rate: int
    not_applicable: int = 0

    @property
    def missing(self) -> int:
        return self.assignments - self.rated - self.cannot_rate - self.not_applicable


def asked_dimensions(assignment: Assignment, guideline: FrozenGuideline) -> tuple[FrozenDimension, ...]:
    """Return the dimensions of an assignment, in the guideline's order.

    One query if partial, and one if the guideline has questions about comparisons.
    """
    dimensions = guideline.dimensions
    if has_comparisons(guideline):
        dimensions = dimensions_of_kind(guideline, assignment.item.kind)
    if not assignment.partial:
        return dimensions
    asked = set(assignment.units.values_list("dimension", flat=True))
    return tuple(dimension for dimension in dimensions if dimension.id in asked)


def has_comparisons(guideline: FrozenGuideline) -> bool:
    return any(kind_of(each).compares for each in guideline.dimensions)


def dimensions_of_kind(guideline: FrozenGuideline, item_kind: str) -> tuple[FrozenDimension, ...]:
    return tuple(each for each in guideline.dimensions if kind_of(each).item_kind == item_kind)


def has_conditions(guideline: FrozenGuideline) -> bool:
    return any(each.shown_if for each in guideline.dimensions)


def count_opened_questions(round: Round) -> Counter[int]:
    """Count by dimension the unanswered questions that answers of open assignments have opened.

    Questions with a condition only. Two queries; none if the guideline has no such question.
    """
    guideline = FrozenGuideline.from_json(round.guideline.content)
    opened: Counter[int] = Counter()
    if not has_conditions(guideline):
        return opened
    given: dict[int, dict[int, Rating]] = {}
    begun = Rating.objects.filter(assignment__round=round, assignment__completed_at__isnull=True)
    for rating in begun.select_related("assignment").iterator(2_000):
        given.setdefault(rating.assignment_id, {})[rating.dimension_id] = rating
    units: dict[int, set[int]] = {}
    partial = AssignedUnit.objects.filter(assignment__round=round, assignment__completed_at__isnull=True)
    for assignment, dimension in partial.values_list("assignment", "dimension"):
        units.setdefault(assignment, set()).add(dimension)
    for assignment, ratings in given.items():
        # An assignment without units asks about the whole item.
        asked = [each for each in guideline.dimensions if each.id in units.get(assignment, {each.id})]
        answers = {key: stored_answer(rating) for key, rating in ratings.items()}
        hidden = hidden_dimensions(asked, answers)
        done = {key for key, rating in ratings.items() if rating.is_answered}
        opened.update(each.id for each in asked if each.shown_if and each.id not in hidden | done)
    return opened


def order_for_rater(
    dimensions: Sequence[FrozenDimension], round: Round, annotator: Membership
) -> Sequence[FrozenDimension]:
    """Return dimensions in this annotator's order in Round I.

    A random order from the project's seed and the annotator's pseudonym, which a copy of the project shares.
    """
    if round.dimension_order == DimensionOrder.FIXED:
        return dimensions
    drawn = list(dimensions)
    Stream(round.seed).of("dimensions", annotator.pseudonym).shuffler().shuffle(drawn)
    return drawn


def unit_progress(round: Round, *origins: str) -> dict[Unit, UnitProgress]:
    """Return the progress of the units that these origins requested in a round. Two queries."""
    assignments = AssignedUnit.objects.filter(
        assignment__round=round, assignment__origin__in=origins
    ).order_by()
    counts = assignments.values_list("assignment__item", "dimension").annotate(places=Count("pk"))
    ratings = Rating.objects.filter(
        assignment__round=round, assignment__origin__in=origins, assignment__partial=True
    ).order_by()
    answers = ratings.values_list("assignment__item", "dimension").annotate(
        rated=Count("pk", filter=Q(value__isnull=False)),
        cannot=Count("pk", filter=Q(cannot_rate=True)),
        not_applicable=Count("pk", filter=Q(not_applicable=True)),
    )
    given = {(item, dimension): counts for item, dimension, *counts in answers}
    return {
        (item, dimension): UnitProgress(count, *given.get((item, dimension), (0, 0, 0)))
        for item, dimension, count in counts
    }


@dataclass(frozen=True)
class AssignmentsByUnit:
    """Numbers of a round's assignments for each unit: of the whole item, and of some dimensions."""

    of_item: Mapping[int, int]
    of_unit: Mapping[Unit, int]

    def count(self, unit: Unit) -> int:
        return self.of_item.get(unit[0], 0) + self.of_unit.get(unit, 0)


def assignments_by_unit(round: Round | None) -> AssignmentsByUnit:
    whole = Assignment.objects.filter(round=round, partial=False).order_by().values_list("item")
    units = AssignedUnit.objects.filter(assignment__round=round).order_by()
    return AssignmentsByUnit(
        dict(whole.annotate(places=Count("pk"))),
        {
            (item, dimension): assignments
            for item, dimension, assignments in units.values_list("assignment__item", "dimension").annotate(
                places=Count("pk")
            )
        },
    )


def median_seconds(project: Project) -> float | None:
    """Return the median active time of a rating, None without measured times. One query."""
    timed = Rating.objects.filter(assignment__round__project=project, active_seconds__gt=0)
    seconds = list(timed.values_list("active_seconds", flat=True).iterator(20_000))
    return median(seconds) if seconds else None
