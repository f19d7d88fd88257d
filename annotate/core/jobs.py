"""Jobs that workers hold: taken by one, kept by heartbeats, and taken over when these end.

A job is a row with `status`, `lease` (the worker that is at it; no other may write what came of it),
`touched_at` (its last heartbeat) and `attempts`. Messages only wake workers: `annotate.periodic_tasks` looks
again and again for jobs that wait, or whose worker died.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

Job = TypeVar("Job", bound=Model)

BEAT_SECONDS = settings.LEASE_SECONDS / 4
SILENT_AFTER = timedelta(seconds=settings.LEASE_SECONDS)
# What waits has a message on its way; the sweeper sends another only when that one seems lost.
MESSAGE_LOST_AFTER = timedelta(seconds=5)
# A job that ends its worker each time, by taking all memory, must not do so for ever.
MAX_ATTEMPTS = 10
GAVE_UP = (
    "Ten workers died while they were at it. Ask the operator: the system's log has the reason, often memory."
)
logger = logging.getLogger(__name__)


class TakenOverError(Exception):
    """Another worker took the job, because this one was silent for too long."""


def due_jobs(jobs: "QuerySet[Job]", *, waiting: Sequence[str], running: Sequence[str]) -> "QuerySet[Job]":
    """Return the jobs that wait for a worker although a message was sent, and those whose worker died."""
    now = timezone.now()
    waits = Q(status__in=waiting, touched_at__lt=now - MESSAGE_LOST_AFTER)
    return jobs.filter(waits | Q(status__in=running, touched_at__lt=now - SILENT_AFTER)).order_by("pk")


def is_silent(job: Any) -> bool:
    """Return whether the worker that has a job has sent no heartbeat for too long."""
    return bool(timezone.now() - job.touched_at >= SILENT_AFTER)


def take(job: Any, *, lease: UUID, **became: object) -> bool:
    """Take a job as it was read; False where a worker took it meanwhile, or its own one sent a heartbeat."""
    as_read = type(job).objects.filter(
        pk=job.pk, status=job.status, lease=job.lease, touched_at=job.touched_at
    )
    now = timezone.now()
    return bool(as_read.update(lease=lease, touched_at=now, attempts=F("attempts") + 1, **became))


def take_due(job: Any, *, waiting: str, running: str) -> bool:
    """Take a job that waits or whose worker went silent, and read it anew; False where another one has it."""
    if job.status != waiting and not (job.status == running and is_silent(job)):
        return False
    if not take(job, lease=uuid4(), status=running):
        return False
    job.refresh_from_db(fields=["status", "lease", "attempts", "touched_at"])
    return True


def own_row(job: Job) -> "QuerySet[Job]":
    """Return the job's row for as long as this worker holds it: none once it was taken over or deleted."""
    lease = getattr(job, "lease")  # noqa: B009 - whatever the model, a job has one
    return type(job)._default_manager.filter(pk=job.pk, lease=lease, lease__isnull=False)


def work_on(job: Any, *, waiting: str, running: str, work: Callable[[], str]) -> None:
    """Do a job that waits or whose worker died, and keep how it ended; one that another has is left alone.

    For jobs with a `reason` that end as finished or stopped. `work` returns why it stopped, or nothing. Where
    it raises TakenOverError, another worker says how the job ends.
    """
    if not take_due(job, waiting=waiting, running=running):
        return
    with suppress(TakenOverError), heartbeat(lambda: own_row(job).update(touched_at=timezone.now())):
        reason = GAVE_UP if job.attempts > MAX_ATTEMPTS else work()
        status = "stopped" if reason else "finished"
        own_row(job).update(lease=None, status=status, reason=reason, touched_at=timezone.now())


@contextmanager
def heartbeat(beat: Callable[[], object]) -> Iterator[None]:
    """Call `beat` every few seconds in a thread of its own, while a worker is at a job."""
    over = Event()
    thread = Thread(target=_beat, args=(beat, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(BEAT_SECONDS)


def _beat(beat: Callable[[], object], over: Event) -> None:
    try:
        while not over.wait(BEAT_SECONDS):
            try:
                beat()
            except DatabaseError as error:  # away, or SQLite is held by the job itself: the next one counts
                logger.info("A job's heartbeat could not be written: %s", error)
    finally:
        connection.close()
