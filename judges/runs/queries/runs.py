"""Runs: what they need, how far they are, what they would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from judges.core.models import Judgment, LeaseHolder, Run

RECENTLY = timedelta(seconds=30)
WORTH_A_MAIL = timedelta(days=1)
COUNTS = ("total", "done", "unreadable", "failed", "excluded", "in_flight", "planned", "cost_unknown")
NOTHING = dict.fromkeys(COUNTS, 0)


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
        """How long the rest takes at the present pace, None where nothing moves."""
        left = self.total - self.ended
        return left / self.per_second if self.per_second else None


def goes_on(run: int) -> bool:
    """Return whether a run is running. One query."""
    return Run.objects.filter(pk=run, status=Run.Status.RUNNING).exists()


def left_behind(now: datetime) -> Q:
    """Return which judgments a run that is over left without an answer; a new run takes them over.

    What failed in a finished run is retried there.
    """
    status = Judgment.Status
    unanswered = Q(status=status.PLANNED) | Q(without_living_holder(now), status=status.LEASED)
    return Q(unanswered, run__status__in=Run.OVER) | Q(status=status.FAILED, run__status=Run.Status.CANCELLED)


def without_living_holder(at: datetime) -> Q:
    """Return which leases had ended at a moment, of holders that were dead by then.

    A holder's leases do not end together, and what its calls may have cost is counted when it is dead: one
    that went to another worker before would be left out.
    """
    living = LeaseHolder.objects.filter(alive_until__gte=at)
    return Q(leased_until__lt=at) & ~Q(lease__in=living.values("pk"))


def runs_with_open_judgments() -> list[int]:
    """Return the runs that go on and have judgments nobody is asking, or whose server is to be tried now."""
    now = timezone.now()
    waiting = Q(resumes_until__gt=now, waits_for__next_probe_at__lte=now)
    running = Run.objects.filter(waiting | Q(status=Run.Status.RUNNING), via=Run.Via.CALLS)
    return [run for run in running.values_list("pk", flat=True) if _has_free(run)]


def untold_runs() -> QuerySet[Run]:
    """Return the runs that stopped lately, or paused by themselves, without a mail to who planned them."""
    stopped = Q(status=Run.Status.STOPPED, finished_at__gt=timezone.now() - WORTH_A_MAIL)
    paused = Q(status=Run.Status.PAUSED, reason__gt="")
    return Run.objects.filter(stopped | paused, told_at=None, created_by__isnull=False)


def _has_free(run: int) -> bool:
    judgments = Judgment.objects.filter(run=run)
    leased = judgments.filter(status=Judgment.Status.LEASED)
    return (
        judgments.filter(status=Judgment.Status.PLANNED).exists()
        or leased.filter(without_living_holder(timezone.now())).exists()
    )


def runs_of(project: int) -> QuerySet[Run]:
    """Return a project's runs, the newest first."""
    return Run.objects.filter(project=project).order_by("-pk")


def run_progress(run: Run) -> RunProgress:
    """Return the counts of a run. Two queries."""
    return progress_of([run])[0]


def progress_of(runs: Sequence[Run]) -> list[RunProgress]:
    """Return the counts of some runs, in their order. Two queries."""
    keys = [run.pk for run in runs]
    status = Judgment.Status
    rows = (
        Judgment.objects.filter(run__in=keys)
        .values_list("run")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=Q(status=status.DONE)),
            unreadable=Count("pk", filter=Q(status=status.UNREADABLE)),
            failed=Count("pk", filter=Q(status=status.FAILED)),
            excluded=Count("pk", filter=Q(status=status.EXCLUDED)),
            in_flight=Count("pk", filter=Q(status=status.LEASED)),
            planned=Count("pk", filter=Q(status=status.PLANNED)),
            cost_unknown=Count("pk", filter=Q(answered_at__isnull=False, cost__isnull=True)),
        )
    )
    counts = {row[0]: dict(zip(COUNTS, row[1:], strict=True)) for row in rows.order_by()}
    paces = _paces(keys)
    return [
        RunProgress(run=run, **counts.get(run.pk, NOTHING), per_second=paces.get(run.pk, 0.0)) for run in runs
    ]


def _paces(runs: Sequence[int]) -> dict[int, float]:
    since = timezone.now() - RECENTLY
    recent = Judgment.objects.filter(run__in=runs, answered_at__gte=since).values_list("run")
    rows = recent.annotate(count=Count("pk"), first=Min("answered_at"), last=Max("answered_at"))
    return {run: _pace(count, last - first) for run, count, first, last in rows.order_by()}


def _pace(count: int, within: timedelta) -> float:
    seconds = within.total_seconds()
    return count / seconds if count > 1 and seconds else 0.0
