"""Periodic search for work: a lost message, or a dead worker, costs only time."""

import logging
import random
from typing import Any

from celery import bootsteps
from django.conf import settings

from annotate.core.jobs import PeriodicTask
from judges.routing.commands.certificates import stop_contradicted_judges
from judges.runs.asker import stop_calls
from judges.runs.commands.drift import finish_ended_checks, start_due_checks
from judges.runs.commands.endings import finish_left_undone
from judges.runs.commands.leases import sweep
from judges.runs.queries.runs import runs_with_due_batches, runs_with_open_judgments
from judges.tasks import collect_judgments, forget_replies

EVERY = 5.0  # seconds
SWEEP_EVERY = 15.0  # seconds
FORGET_EVERY = 600.0  # seconds
logger = logging.getLogger(__name__)


def enqueue_runs() -> None:
    """Send a message for each run with judgments to call, or batches that are due, now."""
    runs = [*runs_with_open_judgments(), *runs_with_due_batches()]
    random.shuffle(runs)  # two runs may want the same endpoint, and neither shall always come second
    for run in runs:
        collect_judgments.apply_async((run,), expires=EVERY)


class CollectDueRuns(PeriodicTask):
    """Every few seconds sends a message for each run with work that no worker has claimed.

    A message that no worker takes before the next one expires, so that they do not pile up.
    """

    at_start = 0.5
    every = EVERY
    acts = (enqueue_runs,)
    fails = "Runs could not be looked for"


def free_leases() -> None:
    """Free judgments that no living worker holds, and log their number."""
    if freed := sweep():
        logger.warning("Freed %d judgments that no living worker held.", freed)


class SweepLeases(PeriodicTask):
    """Every few seconds frees leases without a living worker, and finishes runs without remaining work."""

    at_start = 2.0
    every = SWEEP_EVERY
    acts = (free_leases, finish_left_undone)
    fails = "Abandoned leases could not be looked for"


def enqueue_forgetting() -> None:
    """Send a message to remove replies, if the operator limits their storage."""
    if settings.REPLY_DAYS is not None:
        forget_replies.apply_async(expires=FORGET_EVERY)


class RemoveOldReplies(PeriodicTask):
    """Every ten minutes sends a message to remove replies past the operator's retention.

    It sends a message because removing a million replies takes longer than a worker may be silent.
    """

    at_start = 100.0
    every = FORGET_EVERY
    acts = (enqueue_forgetting,)
    fails = "Old replies could not be removed"


class CheckForDrift(PeriodicTask):
    """Every half minute compares the ended checks of judges, and starts the due ones."""

    at_start = 15.0
    every = 30.0
    # In this order: a watch has one check at a time, so an ended one would block the next.
    acts = (finish_ended_checks, start_due_checks)
    fails = "Checks for drift could not be started or compared"


class StopContradictedJudges(PeriodicTask):
    """Every half minute stops the judges of additions that their audits contradict."""

    at_start = 20.0
    every = 30.0
    acts = (stop_contradicted_judges,)
    fails = "Audits of additions could not be checked"


class DrainCalls(bootsteps.StartStopStep):
    """Lets a stopping worker start no more calls, and store the calls in flight before it ends."""

    # Celery stops steps in reverse order, so the pool's threads still run when this one stops.
    requires = ("celery.worker.components:Pool",)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Finish calls in flight before stopping."""
        stop_calls()
