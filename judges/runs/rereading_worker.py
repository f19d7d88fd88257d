"""Reading stored replies anew as a worker's job: first a preview of what would change, then the change."""

from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

from django.db.models import Q
from django.utils import timezone

from annotate.core.jobs import SILENT_AFTER, TakenOverError, heartbeat, own_row
from judges.core.models import Rereading
from judges.runs.commands.corrections import read_again
from judges.runs.queries.corrections import as_row, judges_of, rereadings_in_batches

Status = Rereading.Status
PREVIEWED_CHANGES = 100
STEPS = {Status.WAITING: Status.READING, Status.CONFIRMED: Status.APPLYING}


def run_rereading(*, rereading: int) -> None:
    """Do what a rereading waits for, or what a worker died at; one that another has taken is left alone.

    A worker that was silent and comes back finds its lease gone and ends. What it has changed stays: reading
    again goes on from there.
    """
    lease = uuid4()
    for waiting, begun in STEPS.items():
        now = timezone.now()
        free = Q(status=waiting) | Q(status=begun, heartbeat_at__lt=now - SILENT_AFTER)
        taken = Rereading.objects.filter(free, pk=rereading)
        if taken.update(status=begun, lease=lease, heartbeat_at=now):
            related = Rereading.objects.select_related("project", "confirmed_by")
            found = related.get(pk=rereading, lease=lease)
            with suppress(TakenOverError), heartbeat(partial(_record_heartbeat, found)):
                _preview_changes(found) if waiting == Status.WAITING else _apply_changes(found)


def _record_heartbeat(rereading: Rereading) -> None:
    own_row(rereading).update(heartbeat_at=timezone.now())


def _preview_changes(rereading: Rereading) -> None:
    first: list[dict[str, Any]] = []
    number = 0
    for batch in rereadings_in_batches(judges_of(rereading)):
        first += [as_row(found) for found in batch[: PREVIEWED_CHANGES - len(first)]]
        number += len(batch)
        _report_progress(rereading)
    _report_progress(rereading, status=Status.PREVIEWED, would_change=number, first_changes=first)


def _apply_changes(rereading: Rereading) -> None:
    before = rereading.changed
    changed = read_again(
        judges=judges_of(rereading),
        by=rereading.confirmed_by,
        report_progress=lambda so_far: _report_progress(rereading, changed=before + so_far),
    )
    _report_progress(rereading, status=Status.APPLIED, changed=before + changed)


def _report_progress(rereading: Rereading, **fields: object) -> None:
    if not own_row(rereading).update(heartbeat_at=timezone.now(), **fields):
        raise TakenOverError
