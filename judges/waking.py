"""Workers look for work by themselves: a message that is lost, or a worker that dies, costs only time."""

import random
from typing import Any

from celery import bootsteps
from django.db import close_old_connections

from judges.queries.batches import batch_runs_to_wake
from judges.queries.runs import runs_to_wake
from judges.tasks import collect_judgments

EVERY = 5.0  # seconds
AT_START = 0.5


class LookForWork(bootsteps.StartStopStep):
    """Every few seconds sends a message for each run that has something to be done by nobody yet.

    A message that no worker takes before the next one is sent expires, so that they do not pile up.
    """

    requires = ("celery.worker.components:Timer",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.entry: Any = None

    def start(self, parent: Any) -> None:
        """Begin to look."""
        parent.timer.call_after(AT_START, wake_workers, priority=10)
        self.entry = parent.timer.call_repeatedly(EVERY, wake_workers, priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Look no more."""
        if self.entry is not None:
            self.entry.cancel()


def wake_workers() -> None:
    """Send a message for each run with judgments that could be asked, or batches that are due, now."""
    close_old_connections()
    runs = [*runs_to_wake(), *batch_runs_to_wake()]
    random.shuffle(runs)  # two runs may want the same endpoint, and neither shall always come second
    for run in runs:
        collect_judgments.apply_async((run,), expires=EVERY)
