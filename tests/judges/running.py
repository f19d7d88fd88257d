"""Runs that go on without a message to any worker, and what has become of them."""

from collections import Counter
from typing import Any

from django.utils import timezone

from annotate.core.models import Project
from judges.core.models import Judge, Judgment, Run
from judges.core.specification import Scope
from judges.runs.commands.collecting import collect
from judges.runs.commands.runs import plan_run
from tests.judges.news import DIMENSIONS


def running(project: Project, *judges: Judge, **scope: Any) -> Run:
    """Plan a run and let it go on, without a message to any worker."""
    budget = scope.pop("budget", None)
    wanted = Scope(judges, scope.pop("dimensions", DIMENSIONS), **scope)
    run = plan_run(project=project, scope=wanted, by=None, budget=budget)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return run


def worked(run: Run, seconds: float = 60) -> Run:
    """Let a worker ask until nothing is left for it."""
    collect(run=run.pk, seconds=seconds)
    run.refresh_from_db()
    return run


def statuses(run: Run) -> dict[str, int]:
    """Return how many judgments a run has in each status."""
    return dict(Counter(Judgment.objects.filter(run=run).values_list("status", flat=True)))
