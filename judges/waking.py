"""Workers look for work by themselves: a message that is lost, or a worker that dies, costs only time."""

import random

from django.db import close_old_connections

from annotate.looking import Looking
from judges.queries.batches import batch_runs_to_wake
from judges.queries.runs import runs_to_wake
from judges.tasks import collect_judgments

EVERY = 5.0  # seconds


def wake_workers() -> None:
    """Send a message for each run with judgments that could be asked, or batches that are due, now."""
    close_old_connections()
    runs = [*runs_to_wake(), *batch_runs_to_wake()]
    random.shuffle(runs)  # two runs may want the same endpoint, and neither shall always come second
    for run in runs:
        collect_judgments.apply_async((run,), expires=EVERY)


class LookForWork(Looking):
    """Every few seconds sends a message for each run that has something to be done by nobody yet.

    A message that no worker takes before the next one is sent expires, so that they do not pile up.
    """

    at_start = 0.5
    every = EVERY

    def look(self) -> None:
        """Look once."""
        wake_workers()
