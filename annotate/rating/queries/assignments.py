"""Assignments of a round: the free ones, an annotator's own in order, their units and their content."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from statistics import median

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Concat
from django.utils import timezone

from agreement.streams import Stream
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import (
    AssignedUnit,
    Assignment,
    DimensionOrder,
    Item,
    ItemPart,
    Membership,
    Project,
    Rating,
    Round,
    WorkOrder,
)
from annotate.fastpath.queries import MOMENT, NUMBERS, WORD, Prepared
from annotate.questions import Given, ItemContent, kind_of
from annotate.questions.kind import hidden_dimensions


def available_assignments(
    round: Round | int | None = None, now: datetime | None = None
) -> QuerySet[Assignment]:
    """Return the assignments (of a round) that are free, or reserved but unused for too long."""
    # A started item stays with its annotator, however old its reservation is.
    lapsed = Q(started_at__isnull=True, reserved_until__lt=now or timezone.now())
    found = Assignment.objects.filter(Q(annotator__isnull=True) | lapsed)
    return found if round is None else found.filter(round=round)


def available_items(round: Round, annotator: Membership) -> QuerySet[Item]:
    return _available_items(round.pk, round.project_id, annotator.pk, timezone.now())


def _available_items(round: int, project: int, annotator: int, now: datetime) -> QuerySet[Item]:
    assignments = available_assignments(round, now).filter(item=OuterRef("pk"))
    mine = Assignment.objects.filter(round=round, annotator=annotator, item=OuterRef("pk"))
    return Item.objects.filter(Exists(assignments), ~Exists(mine), document__project=project)


def first_items(round: Round, annotator: Membership, how_many: int) -> list[Item]:
    """Return the first of these items, with the key of their document only.

    The order is random by annotator, from the round's seed; by document, its items in succession. It depends
    on the names of annotator, documents and systems, which a copy of the project shares.
    """
    drawn = f"{round.seed}/{annotator.pseudonym}/"
    by_document = round.work_order == WorkOrder.BY_DOCUMENT
    find = _prepare_order(how_many, by_document)
    return find.all(round.pk, round.project_id, annotator.pk, timezone.now(), drawn)


# Both arguments shape the statement itself, so each pair needs its own.
@lru_cache
def _prepare_order(how_many: int, by_document: bool) -> Prepared[Item]:
    def items(round: int, project: int, annotator: int, now: datetime, drawn: str) -> QuerySet[Item]:
        # The hash of seed, annotator and names is a random order that the database computes.
        names: tuple[str | Value, ...] = (Value(drawn), "document__key")
        # MD5 shuffles here and protects nothing; both databases can compute it.
        draws = [MD5(Concat(*names, Value("/"), "system__name"))]
        # Sorted first by the hash of the document, so its items follow each other.
        if by_document:
            draws.insert(0, MD5(Concat(*names)))
        found = _available_items(round, project, annotator, now)
        return found.order_by(*draws, "pk").only("pk", "document")[:how_many]

    return Prepared(items, *NUMBERS, MOMENT, WORD)


def last_positions(project: int, annotators: Collection[int] | None = None) -> Counter[int]:
    """Return the last position in the order of each (of these) annotators, 0 without any. One query."""
    rows = met_together(project).filter(annotator__isnull=False)
    if annotators is not None:
        rows = rows.filter(annotator__in=annotators)
    return Counter(dict(rows.order_by().values_list("annotator").annotate(last=Max("position"))))


def own_order(round: Round, annotator: Membership) -> QuerySet[Assignment]:
    """Return all the annotator's assignments in Round I, including the hidden checks, by position."""
    return met_together(round.project_id).filter(annotator=annotator).order_by("position")


def met_together(project: int) -> QuerySet[Assignment]:
    """Return the assignments of a project's Round I, and of the checks hidden in it."""
    return Assignment.objects.filter(round__project=project, round__number__in=Round.MET_TOGETHER)


def stored_answer(rating: Rating | None) -> Given | None:
    """Return the answer that a rating holds, None without a value."""
    return None if rating is None or rating.value is None else Given(rating.value, rating.data)


def content_of(assignment: Assignment) -> ItemContent:
    """Return the content of an assignment's item. Three queries."""
    sides = _SIDES.all(assignment.item_id)
    return ItemContent(
        texts=item_texts(assignment.item_id),
        sides=[each.text for each in sides],
        formats=[each.format for each in sides],
        order=order_of_sides(assignment, len(sides)),
        parts=[each.text for each in _PARTS.all(assignment.item_id)],
    )


def order_of_sides(assignment: Assignment, sides: int) -> list[int]:
    """Return the order of the sides for an assignment's annotator, at random by project and annotator.

    Round II has the order of Round I, so that the numbers in the raters' reasons stay valid.
    """
    order = list(range(sides))
    if sides > 1:
        annotator = assignment.annotator
        # The digest of the outputs and the pseudonym are the same in a copy of the project; keys are not.
        name = ("sides", assignment.item.digest, annotator.pseudonym if annotator else "")
        Stream(assignment.round.project.seed).of(*name).shuffler().shuffle(order)
    return order


_SIDES = Prepared(
    lambda item: Item.objects.filter(comparisons__item=item).order_by("comparisons__position"), NUMBERS[0]
)
_PARTS = Prepared(lambda item: ItemPart.objects.filter(item=item).order_by("position"), NUMBERS[0])


def item_texts(item: int) -> list[str]:
    return texts_of(_ITEM.all(item)[0])


def texts_of(item: Item, sides: Sequence[str] | None = None) -> list[str]:
    """Return the output, its document's parts, and the sides of a comparison, by number of the part.

    Each end of a line is one character. The item's document is loaded. One query for a comparison without
    `sides`, the texts of its outputs.
    """
    if sides is None and item.is_comparison:
        compared = Item.objects.filter(comparisons__item=item).order_by("comparisons__position")
        sides = list(compared.values_list("text", flat=True))
    texts = [item.text, *(part["text"] for part in item.document.parts), *(sides or ())]
    # Browsers read a line end as one character, and offsets of passages come from browsers.
    return [text.replace("\r\n", "\n") for text in texts]


_ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])


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
    # Questions about outputs and about comparisons belong to different items.
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
    # The answers of the open assignments, and the dimensions that partial ones ask for.
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
        # A question with a condition counts once its condition is met and it has no answer.
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
    counts = assignments.values_list("assignment__item", "dimension").annotate(slots=Count("pk"))
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
        dict(whole.annotate(slots=Count("pk"))),
        {
            (item, dimension): assignments
            for item, dimension, assignments in units.values_list("assignment__item", "dimension").annotate(
                slots=Count("pk")
            )
        },
    )


def median_seconds(project: Project) -> float | None:
    """Return the median active time of a rating, None without measured times. One query."""
    timed = Rating.objects.filter(assignment__round__project=project, active_seconds__gt=0)
    seconds = list(timed.values_list("active_seconds", flat=True).iterator(20_000))
    return median(seconds) if seconds else None
