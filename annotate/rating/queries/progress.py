"""An annotator's progress in Round I, the time spent, and the estimated time left."""

from collections import Counter
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from annotate.core.guidelines import guideline_of
from annotate.core.models import AssignedUnit, Assignment, Item, Membership, Rating, Round
from annotate.core.models.ratings import has_answer
from annotate.rating.queries.assigned import dimensions_of_kind, has_comparisons
from annotate.rating.queries.assignments import available_items, own_order

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
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = own_order(round, annotator).order_by()
    counts = mine.aggregate(
        all=Count("pk"),
        done=Count("pk", filter=Q(completed_at__isnull=False)),
        today=Count("pk", filter=Q(completed_at__gte=midnight) & ~Q(plan=Assignment.Plan.IMPORTED)),
        whole=Count("pk", filter=Q(completed_at__isnull=True, partial=False)),
        **_TAKEN_OF_LIMIT,
    )
    available = _limit_available(counts, available_items(round, annotator).count()) if round.is_open else 0
    begun = mine.filter(completed_at__isnull=True)
    open_units = AssignedUnit.objects.filter(assignment__in=begun)
    # A requested second look is remaining work.
    is_open = Q(assignment__completed_at__isnull=True, asked_again_at__isnull=True)
    given = Rating.objects.filter(assignment__in=mine if with_time else begun).aggregate(
        seconds=Sum("active_seconds"), of_open=Count("pk", filter=is_open & has_answer())
    )
    whole = counts["whole"] + available
    units_left = _count_questions(round, annotator, whole) + open_units.count() - given["of_open"]
    pace = _seconds_for_a_rating(round, annotator)
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
    # A study may limit its raters to fewer items than are free: outputs are left out first.
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


def _seconds_for_a_rating(round: Round, annotator: Membership) -> float | None:
    """Return the median over the last items; None without measured times, as for imported ratings."""
    done = own_order(round, annotator).filter(completed_at__isnull=False)
    # Chosen before anything is added up, or the database would add up all of them to show the last.
    recent = Rating.objects.filter(assignment__in=done.order_by("-completed_at").values("pk")[:RECENT_ITEMS])
    times = recent.order_by().values_list("assignment").annotate(Sum("active_seconds"), Count("pk"))
    paces = [seconds / given for _, seconds, given in times if seconds]
    return median(paces) if paces else None
