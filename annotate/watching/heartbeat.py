"""Heartbeats of workers, so that a page can report that none runs."""

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from django.db import DatabaseError, connection
from django.utils import timezone

from annotate.core.models import WorkerHeartbeat

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
        connection.close()
