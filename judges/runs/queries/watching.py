"""Monitoring of judges for admins: progress and cost of runs, and pending decisions."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.watching.registry import Need, OverviewSection
from judges.core.models import Batch, Drafting, Judgment, Run

WORKER_SHOULD_TAKE = timedelta(seconds=10)
Status = Run.Status


@dataclass(frozen=True)
class Spending:
    """A project's runs by state, with their spending, savings and remaining budget.

    `allowed` is the sum of the budgets of runs that can still spend, None if one of them has no budget.
    """

    running: int
    waiting: int
    ended: int
    spent: Decimal
    saved: Decimal
    allowed: Decimal | None


def work_waits() -> Exists:
    """Return an expression that is True if the row's project has a running run without a caller."""
    return Exists(runs_without_worker().filter(project=OuterRef("project")))


def runs_without_worker() -> QuerySet[Run]:
    """Return the running runs without a worker for some time."""
    now = timezone.now()
    long_ago = now - WORKER_SHOULD_TAKE
    judgments = Judgment.objects.filter(run=OuterRef("pk"))
    asked = judgments.filter(status=Judgment.Status.LEASED, leased_until__gt=now)
    answered = judgments.filter(answered_at__gt=long_ago)
    batches = Batch.objects.filter(run=OuterRef("pk"))
    unattended = batches.filter(
        Q(held_until__isnull=True) | Q(held_until__lt=now), closed_at__isnull=True, due_at__lt=long_ago
    )
    begun_or_ended = batches.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=long_ago))
    silent = Judgment.objects.filter(
        run=OuterRef("pk"), judge__endpoint__next_probe_at__gt=long_ago, status=Judgment.Status.PLANNED
    )
    return Run.objects.filter(
        Q(via=Run.Via.CALLS) & ~Exists(asked) & ~Exists(answered) & ~Exists(silent)
        | Q(via=Run.Via.BATCH) & (Exists(unattended) | ~Exists(begun_or_ended)),
        status=Status.RUNNING,
        started_at__lt=long_ago,
    )


def needs_of_runs(project: Project) -> list[Need]:
    """Return the runs that were paused, or stopped automatically, and need an admin. One query."""
    waiting = Run.objects.filter(project=project, status__in=(Status.PAUSED, Status.STOPPED)).order_by("pk")
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
    """Return the activity and cost of judges, drafts of models included, None without a run. Two queries."""
    over = (Status.FINISHED, Status.CANCELLED)
    may_spend = ~Q(status__in=over)
    found = Run.objects.filter(project=project).aggregate(
        all=Count("pk"),
        running=Count("pk", filter=Q(status=Status.RUNNING)),
        ended=Count("pk", filter=Q(status__in=over)),
        unlimited=Count("pk", filter=may_spend & Q(budget__isnull=True)),
        money=Sum("spent"),
        saved=Sum(F("reused_cost") + F("cache_savings")),
        allowed=Sum("budget", filter=may_spend),
    )
    if not found["all"]:
        return None
    drafted = Drafting.objects.filter(judge__project=project).aggregate(money=Sum("spent"))
    return OverviewSection(
        "judges/runs/_spending.html",
        Spending(
            running=found["running"],
            waiting=found["all"] - found["running"] - found["ended"],
            ended=found["ended"],
            spent=(found["money"] or Decimal(0)) + (drafted["money"] or Decimal(0)),
            saved=found["saved"] or Decimal(0),
            allowed=None if found["unlimited"] else found["allowed"] or Decimal(0),
        ),
    )
