"""Whether work waits for a worker, and whether there is one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone

from annotate.broker import broker_problem
from annotate.models import DataImport, Export, WorkerSign
from annotate.queries.imports import SILENT_FOR, WORKER_SHOULD_TAKE
from annotate.watching import WATCHED

SILENT_AFTER = timedelta(minutes=2)
HOW_TO_RUN = (
    "run make run, or on a server: .venv/bin/python -m celery -A config worker --pool threads --concurrency 8"
)


@dataclass(frozen=True)
class WorkerHealth:
    """Whether workers are there and can be told of work."""

    workers: int
    last_seen: datetime | None
    broker_problem: str

    @property
    def problem(self) -> str:
        """What is wrong and what to do, empty where nothing is."""
        if self.broker_problem:
            return self.broker_problem
        if self.workers:
            return ""
        if self.last_seen is None:
            return f"No worker is running; {HOW_TO_RUN}."
        minutes = round((timezone.now() - self.last_seen).total_seconds() / 60)
        length = f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"
        return f"No worker has been seen for {length}; {HOW_TO_RUN}."


def work_waits() -> "ExpressionWrapper[Q]":
    """Return whether the project of a row (its `project`) has work that no worker takes, as an expression."""
    others = (watched.work_waits() for watched in WATCHED.values())
    waiting: list[Exists] = [_imports_wait(), _exports_wait(), *others]
    return ExpressionWrapper(reduce(or_, waiting, Q()), output_field=BooleanField())


def _imports_wait() -> Exists:
    now = timezone.now()
    silent = reduce(
        or_, (Q(status=status, touched_at__lt=now - _patience(status)) for status in SILENT_FOR), Q()
    )
    return Exists(DataImport.objects.filter(silent, project=OuterRef("project")))


def _exports_wait() -> Exists:
    should_be_taken = timezone.now() - WORKER_SHOULD_TAKE
    waiting = Export.objects.filter(status=Export.Status.WAITING, touched_at__lt=should_be_taken)
    return Exists(waiting.filter(project=OuterRef("project")))


def _patience(status: str) -> timedelta:
    return max(SILENT_FOR[DataImport.Status(status)], WORKER_SHOULD_TAKE)


def worker_health() -> WorkerHealth:
    """Return whether workers are there. One query, and now and then a look at the broker."""
    seen = list(WorkerSign.objects.order_by("-seen_at").values_list("seen_at", flat=True))
    long_ago = timezone.now() - SILENT_AFTER
    return WorkerHealth(
        workers=sum(at >= long_ago for at in seen),
        last_seen=seen[0] if seen else None,
        broker_problem=broker_problem(),
    )
