"""Asking a worker to read stored replies anew, and to change what it found."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import Project, User
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judge, Rereading
from judges.runs.queries.corrections import is_silent
from judges.runs.rereading_worker import STEPS
from judges.tasks import read_replies

Status = Rereading.Status


def start_rereading(*, project: Project, judge: Judge | None, by: User | None) -> Rereading:
    """Have a worker preview what the present rules would change in stored replies."""
    rereading = Rereading.objects.create(
        project=project, judge=judge, created_by=by, heartbeat_at=timezone.now()
    )
    _enqueue(rereading)
    return rereading


@transaction.atomic
def confirm_rereading(*, rereading: Rereading, by: User) -> Rereading:
    """Have a worker change what the preview found. Safe to run twice. Locks its row.

    Raises JudgmentStandsError before the preview is there.
    """
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if locked.status in (Status.WAITING, Status.READING):
        raise JudgmentStandsError(
            gettext("The replies are still being read. Check the preview before you change them.")
        )
    if locked.status == Status.PREVIEWED:
        locked.status, locked.confirmed_by, locked.heartbeat_at = Status.CONFIRMED, by, timezone.now()
        locked.save(update_fields=["status", "confirmed_by", "heartbeat_at"])
    _enqueue(locked)
    return locked


@transaction.atomic
def restart_rereading(*, rereading: Rereading) -> Rereading:
    """Have another worker go on where one has been silent for too long. Locks its row."""
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if is_silent(locked):
        earlier = {after: before for before, after in STEPS.items()}
        locked.status = earlier.get(Status(locked.status), Status(locked.status))
        locked.lease, locked.heartbeat_at = None, timezone.now()
        locked.save(update_fields=["status", "lease", "heartbeat_at"])
        _enqueue(locked)
    return locked


def _enqueue(rereading: Rereading) -> None:
    # Robust: without a broker it waits, and its page says so and lets an admin start it again.
    transaction.on_commit(lambda: read_replies.delay(rereading.pk), robust=True)
