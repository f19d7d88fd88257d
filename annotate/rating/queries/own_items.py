"""An annotator's work in Round I, for that annotator alone: progress, items with answers, distributions."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from statistics import median

from django.db import models
from django.db.models import Count, Exists, F, Max, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of, name_on_page
from annotate.core.models import (
    AssignedUnit,
    Assignment,
    Document,
    Item,
    Membership,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.models.ratings import has_answer
from annotate.questions.scale import SCALE
from annotate.rating.queries.assignments import (
    available_items,
    dimensions_of_kind,
    has_comparisons,
    own_order,
)
from annotate.rating.queries.hidden_checks import Checks, checks_after_blocks, checks_of

MOST_DOCUMENTS_LISTED = 300  # in a list to choose one from
TIMED_ITEMS = 500
"""How many items the time for an item is taken from: of all, it would be added up from all ratings."""

MOST_SHOWN = 11  # maximum number of values of a scale for individual counts


class Marked(models.TextChoices):
    FLAGGED = "flagged", _("flagged: unsure, or could not be rated")
    UNSURE = "unsure", _("unsure")
    CANNOT_RATE = "cannot_rate", _("could not be rated")
    CHANGED = "changed", _("with a changed value")
    COMMENTED = "commented", _("with a comment")
    UNFINISHED = "unfinished", _("not completely rated")


@dataclass(frozen=True)
class OwnFilter:
    """A filter of items: an empty field matches all.

    `title`: in the title or key of the document. `value` and each of `marked`: on `dimension`, or on any if
    it is empty; an item has all of `marked`.
    """

    document: str = ""
    title: str = ""
    dimension: str = ""
    value: float | None = None
    marked: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnItem:
    """An item with the annotator's answers, one for each dimension, None without an answer."""

    assignment: Assignment
    answers: list[tuple[FrozenDimension, Rating | None]]

    @property
    def comments(self) -> list[tuple[FrozenDimension, str]]:
        return [(dimension, each.comment) for dimension, each in self.answers if each and each.comment]


@dataclass(frozen=True)
class Spread:
    """The frequency of each value of a dimension, by its name.

    `counts` is empty if the scale has too many values to count each; `low`, `middle` and `high` then describe
    the distribution.
    """

    dimension: FrozenDimension
    given: int
    counts: list[tuple[str, int]]
    low: float
    middle: float
    high: float


def own_items(round: Round, annotator: Membership, chosen: OwnFilter) -> QuerySet[Assignment]:
    """Return the matching items in the annotator's order, including hidden checks."""
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


# A change from no value to the first one is no changed value.
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


def load_with_answers(assignments: Collection[int]) -> QuerySet[Assignment]:
    """Return assignments (by key) in the annotator's order, with items and ratings loaded. Two queries.

    By key, because the database would otherwise read the outputs of all items to sort one page of them.
    """
    found = Assignment.objects.filter(pk__in=assignments).select_related("item__document")
    return found.order_by("position").prefetch_related(
        Prefetch("ratings", Rating.objects.all(), to_attr="given")
    )


def own_rows(assignments: Iterable[Assignment], dimensions: Sequence[FrozenDimension]) -> list[OwnItem]:
    rows = []
    for assignment in assignments:
        given = {each.dimension_id: each for each in assignment.given}  # type: ignore[attr-defined]
        rows.append(OwnItem(assignment, [(each, given.get(each.id)) for each in dimensions]))
    return rows


def has_many_documents(project: int) -> bool:
    """Return True if a project has more documents than a list of choices should contain. One query."""
    return Document.objects.filter(project=project).count() > MOST_DOCUMENTS_LISTED


def own_documents(round: Round, annotator: Membership) -> list[tuple[str, str]] | None:
    """Return key and title of the documents of the annotator's items, by title. Two queries.

    None if the project has more of them than a list of choices should contain.
    """
    if has_many_documents(round.project_id):
        return None
    rows = own_order(round, annotator).order_by("item__document__title", "item__document__key")
    return list(rows.values_list("item__document__key", "item__document__title").distinct())


def own_spreads(round: Round, annotator: Membership) -> list[Spread]:
    """Return the distribution of the annotator's values on each scale with values. One query."""
    ratings = Rating.objects.filter(
        assignment__in=own_order(round, annotator).order_by(), value__isnull=False
    )
    counts: dict[int, dict[float, int]] = {}
    for dimension, value, count in ratings.values_list("dimension", "value").annotate(n=Count("pk")):
        counts.setdefault(dimension, {})[value or 0] = count
    dimensions = guideline_of(round).scales
    spreads = []
    for dimension in dimensions:
        if own := counts.get(dimension.id):
            values = [value for value, count in sorted(own.items()) for _ in range(count)]
            shown = dimension.values if len(dimension.values) <= MOST_SHOWN else ()
            named = [(name_on_page(dimension, value), own.get(value, 0)) for value in shown]
            low, middle, high = values[0], median(values), values[-1]
            spreads.append(Spread(dimension, len(values), named, low, middle, high))
    return spreads


def seconds_for_an_item(annotator: Membership, round: Round) -> float | None:
    """Return the median active time of the last completely rated items; None without measured times."""
    done = own_order(round, annotator).filter(completed_at__isnull=False)
    last = done.order_by("-completed_at", "-pk").values("pk")[:TIMED_ITEMS]
    ratings = Rating.objects.filter(assignment__in=last).order_by()
    times = (
        ratings.values("assignment").annotate(seconds=Sum("active_seconds")).values_list("seconds", flat=True)
    )
    # Imported ratings have no measured time, which must not count as 0 seconds.
    measured = [seconds for seconds in times if seconds]
    return median(measured) if measured else None


@dataclass(frozen=True)
class OwnChecks:
    """The results of hidden checks in an annotator's first `items` items; `is_all`: in all of Round I."""

    found: Checks
    items: int
    is_all: bool


def own_checks(round: Round, annotator: Membership, *, left: int) -> OwnChecks | None:
    """Return the results of hidden checks in the annotator's complete blocks, None without any.

    left: the number of items that the annotator has yet to rate. No other annotators are compared. Up to
    seven queries.
    """
    # Most projects have none, and an annotator may have 50,000 items.
    if not Round.all_rounds.filter(project=round.project_id, number=Round.CHECKS).exists():
        return None
    mine = own_order(round, annotator)
    # After Round I the results need not hide which items are checks, so blocks are not needed.
    if not round.is_open:
        checks = checks_of(annotator.project).get(annotator.pk)
        return OwnChecks(checks, mine.count(), is_all=True) if checks else None
    order = list(mine.values_list("pk", "completed_at"))
    ends = ends_of_blocks([completed for _, completed in order], is_last=left == 0)
    # `ends` has only the items of complete blocks, so it can be shorter than the order.
    checks = checks_after_blocks(annotator, {key: end for (key, _), end in zip(order, ends, strict=False)})
    return OwnChecks(checks, len(ends), is_all=False) if checks else None


BLOCK_ITEMS = 50
"""Long enough that the figures of a block do not tell which of its items were checks."""


def ends_of_blocks(
    completed: Sequence[datetime | None], *, is_last: bool, size: int = BLOCK_ITEMS
) -> list[datetime]:
    """Return, for each item of the complete blocks from the first on, the end time of its block.

    completed: the completion time of each item, in the annotator's order; None if it is not completely rated.
    is_last: nothing more will come, so that the rest is a separate block. No block ends before the previous
    one.
    """
    ends = []
    for start in range(0, len(completed), size):
        block = completed[start : start + size]
        times = [each for each in block if each is not None]
        if len(times) < len(block) or (len(block) < size and not is_last):
            break
        ends.append(max(times))
    in_order = list(accumulate(ends, max))
    return [end for at, end in enumerate(in_order) for _ in completed[at * size : (at + 1) * size]]


RECENT_ITEMS = 50


@dataclass(frozen=True)
class Progress:
    """An annotator's counts of items, and times in seconds.

    seconds_active: time spent on ratings, without breaks; 0 unless requested. seconds_left: the median time
    of a recent rating for each remaining one; None without a recent rating.
    """

    done: int
    total: int
    today: int
    seconds_active: float = 0
    seconds_left: float | None = None

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def time_left(self) -> str:
        return rough_time(self.seconds_left)

    @property
    def time_active(self) -> str:
        hours, minutes = divmod(int(self.seconds_active / 60), 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else ""


def rough_time(seconds: float | None) -> str:
    """Return a time in whole minutes, or hours if it is long; empty without a time."""
    if not seconds:
        return ""
    minutes = max(round(seconds / 60), 1)
    return f"{minutes} min" if minutes < 90 else f"{round(minutes / 60)} h"


def progress(round: Round, annotator: Membership, *, with_time: bool = False) -> Progress:
    """Return the annotator's progress in Round I. Five queries, six if the guideline is not loaded.

    The round of hidden checks counts as Round I, so that no counter distinguishes them; one more query then.
    with_time: whether to sum the time spent, for which the database reads all the annotator's ratings.
    """
    if round.number == Round.CHECKS:
        round = Round.objects.select_related("guideline").get(project=round.project_id, number=1)
    # Items: the annotator's own, and the ones that can still be reserved.
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = own_order(round, annotator).order_by()
    counts = mine.aggregate(
        all=Count("pk"),
        done=Count("pk", filter=Q(completed_at__isnull=False)),
        # An import completes assignments today, but their ratings are no work of today.
        today=Count("pk", filter=Q(completed_at__gte=midnight) & ~Q(plan=Assignment.Plan.IMPORTED)),
        whole=Count("pk", filter=Q(completed_at__isnull=True, partial=False)),
        **_TAKEN_OF_LIMIT,
    )
    available = _limit_available(counts, available_items(round, annotator).count()) if round.is_open else 0
    # Questions without an answer: of whole items, and the units of partial assignments.
    begun = mine.filter(completed_at__isnull=True)
    open_units = AssignedUnit.objects.filter(assignment__in=begun)
    # A requested second look is remaining work.
    is_open = Q(assignment__completed_at__isnull=True, asked_again_at__isnull=True)
    given = Rating.objects.filter(assignment__in=mine if with_time else begun).aggregate(
        seconds=Sum("active_seconds"), of_open=Count("pk", filter=is_open & has_answer())
    )
    whole = counts["whole"] + available
    units_left = _count_questions(round, annotator, whole) + open_units.count() - given["of_open"]
    done = own_order(round, annotator).filter(completed_at__isnull=False)
    # Chosen before anything is added up, or the database would add up all of them to show the last.
    recent = Rating.objects.filter(assignment__in=done.order_by("-completed_at").values("pk")[:RECENT_ITEMS])
    times = recent.order_by().values_list("assignment").annotate(Sum("active_seconds"), Count("pk"))
    paces = [seconds / given for _, seconds, given in times if seconds]
    pace = median(paces) if paces else None
    return Progress(
        done=counts["done"],
        total=counts["all"] + available,
        today=counts["today"],
        seconds_active=(given["seconds"] or 0) if with_time else 0,
        seconds_left=None if pace is None else pace * units_left,
    )


def _count_questions(round: Round, annotator: Membership, items: int) -> int:
    """Return the number of questions about the items that are not complete, `items` of them.

    Two queries if some are comparisons. A question with a condition counts, as answers may open it.
    """
    guideline = guideline_of(round)
    if not has_comparisons(guideline):
        return items * len(guideline.dimensions)
    about = {kind: len(dimensions_of_kind(guideline, kind)) for kind in Item.Kind.values}
    open_ones = own_order(round, annotator).filter(completed_at__isnull=True, partial=False)
    counts = Counter(dict(open_ones.order_by().values_list("item__kind").annotate(Count("pk"))))
    if round.is_open:
        free = available_items(round, annotator).order_by()
        counts.update(dict(free.values_list("kind").annotate(Count("pk"))))
    # A study may limit its raters to fewer items than are free: outputs are excluded first.
    too_many = counts.total() - items
    for kind in Item.Kind.values:
        left_out = min(counts[kind], max(too_many, 0))
        counts[kind] -= left_out
        too_many -= left_out
    return sum(count * about[kind] for kind, count in counts.items())


def count_left(round: Round, annotator: Membership) -> int:
    """Return the number of items that this annotator has yet to rate in Round I. Two queries."""
    begun = Count("pk", filter=Q(completed_at__isnull=True))
    counts = own_order(round, annotator).order_by().aggregate(begun=begun, **_TAKEN_OF_LIMIT)
    begun_count: int = counts["begun"]
    return begun_count + _limit_available(counts, available_items(round, annotator).count())


# Asked together with an annotator's other counts; without any items yet, the limit is not known.
_TAKEN_OF_LIMIT = {
    "taken": Count("pk", filter=Q(round__number=1)),
    "limit": Max("annotator__outside__study__items_per_rater"),
}


def _limit_available(counts: dict[str, int | None], available: int) -> int:
    """Return the number of available items that this annotator can get: fewer for raters from outside."""
    if (limit := counts["limit"]) is None:
        return available
    return max(min(available, limit - (counts["taken"] or 0)), 0)
