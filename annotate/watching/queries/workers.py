"""Whether work waits for a worker, and whether there is one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from celery import current_app
from django.core.cache import cache
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone
from kombu import Connection
from kombu.exceptions import OperationalError

from annotate.core.models import DataImport, Export, WorkerHeartbeat
from annotate.material.queries.imports import SILENT_FOR, WORKER_SHOULD_TAKE
from annotate.watching.registry import WATCHED

# Whether messages can reach the workers.

LONGEST = 1  # seconds that a page waits for the broker
REMEMBERED = 20  # seconds


def broker_problem(url: str | None = None) -> str:
    """Return in a sentence why the broker cannot be reached, empty where it can; remembered for a while."""
    key = f"annotate.watching.queries.workers.{url}"
    problem: str | None = cache.get(key)
    if problem is None:
        problem = _problem(url)
        cache.set(key, problem, REMEMBERED)
    return problem


def _problem(url: str | None) -> str:
    # A transport reads only the options that it knows.
    limits = {"socket_connect_timeout": LONGEST, "socket_timeout": LONGEST}
    connection: Connection = current_app.connection_for_write(
        url, connect_timeout=LONGEST, transport_options=limits
    )
    errors = (*connection.connection_errors, *connection.channel_errors, OperationalError, OSError)
    failures: tuple[type[BaseException], ...] = errors
    try:
        with connection:
            connection.connect()
    except failures as error:
        return (
            f"The message broker at {connection.as_uri()} cannot be reached ({type(error).__name__}), so no "
            "worker is told of work: start it, or correct CONCORD_BROKER_URL."
        )
    return ""


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
    seen = list(WorkerHeartbeat.objects.order_by("-seen_at").values_list("seen_at", flat=True))
    long_ago = timezone.now() - SILENT_AFTER
    return WorkerHealth(
        workers=sum(at >= long_ago for at in seen),
        last_seen=seen[0] if seen else None,
        broker_problem=broker_problem(),
    )
