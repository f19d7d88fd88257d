"""Job that parses stored replies again: first a preview of the changes, then the changes."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.jobs import JobKind, TakenOverError, own_row, wake_worker
from annotate.core.models import Project, User
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judge, Rereading
from judges.runs.commands.corrections import read_again
from judges.runs.queries.corrections import as_row, is_silent, judges_of, rereadings_in_batches

Status = Rereading.Status
PREVIEWED_CHANGES = 100


def start_rereading(*, project: Project, judge: Judge | None, by: User | None) -> Rereading:
    """Start a worker's preview of the changes of stored replies under the present rules."""
    rereading = Rereading.objects.create(
        project=project, judge=judge, created_by=by, touched_at=timezone.now()
    )
    wake_worker(REREADING_JOB, rereading.pk)
    return rereading


@transaction.atomic
def confirm_rereading(*, rereading: Rereading, by: User) -> Rereading:
    """Start the application of the previewed changes. Safe to run twice. Locks its row.

    Raises JudgmentStandsError without a preview.
    """
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if locked.would_change is None and locked.status == Status.STOPPED:
        raise JudgmentStandsError(locked.reason)
    if locked.would_change is None:
        raise JudgmentStandsError(
            gettext("The replies are still being read. Check the preview before you change them.")
        )
    if locked.status in (Status.PREVIEWED, Status.STOPPED):
        locked.confirmed_by = by
        _wait(locked, Status.CONFIRMED)
    wake_worker(REREADING_JOB, locked.pk)
    return locked


@transaction.atomic
def restart_rereading(*, rereading: Rereading) -> Rereading:
    """Let another worker continue after silence or a failure. Locks its row."""
    locked = Rereading.objects.select_for_update().get(pk=rereading.pk)
    if is_silent(locked) or locked.status == Status.STOPPED:
        _wait(locked, Status.WAITING if locked.would_change is None else Status.CONFIRMED)
        wake_worker(REREADING_JOB, locked.pk)
    return locked


def _wait(locked: Rereading, status: str) -> None:
    locked.status, locked.lease, locked.reason, locked.attempts = status, None, "", 0
    locked.touched_at = timezone.now()
    locked.save(update_fields=["status", "lease", "reason", "attempts", "touched_at", "confirmed_by"])


def _read(rereading: Rereading) -> None:
    """Preview or apply. A worker without the lease stops; its changes stay, and another continues."""
    (_preview_changes if rereading.status == Status.READING else _apply_changes)(rereading)


def _preview_changes(rereading: Rereading) -> None:
    first: list[dict[str, Any]] = []
    number = 0
    for batch in rereadings_in_batches(judges_of(rereading)):
        first += [as_row(found) for found in batch[: PREVIEWED_CHANGES - len(first)]]
        number += len(batch)
        _report_progress(rereading)
    _report_progress(rereading, status=Status.PREVIEWED, would_change=number, first_changes=first, lease=None)


def _apply_changes(rereading: Rereading) -> None:
    before = rereading.changed
    changed = read_again(
        judges=judges_of(rereading),
        by=rereading.confirmed_by,
        report_progress=lambda so_far: _report_progress(rereading, changed=before + so_far),
    )
    _report_progress(rereading, status=Status.APPLIED, changed=before + changed, lease=None)


def _report_progress(rereading: Rereading, **fields: object) -> None:
    if not own_row(rereading).update(touched_at=timezone.now(), **fields):
        raise TakenOverError


REREADING_JOB = JobKind(
    "rereading",
    Rereading,
    _read,
    does="reads stored replies again: a preview, then the change",
    statuses={Status.WAITING: Status.READING, Status.CONFIRMED: Status.APPLYING},
    related=("project", "confirmed_by"),
)
