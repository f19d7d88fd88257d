"""Every worker looks by itself whether digests or deliveries are due: no timetable could be forgotten."""

import random
from collections.abc import Callable
from typing import Any

from celery import Task
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotate import tasks
from annotate.core.files import remove_scratch
from annotate.core.periodic import PeriodicTask
from annotate.disputes.commands.nudges import due_nudges
from annotate.disputes.queries.digests import without_digest_today
from annotate.exports.queries import due_exports, due_pushes
from annotate.material.commands.uploads import discard_forgotten, remove_orphans
from annotate.material.queries.imports import due_imports
from annotate.people.attempts import forget_old_attempts
from annotate.people.commands import due_invitations
from annotate.people.notice_mail import due_notices
from annotate.people.sessions import forget_ended_sessions
from annotate.rating.commands.deadlines import note_deadlines
from annotate.results.commands import add_up_changes, due_results
from annotate.tasks import deliver, send_digests
from annotate.watching.seals import seal_entries
from annotate.webhooks.queries import due_deliveries

EVERY = 600.0  # seconds
DELIVERIES_EVERY = 3.0  # seconds
DELIVERIES_AT_ONCE = JOBS_AT_ONCE = 100
JOBS_EVERY = 5.0  # seconds


def enqueue_digests() -> None:
    """Send a message if anyone who asked for digests has had none today."""
    if without_digest_today(timezone.localtime()).exists():
        send_digests.apply_async(expires=EVERY)


Jobs = tuple[tuple["Task[Any, Any]", Callable[[], QuerySet[Any]]], ...]
# What a worker does, and what of it waits for one: each task is safe to run twice.
JOBS: Jobs = (
    (tasks.run_import, due_imports),
    (tasks.run_export, due_exports),
    (tasks.run_push, due_pushes),
    (tasks.compute_result, due_results),
    (tasks.mail_invitation, due_invitations),
    (tasks.mail_nudge, due_nudges),
    (tasks.mail_notice, due_notices),
)


def due_tasks(jobs: Jobs = JOBS) -> list[tuple["Task[Any, Any]", int]]:
    """Return what workers are to be told: each task with the key of its row."""
    return [(task, pk) for task, find in jobs for pk in find().values_list("pk", flat=True)[:JOBS_AT_ONCE]]


def enqueue_jobs(jobs: Jobs = JOBS) -> None:
    """Send a message for each job that waits for a worker, or whose worker died."""
    due = due_tasks(jobs)
    random.shuffle(due)  # a job that ends its worker must not always come before all others
    for task, pk in due:
        task.apply_async((pk,), expires=JOBS_EVERY)


class TakeUpJobs(PeriodicTask):
    """Every few seconds sends a message for each job that nobody is at; one that nobody takes expires."""

    at_start = 0.5
    every = JOBS_EVERY
    acts = (enqueue_jobs,)
    fails = "Waiting jobs could not be looked for"


class SendDueDigests(PeriodicTask):
    """Every ten minutes sends a message if anyone may be due a digest; one that nobody takes expires."""

    at_start = 5.0
    every = EVERY
    acts = (enqueue_digests,)
    fails = "Digests could not be looked for"


class RemoveLeftovers(PeriodicTask):
    """Every ten minutes removes sessions that ended, counts that limit nothing any more, and old files."""

    at_start = 60.0
    every = EVERY
    acts = (forget_old_attempts, forget_ended_sessions, discard_forgotten, remove_orphans, remove_scratch)
    fails = "Old sessions, attempts and uploads could not be removed"


def enqueue_forgetting() -> None:
    """Send a message to remove acts of the audit log, where the operator does not keep them for ever."""
    if settings.AUDIT_DAYS is not None:
        tasks.forget_acts.apply_async(expires=EVERY)


class RemoveOldEntries(PeriodicTask):
    """Every ten minutes sends a message to remove acts that the operator keeps no longer."""

    at_start = 90.0
    every = EVERY
    acts = (enqueue_forgetting,)
    fails = "Old acts could not be removed"


class TellOfDeadlines(PeriodicTask):
    """Every ten minutes writes the notices of deadlines that near, each of which is given once."""

    at_start = 10.0
    every = EVERY
    acts = (note_deadlines,)
    fails = "Deadlines could not be looked for"


class AddUpChanges(PeriodicTask):
    """Every minute adds up what statements counted, so that versions of data are read from few rows."""

    at_start = 20.0
    every = 60.0
    acts = (add_up_changes,)
    fails = "Counts of changes could not be added up"


class SealAuditLog(PeriodicTask):
    """Every minute seals what is new in the audit log."""

    at_start = 30.0
    every = 60.0
    acts = (seal_entries,)
    fails = "The audit log could not be sealed"


def enqueue_deliveries() -> None:
    """Send a message for each delivery to a webhook that is due."""
    for delivery in due_deliveries(timezone.now()).values_list("pk", flat=True)[:DELIVERIES_AT_ONCE]:
        deliver.apply_async((delivery,), expires=DELIVERIES_EVERY)


class SendDueDeliveries(PeriodicTask):
    """Every few seconds sends a message for each delivery that is due; one that nobody takes expires."""

    at_start = 1.0
    every = DELIVERIES_EVERY
    acts = (enqueue_deliveries,)
    fails = "Deliveries could not be looked for"
