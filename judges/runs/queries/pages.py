"""Data of the pages of runs, except the counts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.jobs import WORKER_SHOULD_TAKE
from annotate.core.models import Project
from annotate.watching.registry import Need, OverviewSection
from judges.core.models import Batch, Drafting, Endpoint, Judge, Judgment, Run
from judges.runs.queries.runs import (
    JudgeStatusCount,
    RunProgress,
    batches_of,
    count_by_judge,
    progress_from_counts,
)

MOST_REASONS = 5
LISTED_RUNS = 50
Status = Judgment.Status


def moves(progress: RunProgress) -> bool:
    """Return True if counts may change without a person's action.

    Calls in flight of a paused run still return, but not batches, which remain uncollected. A run that awaits
    an answer may resume.
    """
    run = progress.run
    if run.via == Run.Via.BATCH and run.status != Run.Status.CANCELLED:
        return run.status == Run.Status.RUNNING
    return run.status == Run.Status.RUNNING or progress.in_flight > 0 or run.resumes_until is not None


def run_lines(project: Project) -> list[tuple[RunProgress, list[str]]]:
    """Return a project's last runs with the names of their judges, the newest first.

    Five queries, or two more while judgments are leased.
    """
    runs = list(Run.objects.filter(project=project).order_by("-pk")[:LISTED_RUNS])
    counts = count_by_judge([run.pk for run in runs])
    # All names by one query, since the counts have ids only.
    names = dict(Judge.with_candidates.filter(project=project).values_list("pk", "name"))
    asked: defaultdict[int, set[str]] = defaultdict(set)
    for each in counts:
        asked[each.run].add(names[each.judge])
    return [(progress, sorted(asked[progress.run.pk])) for progress in progress_from_counts(runs, counts)]


def run_state(run: Run) -> dict[str, Any]:
    """Return the data of a run's page. Eight queries, or two more while judgments are leased.

    resting: endpoints with a requested pause. silent: endpoints without an answer for some seconds. moves:
    True if the page must reload automatically.
    """
    counts = count_by_judge([run.pk])
    (progress,) = progress_from_counts([run], counts)
    judgments = Judgment.objects.filter(run=run)
    resting, silent = _pending_since(run, judgments)
    return {
        "run": run,
        "progress": progress,
        "judges": _judges(counts),
        "reasons": _reasons(judgments),
        "resting": resting,
        "silent": silent,
        "waits_for_worker": waits_for_worker(progress),
        "batches": batches_of(run),
        "moves": moves(progress),
    }


def _pending_since(run: Run, judgments: QuerySet[Judgment]) -> tuple[list[Endpoint], list[Endpoint]]:
    """Return the paused and the silent endpoints that a run needs. One query."""
    now = timezone.now()
    if run.status != Run.Status.RUNNING and not run.resumes_until:
        return [], []
    of_run = Endpoint.objects.filter(Exists(judgments.filter(judge__endpoint=OuterRef("pk"))))
    # A silent endpoint may also rest; it is listed once, as silent.
    held_up = list(of_run.filter(Q(resting_until__gt=now) | Q(next_probe_at__isnull=False)).order_by("name"))
    silent = [each for each in held_up if each.next_probe_at]
    return [each for each in held_up if each not in silent], silent


def waits_for_worker(progress: RunProgress) -> bool:
    """Return True if a running run has had no caller for some time. Maximum one query."""
    run = progress.run
    return run.status == Run.Status.RUNNING and runs_without_worker(timezone.now()).filter(pk=run.pk).exists()


def load_related(judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Return judgments in order, with all columns of their list."""
    related = ("judge", "dimension", "item__document", "item__system", "other__system")
    return judgments.select_related(*related).order_by("pk")


def _judges(counts: Sequence[JudgeStatusCount]) -> list[dict[str, Any]]:
    by_judge: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for each in counts:
        by_judge[each.judge][each.status] += each.count
    names = Judge.with_candidates.filter(pk__in=by_judge).order_by("name").values_list("pk", "name")
    shown = (Status.DONE, Status.UNREADABLE, Status.FAILED)
    return [
        {"name": name, "total": by_judge[pk].total(), **{str(each): by_judge[pk][each] for each in shown}}
        for pk, name in names
    ]


def _reasons(judgments: QuerySet[Judgment]) -> list[dict[str, Any]]:
    """Return the most frequent reasons for judgments without a value, and the kind of each as `problem`."""
    without = judgments.filter(status__in=(Status.UNREADABLE, Status.FAILED))
    rows = without.values("status", "problem", "reason").annotate(count=Count("pk"))
    named = dict(Judgment.Problem.choices)
    return [
        {**row, "problem": str(named.get(row["problem"], ""))}
        for row in rows.order_by("-count", "reason")[:MOST_REASONS]
    ]


def work_waits(now: datetime, long_ago: datetime) -> Exists:
    """Return an expression that is True if the row's project has a running run without a caller."""
    return Exists(_without_worker(now, long_ago).filter(project=OuterRef("project")))


def runs_without_worker(now: datetime) -> QuerySet[Run]:
    """Return the running runs without a worker for some time."""
    return _without_worker(now, now - WORKER_SHOULD_TAKE)


def _without_worker(now: datetime, long_ago: datetime) -> QuerySet[Run]:
    judgments = Judgment.objects.filter(run=OuterRef("pk"))
    # Signs of a worker that makes calls: a lease that has not ended, or an answer in the last seconds.
    asked = judgments.filter(status=Judgment.Status.LEASED, leased_until__gt=now)
    answered = judgments.filter(answered_at__gt=long_ago)
    batches = Batch.objects.filter(run=OuterRef("pk"))
    # Signs that batches have none: one is due without a holder, or none is open or ended recently.
    unattended = batches.filter(
        Q(held_until__isnull=True) | Q(held_until__lt=now), closed_at__isnull=True, due_at__lt=long_ago
    )
    begun_or_ended = batches.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=long_ago))
    # A silent server gets only probes, so its judgments are neither leased nor answered.
    silent = Judgment.objects.filter(
        run=OuterRef("pk"), judge__endpoint__next_probe_at__gt=long_ago, status=Judgment.Status.PLANNED
    )
    return Run.objects.filter(
        Q(via=Run.Via.CALLS) & ~Exists(asked) & ~Exists(answered) & ~Exists(silent)
        | Q(via=Run.Via.BATCH) & (Exists(unattended) | ~Exists(begun_or_ended)),
        status=Run.Status.RUNNING,
        started_at__lt=long_ago,
    )


def needs_of_runs(project: Project) -> list[Need]:
    """Return the runs that were paused, or stopped automatically, and need an admin. One query."""
    waiting = Run.objects.filter(
        project=project, status__in=(Run.Status.PAUSED, Run.Status.STOPPED)
    ).order_by("pk")
    return [
        Need(
            gettext("Run {run} is {status}: {reason}").format(
                run=run.pk, status=run.get_status_display(), reason=run.reason
            )
            if run.reason
            else gettext("Run {run} is paused. Resume or cancel it.").format(run=run.pk),
            reverse("run", args=[project.slug, run.pk]),
        )
        for run in waiting[:5]
    ]


def spending_section(project: Project) -> OverviewSection | None:
    """Return the activity and cost of judges, drafts of models included, None without a run. Two queries.

    `allowed` is the sum of the budgets of runs that can still spend, None if one of them has no budget.
    """
    over = (Run.Status.FINISHED, Run.Status.CANCELLED)
    # Ended runs spend no more, so their budgets do not count as allowed.
    may_spend = ~Q(status__in=over)
    found = Run.objects.filter(project=project).aggregate(
        all=Count("pk"),
        running=Count("pk", filter=Q(status=Run.Status.RUNNING)),
        ended=Count("pk", filter=Q(status__in=over)),
        unlimited=Count("pk", filter=may_spend & Q(budget__isnull=True)),
        money=Sum("spent"),
        saved=Sum(F("reused_cost") + F("cache_savings")),
        allowed=Sum("budget", filter=may_spend),
    )
    if not found["all"]:
        return None
    # Models also draft prompts, which costs money without a run.
    drafted = Drafting.objects.filter(judge__project=project).aggregate(money=Sum("spent"))
    return OverviewSection(
        "judges/runs/_spending.html",
        {
            "running": found["running"],
            "waiting": found["all"] - found["running"] - found["ended"],
            "ended": found["ended"],
            "spent": (found["money"] or Decimal(0)) + (drafted["money"] or Decimal(0)),
            "saved": found["saved"] or Decimal(0),
            "allowed": None if found["unlimited"] else found["allowed"] or Decimal(0),
        },
    )
