"""Workers that look for something by themselves, again and again: no timetable and no message can be lost."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from celery import bootsteps
from django.db import DatabaseError, close_old_connections

logger = logging.getLogger(__name__)


class PeriodicTask(bootsteps.StartStopStep):
    """A step of every worker that looks soon after the start, and then regularly; times in seconds.

    acts: what is done at each look, in this order. fails: what the log says where the database or a file
    could not be used; what was not done is done at the next look.
    """

    requires = ("celery.worker.components:Timer",)
    at_start: ClassVar[float]
    every: ClassVar[float]
    acts: ClassVar[Sequence[Callable[[], object]]]
    fails: ClassVar[str]

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.entry: Any = None

    def run(self) -> None:
        """Look once."""
        close_old_connections()
        try:
            for act in self.acts:
                act()
        except (DatabaseError, OSError) as error:
            logger.warning("%s: %s", self.fails, error)

    def start(self, parent: Any) -> None:
        """Begin to look."""
        parent.timer.call_after(self.at_start, self.run, priority=10)
        self.entry = parent.timer.call_repeatedly(self.every, self.run, priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Look no more."""
        if self.entry is not None:
            self.entry.cancel()
