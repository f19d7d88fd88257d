"""Workers that look for something by themselves, again and again: no timetable and no message can be lost."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from celery import bootsteps
from django.db import DatabaseError, close_old_connections

logger = logging.getLogger(__name__)


class PeriodicTask(bootsteps.StartStopStep):
    """A step of every worker that looks soon after the start, and then regularly; times in seconds."""

    requires = ("celery.worker.components:Timer",)
    at_start: ClassVar[float]
    every: ClassVar[float]

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.entry: Any = None

    def run(self) -> None:
        """Look once."""
        raise NotImplementedError

    def start(self, parent: Any) -> None:
        """Begin to look."""
        parent.timer.call_after(self.at_start, self.run, priority=10)
        self.entry = parent.timer.call_repeatedly(self.every, self.run, priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Look no more."""
        if self.entry is not None:
            self.entry.cancel()


class Upkeep(PeriodicTask):
    """Does something in the database or its files at each look; what cannot be done is done at the next.

    acts: what is done, in this order. fails: what the log says where it could not be.
    """

    acts: ClassVar[Sequence[Callable[[], object]]]
    fails: ClassVar[str]

    def run(self) -> None:
        """Do it once."""
        close_old_connections()
        try:
            for act in self.acts:
                act()
        except (DatabaseError, OSError) as error:
            logger.warning("%s: %s", self.fails, error)
