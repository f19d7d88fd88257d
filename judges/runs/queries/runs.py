"""Queries on runs: remaining work, progress and cost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from judges.core.models import Batch, Endpoint, Judge, Judgment, LeaseHolder, Run
from judges.runs.queries.calls import SEVERAL

RECENTLY = timedelta(seconds=30)
COUNTS = ("total", "done", "unreadable", "failed", "excluded", "in_flight", "planned", "cost_unknown")
NOTHING = dict.fromkeys(COUNTS, 0)
_NAMES = {status.value: status.value for status in Judgment.Status} | {"leased": "in_flight"}
# Batches of an ended run may still have paid replies to collect.
ATTENDED = (Run.Status.RUNNING, Run.Status.CANCELLED, Run.Status.FINISHED)


@dataclass(frozen=True)
class RunProgress:
    """The counts of a run; `cost_unknown` counts answers whose cost could not be computed."""

    run: Run
    total: int
    done: int
    unreadable: int
    failed: int
    excluded: int
    in_flight: int
    planned: int
    cost_unknown: int
    per_second: float

    @property
    def ended(self) -> int:
        """Judgments that were answered or have failed."""
        return self.done + self.unreadable + self.failed + self.excluded

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the present pace, None without progress."""
        left = self.total - self.ended
        return left / self.per_second if self.per_second else None


def goes_on(run: int) -> bool:
    """Return True if a run is running. One query."""
    return Run.objects.filter(pk=run, status=Run.Status.RUNNING).exists()


def judges_of(run: Run) -> QuerySet[Judge]:
    asked = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    judges = Judge.with_candidates.filter(Exists(asked), project=run.project_id)
    return judges.select_related("endpoint").order_by("pk")


def abandoned_judgments(now: datetime) -> Q:
    """Return the condition of unanswered judgments in an ended run; they move to a new run.

    Failed judgments of a finished run are retried there.
    """
    status = Judgment.Status
    unanswered = Q(status=status.PLANNED) | Q(orphaned_leases(now), status=status.LEASED)
    return Q(unanswered, run__status__in=Run.OVER) | Q(status=status.FAILED, run__status=Run.Status.CANCELLED)


def orphaned_leases(at: datetime) -> Q:
    """Return the condition of leases that had ended at a moment, of holders dead by then.

    A holder's leases do not end together, and the possible cost of its calls counts once it is dead: the
    calculation would miss a judgment that moved to another worker before.
    """
    living = LeaseHolder.objects.filter(alive_until__gte=at)
    return Q(leased_until__lt=at) & ~Q(lease__in=living.values("pk"))


def runs_with_open_judgments() -> list[int]:
    """Return the running runs with open judgments without a caller, or with a server due for a probe."""
    now = timezone.now()
    waiting = Q(resumes_until__gt=now, waits_for__next_probe_at__lte=now)
    running = Run.objects.filter(waiting | Q(status=Run.Status.RUNNING), via=Run.Via.CALLS)
    planned = Judgment.objects.filter(run=OuterRef("pk"), status=Judgment.Status.PLANNED)
    orphaned = Judgment.objects.filter(
        orphaned_leases(now), run=OuterRef("pk"), status=Judgment.Status.LEASED
    )
    return list(running.filter(Exists(planned) | Exists(orphaned)).values_list("pk", flat=True))


def runs_that_ask(endpoint: int) -> list[int]:
    """Return the runs that go on and have judgments to ask at an endpoint now, the oldest first.

    Of a run through the batch interface only the first judgments of judges are asked.
    """
    # By their ids, so that the database finds the judgments of each in an index, however many others wait.
    judges = list(Judge.with_candidates.filter(endpoint=endpoint).values_list("pk", flat=True))
    of_endpoint = Judgment.objects.filter(run=OuterRef("pk"), judge__in=judges)
    abandoned = of_endpoint.filter(orphaned_leases(timezone.now()), status=Judgment.Status.LEASED)
    planned = of_endpoint.filter(status=Judgment.Status.PLANNED)
    project = Endpoint.objects.filter(pk=endpoint).values("project")
    # During the lookup of stored answers no call starts, because it could repeat a paid one.
    running = Run.objects.filter(status=Run.Status.RUNNING, looked_up_to__isnull=True, project__in=project)
    found = list(running.filter(Exists(planned) | Exists(abandoned)).order_by("pk"))
    # Through the batch interface, only first judgments of untried judges are calls.
    for run in [run for run in found if run.via == Run.Via.BATCH]:
        untried = set(run.untried_judges or ()) & set(judges)
        if not Judgment.objects.filter(run=run, judge__in=untried, status=Judgment.Status.PLANNED).exists():
            found.remove(run)
    return [run.pk for run in found]


def run_progress(run: Run) -> RunProgress:
    """Return the counts of a run, in as many queries as `progress_of`."""
    return progress_of([run])[0]


def progress_of(runs: Sequence[Run]) -> list[RunProgress]:
    """Return the counts of some runs, in order. Three queries, four or five if judgments are leased.

    Judgments leased ahead of a worker's slots are in no call yet, and count as planned.
    """
    keys = [run.pk for run in runs]
    return progress_from_counts(runs, count_by_judge(keys))


@dataclass(frozen=True)
class JudgeStatusCount:
    run: int
    judge: int
    status: str
    count: int


def count_by_judge(runs: Sequence[int]) -> list[JudgeStatusCount]:
    """Return the number of runs' judgments by judge and status. One query, answered from an index."""
    rows = Judgment.objects.filter(run__in=runs).values_list("run", "judge", "status")
    return [JudgeStatusCount(*row) for row in rows.annotate(Count("pk")).order_by()]


def progress_from_counts(runs: Sequence[Run], counted: Sequence[JudgeStatusCount]) -> list[RunProgress]:
    """Return the result of `progress_of` from these counts, with one query less."""
    keys = [run.pk for run in runs]
    counts = {key: dict(NOTHING) for key in keys}
    for each in counted:
        counts[each.run][_NAMES[each.status]] += each.count
        counts[each.run]["total"] += each.count
    unknown = Judgment.objects.filter(run__in=keys, answered_at__isnull=False, cost__isnull=True)
    unknown_costs = unknown.values_list("run").annotate(Count("pk")).order_by()
    for key, number in unknown_costs:
        counts[key]["cost_unknown"] = number
    # Leases beyond the slots of a worker wait in its memory, so they are shown as planned.
    leased = [key for key in keys if counts[key]["in_flight"]]
    most = _most_in_flight(leased)
    for key, count in counts.items():
        ahead = max(count["in_flight"] - most.get(key, count["in_flight"]), 0)
        count["in_flight"], count["planned"] = count["in_flight"] - ahead, count["planned"] + ahead
    paces = _paces(keys)
    return [RunProgress(run=run, **counts[run.pk], per_second=paces.get(run.pk, 0.0)) for run in runs]


def _most_in_flight(runs: Sequence[int]) -> dict[int, int]:
    """Return how many judgments of runs are in calls at the most: those of batches are in none of these.

    What workers lease ahead is in no call. Where a worker holds judgments of several runs, its calls are
    shared by these in proportion.
    """
    if not runs:
        return {}
    # The number of judgments per call by run, 0 if it is one.
    of_runs = Judgment.objects.filter(run__in=runs, status=Judgment.Status.LEASED)
    several = Count("dimension", distinct=True, filter=Q(judge__method__in=SEVERAL))
    sizes = dict(of_runs.values_list("run").annotate(of_a_call=several).order_by())
    if not sizes:
        return {}
    holders = LeaseHolder.objects.filter(pk=OuterRef("lease")).values("calls_in_flight")
    held = Judgment.objects.filter(status=Judgment.Status.LEASED).annotate(calls_in_flight=Subquery(holders))
    leases = Judgment.objects.filter(run__in=sizes, status=Judgment.Status.LEASED).values("lease")
    rows = held.filter(lease__in=leases, calls_in_flight__isnull=False).order_by()
    counted = list(rows.values_list("lease", "run", "calls_in_flight").annotate(Count("pk")))
    totals: Counter[UUID] = Counter()
    for lease, _, _, count in counted:
        totals[lease] += count
    most: Counter[int] = Counter()
    for lease, run, held_slots, count in counted:
        if run in sizes:
            most[run] += ceil(held_slots * count / totals[lease]) * max(sizes[run], 1)
    return most


def _paces(runs: Sequence[int]) -> dict[int, float]:
    since = timezone.now() - RECENTLY
    recent = Judgment.objects.filter(run__in=runs, answered_at__gte=since).values_list("run")
    rows = recent.annotate(count=Count("pk"), first=Min("answered_at"), last=Max("answered_at"))
    # A single answer, or several in one moment, say nothing of a pace.
    return {
        run: count / (last - first).total_seconds()
        for run, count, first, last in rows.order_by()
        if count > 1 and last > first
    }


def open_batches(run: Run) -> QuerySet[Batch]:
    """Return a run's batches that were neither collected nor failed."""
    return Batch.objects.filter(run=run, closed_at__isnull=True)


def due_batches() -> QuerySet[Batch]:
    """Return the batches that need a worker now: open, due, and without a holder."""
    now = timezone.now()
    free = Q(held_until__isnull=True) | Q(held_until__lt=now)
    attended = Q(run__status__in=ATTENDED) | Q(run__resumes_until__gt=now)
    return Batch.objects.filter(free, attended, closed_at__isnull=True, due_at__lte=now)


def runs_with_due_batches() -> list[int]:
    """Return the runs with due batches, or with judgments in no batch."""
    due = due_batches().filter(run=OuterRef("pk"))
    planned = Judgment.objects.filter(run=OuterRef("pk"), status=Judgment.Status.PLANNED)
    waiting = Q(Exists(due)) | Q(Exists(planned), status=Run.Status.RUNNING)
    return list(Run.objects.filter(waiting, via=Run.Via.BATCH).values_list("pk", flat=True))


def batches_of(run: Run) -> list[Batch]:
    """Return a run's batches in order, with their endpoints. One query."""
    return list(Batch.objects.filter(run=run).select_related("endpoint").order_by("created_at"))
