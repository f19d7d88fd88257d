"""Workers look for work by themselves: a message that is lost, or a worker that dies, costs only time."""

import logging
import random
from functools import partial
from typing import Any

from celery import bootsteps
from django.conf import settings

from annotate.core.mails import mail_is_sent
from annotate.core.periodic import PeriodicTask
from annotate.periodic_tasks import Jobs, enqueue_jobs
from judges.alignment.queries.draftings import due_draftings
from judges.alignment.queries.searches import due_searches
from judges.alignment.tasks import advance_search, draft_proposals
from judges.endpoints.steps_worker import due_steps_writings
from judges.runs import slices
from judges.runs.commands.leases import finish_left_undone, sweep
from judges.runs.queries.batches import runs_with_due_batches
from judges.runs.queries.corrections import due_rereadings
from judges.runs.queries.runs import runs_with_open_judgments, untold_runs
from judges.tasks import (
    collect_judgments,
    forget_replies,
    mail_stopped_run,
    read_replies,
    write_evaluation_steps,
)

EVERY = 5.0  # seconds
SWEEP_EVERY = 15.0  # seconds
MAIL_EVERY = 30.0  # seconds
FORGET_EVERY = 600.0  # seconds
logger = logging.getLogger(__name__)


def enqueue_runs() -> None:
    """Send a message for each run with judgments that could be asked, or batches that are due, now."""
    runs = [*runs_with_open_judgments(), *runs_with_due_batches()]
    random.shuffle(runs)  # two runs may want the same endpoint, and neither shall always come second
    for run in runs:
        collect_judgments.apply_async((run,), expires=EVERY)


class CollectDueRuns(PeriodicTask):
    """Every few seconds sends a message for each run that has something to be done by nobody yet.

    A message that no worker takes before the next one is sent expires, so that they do not pile up.
    """

    at_start = 0.5
    every = EVERY
    acts = (enqueue_runs,)
    fails = "Runs could not be looked for"


def free_leases() -> None:
    """Free judgments that no living worker holds, and say in the log how many."""
    if freed := sweep():
        logger.warning("Freed %d judgments that no living worker held.", freed)


class SweepLeases(PeriodicTask):
    """Every few seconds frees what no living worker holds, and finishes runs that nobody could finish."""

    at_start = 2.0
    every = SWEEP_EVERY
    acts = (free_leases, finish_left_undone)
    fails = "Abandoned leases could not be looked for"


def enqueue_stop_mails() -> None:
    """Send a message for each run that stopped without a mail to who planned it."""
    if mail_is_sent():
        for run in untold_runs().values_list("pk", flat=True):
            mail_stopped_run.apply_async((run,), expires=MAIL_EVERY)


class MailStoppedRuns(PeriodicTask):
    """Every half minute sends a message for each mail about a stopped run; one that nobody takes expires."""

    at_start = 3.0
    every = MAIL_EVERY
    acts = (enqueue_stop_mails,)
    fails = "Stopped runs could not be looked for"


JOBS: Jobs = (
    (read_replies, due_rereadings),
    (draft_proposals, due_draftings),
    (advance_search, due_searches),
    (write_evaluation_steps, due_steps_writings),
)


class TakeUpJobsOfJudges(PeriodicTask):
    """Every few seconds sends a message for each rereading, drafting or search that nobody is at."""

    at_start = 0.5
    every = EVERY
    acts = (partial(enqueue_jobs, JOBS),)
    fails = "Waiting jobs of judges could not be looked for"


def enqueue_forgetting() -> None:
    """Send a message to remove replies, where the operator does not keep them for ever."""
    if settings.REPLY_DAYS is not None:
        forget_replies.apply_async(expires=FORGET_EVERY)


class RemoveOldReplies(PeriodicTask):
    """Every ten minutes sends a message to remove replies that the operator keeps no longer.

    A message, since a million of them take longer than a worker may be silent.
    """

    at_start = 100.0
    every = FORGET_EVERY
    acts = (enqueue_forgetting,)
    fails = "Old replies could not be removed"


class DrainCalls(bootsteps.StartStopStep):
    """Lets a worker that has to stop begin no more calls, and store those in flight before it ends."""

    requires = ("celery.worker.components:Pool",)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Wait for calls in flight."""
        slices.drain()
