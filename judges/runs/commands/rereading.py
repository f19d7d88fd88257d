"""Reading stored replies anew as a worker's job: it looks what would change, and changes it when told to."""

from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import Project, User
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judge, Rereading
from judges.runs.commands.corrections import read_again
from judges.runs.queries.corrections import as_row, is_silent, judges_of, rereadings_in_batches

Status = Rereading.Status
SHOWN = 100  # changes
STEPS = {Status.WAITING: Status.LOOKING, Status.CONFIRMED: Status.APPLYING}


class LeaseLostError(Exception):
    """Another worker was let at it, because this one was silent for too long."""


def start_rereading(*, project: Project, judge: Judge | None, by: User | None) -> Rereading:
    """Let a worker look what the stored replies say by the present rules; the caller tells one."""
    return Rereading.objects.create(project=project, judge=judge, created_by=by, touched_at=timezone.now())


@transaction.atomic
def confirm_rereading(*, rereading: Rereading, by: User) -> Rereading:
    """Let a worker change what it found; the caller tells one. Safe to run twice. Locks its row.

    Raises JudgmentStandsError while nobody has looked yet.
    """
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if locked.status in (Status.WAITING, Status.LOOKING):
        raise JudgmentStandsError(
            gettext("The replies are still being read; look at what would change first.")
        )
    if locked.status == Status.LOOKED:
        locked.status, locked.confirmed_by, locked.touched_at = Status.CONFIRMED, by, timezone.now()
        locked.save(update_fields=["status", "confirmed_by", "touched_at"])
    return locked


@transaction.atomic
def restart_rereading(*, rereading: Rereading) -> Rereading:
    """Let another worker do what one has begun and is silent about; the caller tells one. Locks its row."""
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if is_silent(locked):
        earlier = {after: before for before, after in STEPS.items()}
        locked.status = earlier.get(Status(locked.status), Status(locked.status))
        locked.lease, locked.touched_at = None, timezone.now()
        locked.save(update_fields=["status", "lease", "touched_at"])
    return locked


def run_rereading(*, rereading: int) -> None:
    """Do what a rereading waits for; one that another worker has taken is left alone.

    A worker that was silent and comes back finds its lease gone and ends. What it has changed stays: reading
    again goes on from there.
    """
    lease = uuid4()
    for waiting, begun in STEPS.items():
        taken = Rereading.objects.filter(pk=rereading, status=waiting)
        if taken.update(status=begun, lease=lease, touched_at=timezone.now()):
            found = Rereading.objects.select_related("project", "confirmed_by").get(pk=rereading)
            try:
                _look(found, lease) if waiting == Status.WAITING else _apply(found, lease)
            except LeaseLostError:
                return


def _look(rereading: Rereading, lease: UUID) -> None:
    first: list[dict[str, Any]] = []
    number = 0
    for batch in rereadings_in_batches(judges_of(rereading)):
        first += [as_row(found) for found in batch[: SHOWN - len(first)]]
        number += len(batch)
        _note(rereading, lease)
    _note(rereading, lease, status=Status.LOOKED, would_change=number, first_changes=first)


def _apply(rereading: Rereading, lease: UUID) -> None:
    before = rereading.changed
    changed = read_again(
        judges=judges_of(rereading),
        by=rereading.confirmed_by,
        tell=lambda so_far: _note(rereading, lease, changed=before + so_far),
    )
    _note(rereading, lease, status=Status.APPLIED, changed=before + changed)


def _note(rereading: Rereading, lease: UUID, **fields: object) -> None:
    held = Rereading.objects.filter(pk=rereading.pk, lease=lease)
    if not held.update(touched_at=timezone.now(), **fields):
        raise LeaseLostError
