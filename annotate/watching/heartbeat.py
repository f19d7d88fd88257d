"""Every worker writes a heartbeat, so that a page can say when none runs."""

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from django.db import DatabaseError, connection
from django.utils import timezone

from annotate.core.models import WorkerHeartbeat

# What a worker writes about itself.

FORGOTTEN_AFTER = timedelta(days=7)


def record_heartbeat(*, worker: str) -> None:
    """Write that a worker is there, and forget workers that have been gone for long."""
    now = timezone.now()
    WorkerHeartbeat.objects.update_or_create(name=worker[:200], defaults={"seen_at": now})
    WorkerHeartbeat.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def remove_heartbeat(*, worker: str) -> None:
    """Write that a worker is no longer there."""
    WorkerHeartbeat.objects.filter(name=worker[:200]).delete()


EVERY = 20.0  # seconds
logger = logging.getLogger(__name__)


class Heartbeat(bootsteps.StartStopStep):
    """Writes heartbeats in a thread of its own: a busy database must not make the worker wait."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.over = Event()
        self.thread: Thread | None = None

    def start(self, parent: Any) -> None:
        """Start the thread."""
        self.thread = Thread(target=self._beat, args=(parent.hostname,), daemon=True)
        self.thread.start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """End the thread, which removes its heartbeat."""
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
