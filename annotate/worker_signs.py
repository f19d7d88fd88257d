"""Every worker gives a sign now and then, so that a page can say when there is none."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from django.db import DatabaseError, connection

from annotate.commands.workers import give_sign, take_sign_back

EVERY = 20.0  # seconds
logger = logging.getLogger(__name__)


class GiveSigns(bootsteps.StartStopStep):
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
            _carefully(give_sign, worker)
            if self.over.wait(EVERY):
                return _carefully(take_sign_back, worker)


def _carefully(command: Callable[..., None], worker: str) -> None:
    # A database that is away or busy costs a sign, never the worker.
    try:
        command(worker=worker)
    except DatabaseError as error:
        logger.warning("This worker could not tell that it is there: %s", error)
    finally:
        connection.close()
