"""Periodic jobs: every worker checks for due jobs and digests by itself, so no timetable can be forgotten."""

import random

from django.conf import settings
from django.utils import timezone

from annotate.calibration.commands import reveal_complete_sessions
from annotate.core.files import remove_scratch
from annotate.core.jobs import JOB_KINDS, PeriodicTask, due_jobs, run_job
from annotate.disputes.queries.activity import users_due_for_digest
from annotate.leaderboard.commands import age_out_submissions
from annotate.material.commands.uploads import discard_forgotten, remove_orphans
from annotate.people.sessions import forget_ended_sessions
from annotate.people.sign_in_limits import forget_old_attempts
from annotate.rating.commands.rounds import note_deadlines
from annotate.results.commands import add_up_changes
from annotate.tasks import forget_acts, send_digests

EVERY = 600.0  # seconds
JOBS_EVERY = 3.0  # seconds
JOBS_AT_ONCE = 100


def enqueue_digests() -> None:
    """Send a message if any subscriber of digests has had none today."""
    if users_due_for_digest(timezone.localtime()).exists():
        # Each worker sends this message. An unclaimed one expires before the next, so messages do not pile
        # up.
        send_digests.apply_async(expires=EVERY)


def find_due_jobs() -> list[tuple[str, int]]:
    """Return the jobs that need a message, each as its kind and key."""
    return [
        (name, pk)
        for name, kind in JOB_KINDS.items()
        # Each kind has its own limit: deliveries cannot displace an import.
        for pk in due_jobs(kind).values_list("pk", flat=True)[:JOBS_AT_ONCE]
    ]


def enqueue_jobs() -> None:
    """Send a message for each pending job and each job with a dead worker."""
    due = find_due_jobs()
    random.shuffle(due)  # a job that ends its worker must not always come before all others
    for job in due:
        run_job.apply_async(job, expires=JOBS_EVERY)


class TakeUpJobs(PeriodicTask):
    """Every few seconds sends a message for each due job; an unclaimed message expires."""

    at_start = 0.5
    every = JOBS_EVERY
    acts = (enqueue_jobs,)
    fails = "Waiting jobs could not be looked for"


class RevealSessions(PeriodicTask):
    """Every few seconds reveals the answers of calibration sessions that all members have answered."""

    at_start = 1.0
    every = JOBS_EVERY
    acts = (reveal_complete_sessions,)
    fails = "Calibration sessions could not be revealed"


class SendDueDigests(PeriodicTask):
    """Every ten minutes sends a message if a digest may be due; an unclaimed message expires."""

    at_start = 5.0
    every = EVERY
    acts = (enqueue_digests,)
    fails = "Digests could not be looked for"


class RemoveLeftovers(PeriodicTask):
    """Every ten minutes removes ended sessions, counts that limit nothing, old files and old submissions."""

    at_start = 60.0
    every = EVERY
    acts = (
        *(forget_old_attempts, forget_ended_sessions, discard_forgotten, remove_orphans, remove_scratch),
        age_out_submissions,
    )
    fails = "Old sessions, attempts, uploads and submissions could not be removed"


def enqueue_forgetting() -> None:
    """Send a message to remove old audit log entries, if the operator limits their retention."""
    if settings.AUDIT_DAYS is not None:
        forget_acts.apply_async(expires=EVERY)


class RemoveOldEntries(PeriodicTask):
    """Every ten minutes sends a message to remove audit log entries past the retention period."""

    at_start = 90.0
    every = EVERY
    acts = (enqueue_forgetting,)
    fails = "Old acts could not be removed"


class TellOfDeadlines(PeriodicTask):
    """Every ten minutes creates notices of near deadlines, each once."""

    at_start = 10.0
    every = EVERY
    acts = (note_deadlines,)
    fails = "Deadlines could not be looked for"


class AddUpChanges(PeriodicTask):
    """Every minute sums the changes counted by statements, so that a data version needs few rows."""

    at_start = 20.0
    every = 60.0
    acts = (add_up_changes,)
    fails = "Counts of changes could not be added up"
