"""Heartbeats of workers, and removal of audit log entries past the operator's retention period."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Max
from django.utils import timezone

from annotate.core.models import AuditEntry, AuditRetention, WorkerHeartbeat

AT_ONCE = 1000


def remove_old_entries() -> int:
    """Remove entries that are older than the operator keeps them; return how many.

    The last act of each project stays: by it, results know whether they are still right. A thousand at a
    time, each a transaction.
    """
    if settings.AUDIT_DAYS is None:
        return 0
    removed, before = 0, timezone.now() - timedelta(days=settings.AUDIT_DAYS)
    while batch := _remove_some(before):
        removed += batch
    if removed:
        logger.info("Removed %d entries of the audit log from before %s", removed, before)
    return removed


@transaction.atomic
def _remove_some(before: datetime) -> int:
    # Entries of deleted projects stay: they are the only trace of a deletion.
    of_projects = AuditEntry.objects.filter(project__isnull=False)
    # Exports change no result, so the versions of results do not depend on their entries.
    last = of_projects.exclude(act__startswith="export.").values("project").annotate(last=Max("pk"))
    old = of_projects.filter(at__lt=before).exclude(pk__in=last.values("last"))
    found = list(old.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    if not found:
        return 0
    # The trigger of the log permits to delete entries up to the last `up_to`.
    if not AuditRetention.objects.filter(up_to__gte=found[-1]).exists():
        AuditRetention.objects.create(at=timezone.now(), before=before, up_to=found[-1])
    return AuditEntry.objects.filter(pk__in=found).delete()[0]


# A worker's own records.

FORGOTTEN_AFTER = timedelta(days=7)


def record_heartbeat(*, worker: str) -> None:
    """Record a worker's heartbeat, and remove workers without one for a long time."""
    now = timezone.now()
    WorkerHeartbeat.objects.update_or_create(name=worker[:200], defaults={"seen_at": now})
    WorkerHeartbeat.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def remove_heartbeat(*, worker: str) -> None:
    WorkerHeartbeat.objects.filter(name=worker[:200]).delete()


EVERY = 20.0  # seconds
logger = logging.getLogger(__name__)


class Heartbeat(bootsteps.StartStopStep):
    """Writes heartbeats in a separate thread: a busy database must not block the worker."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.over = Event()
        self.thread: Thread | None = None

    def start(self, parent: Any) -> None:
        self.thread = Thread(target=self._beat, args=(parent.hostname,), daemon=True)
        self.thread.start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        self.over.set()
        if self.thread is not None:
            # The limit keeps a blocked database from delaying the end of the worker.
            self.thread.join(2.0)

    def _beat(self, worker: str) -> None:
        while True:
            _carefully(record_heartbeat, worker)
            if self.over.wait(EVERY):
                return _carefully(remove_heartbeat, worker)


def _carefully(command: Callable[..., None], worker: str) -> None:
    # A database that is away or busy costs a heartbeat, never the worker.
    try:
        command(worker=worker)
    except DatabaseError as error:
        logger.warning("This worker's heartbeat could not be written: %s", error)
    finally:
        # No request ends in this thread, after which Django would close its connection.
        connection.close()
