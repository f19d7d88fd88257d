"""Repeated checks by every worker. They need no timetable and no message that can be lost."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from celery import bootsteps
from django.db import DatabaseError, close_old_connections

logger = logging.getLogger(__name__)


class PeriodicTask(bootsteps.StartStopStep):
    """A step that every worker runs soon after the start, and then regularly; times in seconds.

    acts: the actions of each run, in this order. fails: the log message if the database or a file was
    unusable. The next run does the remaining actions.
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
        close_old_connections()
        try:
            for act in self.acts:
                act()
        except (DatabaseError, OSError) as error:
            logger.warning("%s: %s", self.fails, error)

    def start(self, parent: Any) -> None:
        parent.timer.call_after(self.at_start, self.run, priority=10)
        self.entry = parent.timer.call_repeatedly(self.every, self.run, priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        if self.entry is not None:
            self.entry.cancel()
