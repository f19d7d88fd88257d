"""Every worker gives a sign now and then, so that a page can say when there is none."""

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from django.db import DatabaseError, connection
from django.utils import timezone

from annotate.core.models import WorkerSign

# What a worker tells of itself.

FORGOTTEN_AFTER = timedelta(days=7)


def record_heartbeat(*, worker: str) -> None:
    """Write that a worker is there, and forget workers that have been gone for long."""
    now = timezone.now()
    WorkerSign.objects.update_or_create(name=worker[:200], defaults={"seen_at": now})
    WorkerSign.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def remove_heartbeat(*, worker: str) -> None:
    """Write that a worker is no longer there."""
    WorkerSign.objects.filter(name=worker[:200]).delete()


EVERY = 20.0  # seconds
logger = logging.getLogger(__name__)


class Heartbeat(bootsteps.StartStopStep):
    """Gives signs from a thread of its own: the database may be busy for long, the worker must not wait."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.over = Event()
        self.thread: Thread | None = None

    def start(self, parent: Any) -> None:
        """Begin to give signs."""
        self.thread = Thread(target=self._give_signs, args=(parent.hostname,), daemon=True)
        self.thread.start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Give no more, and take back what was given."""
        self.over.set()
        if self.thread is not None:
            self.thread.join(2.0)

    def _give_signs(self, worker: str) -> None:
        while True:
            _carefully(record_heartbeat, worker)
            if self.over.wait(EVERY):
                return _carefully(remove_heartbeat, worker)


def _carefully(command: Callable[..., None], worker: str) -> None:
    # A database that is away or busy costs a sign, never the worker.
    try:
        command(worker=worker)
    except DatabaseError as error:
        logger.warning("This worker could not tell that it is there: %s", error)
    finally:
        connection.close()
