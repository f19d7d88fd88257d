"""What an annotator did in Round I, for that annotator alone: items with answers, and how these spread."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from statistics import median

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Document, Membership, Rating, RatingChange, Round
from annotate.core.scale_text import name_on_page
from annotate.questions.scale import SCALE
from annotate.rating.queries.hidden_checks import Checks, checks_after_blocks, checks_of
from annotate.rating.queries.places import own_order

MOST_DOCUMENTS_LISTED = 300  # in a list to choose one from
TIMED_ITEMS = 500
"""How many items the time for an item is taken from: of all, it would be added up from all ratings."""

MOST_SHOWN = 11  # values of a scale up to which each is counted by itself


class Marked(models.TextChoices):
    """What an item has, to find it again."""

    FLAGGED = "flagged", _("flagged: unsure, or could not be rated")
    UNSURE = "unsure", _("unsure")
    CANNOT_RATE = "cannot_rate", _("could not be rated")
    CHANGED = "changed", _("with a changed value")
    COMMENTED = "commented", _("with a comment")
    UNFINISHED = "unfinished", _("not completely rated")


@dataclass(frozen=True)
class OwnFilter:
    """Which items are meant: empty is any.

    `title`: in the title or key of the document. `value` and each of `marked`: on `dimension`, or on any
    where that is empty; an item has all of `marked`.
    """

    document: str = ""
    title: str = ""
    dimension: str = ""
    value: float | None = None
    marked: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnItem:
    """An item with the annotator's answers, one for each dimension, None where none was given."""

    assignment: Assignment
    answers: list[tuple[FrozenDimension, Rating | None]]

    @property
    def comments(self) -> list[tuple[FrozenDimension, str]]:
        """The comments on its ratings."""
        return [(dimension, each.comment) for dimension, each in self.answers if each and each.comment]


@dataclass(frozen=True)
class Spread:
    """How often each value of a dimension was given, by its name.

    `counts` is empty where the scale has too many values to count each; `low`, `middle` and `high` then say
    where the values lie.
    """

    dimension: FrozenDimension
    given: int
    counts: list[tuple[str, int]]
    low: float
    middle: float
    high: float


def own_items(round: Round, annotator: Membership, chosen: OwnFilter) -> QuerySet[Assignment]:
    """Return the annotator's items that are meant, in the annotator's order, hidden checks among them."""
    found = own_order(round, annotator)
    ratings = Rating.objects.filter(assignment=OuterRef("pk"))
    if chosen.dimension:
        ratings = ratings.filter(dimension__key=chosen.dimension)
    if chosen.document:
        found = found.filter(item__document__key=chosen.document)
    if chosen.title:
        in_key = Q(item__document__key__icontains=chosen.title)
        found = found.filter(Q(item__document__title__icontains=chosen.title) | in_key)
    if chosen.value is not None:
        found = found.filter(Exists(ratings.filter(value=chosen.value, dimension__kind=SCALE.key)))
    elif chosen.dimension and not chosen.marked:
        found = found.filter(Exists(ratings.filter(value__isnull=False)))
    for mark in chosen.marked:
        if mark == Marked.UNFINISHED:
            found = found.filter(completed_at__isnull=True)
        else:
            found = found.filter(Exists(ratings.filter(_MARKED[Marked(mark)])))
    return found


_ANOTHER_VALUE = RatingChange.objects.filter(
    ~Q(value_before=F("value_after")), rating=OuterRef("pk"), value_before__isnull=False
)
_MARKED = {
    Marked.FLAGGED: Q(unsure=True) | Q(cannot_rate=True),
    Marked.UNSURE: Q(unsure=True),
    Marked.CANNOT_RATE: Q(cannot_rate=True),
    Marked.CHANGED: Exists(_ANOTHER_VALUE),
    Marked.COMMENTED: ~Q(comment=""),
}


def with_answers(assignments: Collection[int]) -> QuerySet[Assignment]:
    """Return assignments (by key) in the annotator's order, with items and ratings at hand. Two queries.

    By key, since the database would read the texts of all items to sort out one page of them.
    """
    found = Assignment.objects.filter(pk__in=assignments).select_related("item__document")
    return found.order_by("position").prefetch_related(
        Prefetch("ratings", Rating.objects.all(), to_attr="given")
    )


def own_rows(assignments: Iterable[Assignment], dimensions: Sequence[FrozenDimension]) -> list[OwnItem]:
    """Return items (see `with_answers`) with their answers in the order of the dimensions."""
    rows = []
    for assignment in assignments:
        given = {each.dimension_id: each for each in assignment.given}  # type: ignore[attr-defined]
        rows.append(OwnItem(assignment, [(each, given.get(each.id)) for each in dimensions]))
    return rows


def has_many_documents(project: int) -> bool:
    """Return whether a project has more documents than a list to choose from should be long. One query."""
    return Document.objects.filter(project=project).count() > MOST_DOCUMENTS_LISTED


def own_documents(round: Round, annotator: Membership) -> list[tuple[str, str]] | None:
    """Return key and title of the documents that the annotator has items of, by title. Two queries.

    None where the project has more of them than a list to choose from should be long.
    """
    if has_many_documents(round.project_id):
        return None
    rows = own_order(round, annotator).order_by("item__document__title", "item__document__key")
    return list(rows.values_list("item__document__key", "item__document__title").distinct())


def own_spreads(round: Round, annotator: Membership) -> list[Spread]:
    """Return how the annotator's values spread over each scale, where there are any. One query."""
    ratings = Rating.objects.filter(
        assignment__in=own_order(round, annotator).order_by(), value__isnull=False
    )
    counts: dict[int, dict[float, int]] = {}
    for dimension, value, count in ratings.values_list("dimension", "value").annotate(n=Count("pk")):
        counts.setdefault(dimension, {})[value or 0] = count
    dimensions = guideline_of(round).scales
    return [_spread(each, counts[each.id]) for each in dimensions if each.id in counts]


def _spread(dimension: FrozenDimension, counts: dict[float, int]) -> Spread:
    values = [value for value, count in sorted(counts.items()) for _ in range(count)]
    shown = dimension.values if len(dimension.values) <= MOST_SHOWN else ()
    return Spread(
        dimension,
        len(values),
        [(name_on_page(dimension, value), counts.get(value, 0)) for value in shown],
        values[0],
        median(values),
        values[-1],
    )


def seconds_for_an_item(annotator: Membership, round: Round) -> float | None:
    """Return the median active time of the last items that were completely rated; None: none was measured."""
    done = own_order(round, annotator).filter(completed_at__isnull=False)
    last = done.order_by("-completed_at", "-pk").values("pk")[:TIMED_ITEMS]
    ratings = Rating.objects.filter(assignment__in=last).order_by()
    times = (
        ratings.values("assignment").annotate(seconds=Sum("active_seconds")).values_list("seconds", flat=True)
    )
    measured = [seconds for seconds in times if seconds]
    return median(measured) if measured else None


@dataclass(frozen=True)
class OwnChecks:
    """What hidden checks came to in an annotator's first `items` items; `is_all`: in all of Round I."""

    found: Checks
    items: int
    is_all: bool


def own_checks(round: Round, annotator: Membership, *, left: int) -> OwnChecks | None:
    """Return what hidden checks came to in the blocks that the annotator has finished, None where in nothing.

    left: how many items the annotator has yet to rate. Nobody else is compared. Seven queries at most.
    """
    # Most projects have none, and an annotator may have 50,000 items.
    if not Round.with_checks.filter(project=round.project_id, number=Round.CHECKS).exists():
        return None
    mine = own_order(round, annotator)
    if not round.is_open:
        checks = checks_of(annotator.project).get(annotator.pk)
        return OwnChecks(checks, mine.count(), is_all=True) if checks else None
    order = list(mine.values_list("pk", "completed_at"))
    ends = ends_of_blocks([completed for _, completed in order], is_last=left == 0)
    checks = checks_after_blocks(annotator, {key: end for (key, _), end in zip(order, ends, strict=False)})
    return OwnChecks(checks, len(ends), is_all=False) if checks else None


BLOCK_ITEMS = 50
"""Long enough that the figures of a block do not tell which of its items were checks."""


def ends_of_blocks(
    completed: Sequence[datetime | None], *, is_last: bool, size: int = BLOCK_ITEMS
) -> list[datetime]:
    """Return, for each item of the blocks that are complete from the first on, when its block ended.

    completed: when each item, in the annotator's order, was completely rated; None where it is not. is_last:
    nothing more will come, so that the rest is a block of its own. None ends before the one before it.
    """
    ends = [max(times) for times in _complete_blocks(completed, size, is_last=is_last)]
    in_order = list(accumulate(ends, max))
    return [end for at, end in enumerate(in_order) for _ in completed[at * size : (at + 1) * size]]


def _complete_blocks(
    completed: Sequence[datetime | None], size: int, *, is_last: bool
) -> Iterator[list[datetime]]:
    for start in range(0, len(completed), size):
        block = completed[start : start + size]
        times = [each for each in block if each is not None]
        if len(times) < len(block) or (len(block) < size and not is_last):
            return
        yield times
