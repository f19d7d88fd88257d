"""Exports and pushes: requested by people, done by workers; and the datasheet of exports."""

import logging
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from time import monotonic
from typing import Any
from zipfile import ZipFile

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project, refuse_over_quota
from annotate.core.errors import NotReadyError
from annotate.core.files import keep_file, scratch
from annotate.core.jobs import JobKind, TakenOverError, is_silent, own_row, wake_worker
from annotate.core.mails import give_notice
from annotate.core.models import Export, NoticeKind, Project, Push, User
from annotate.core.version import VERSION
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.citation import Datasheet
from annotate.exports.files import SUFFIXES, write_file
from annotate.exports.hub import push_folder, refuse_repository
from annotate.exports.manifest import Manifest
from annotate.exports.queries import FOLDER, choice_of, may_restart, notes_of
from annotate.webhooks.commands import announce
from annotate.webhooks.events import EXPORT_READY

TELL_SECONDS = 1.0
logger = logging.getLogger(__name__)


def note_export(*, project: Project, what: str, format: str) -> None:
    record(project, "export.taken", what, after={"format": format})


@transaction.atomic
def start_export(*, project: Project, choice: ExportChoice, by: User | None) -> Export:
    """Start an export, which a worker writes. Raises NotReadyError over the quota."""
    refuse_over_quota(project)
    export = _create_export(project, choice, by)
    wake_worker(EXPORT_JOB, export.pk)
    return export


def store_export(
    *, project: Project, choice: ExportChoice, name: str, size: int, manifest: Manifest, by: User | None
) -> Export:
    """Store an export of a file that the caller wrote and kept. Belongs into the caller's transaction."""
    export = _create_export(project, choice, by, **_describe_file(manifest, name, size))
    _announce_export(export, manifest)
    return export


def _create_export(project: Project, choice: ExportChoice, by: User | None, **file: Any) -> Export:
    export = Export.objects.create(
        project=project,
        format=choice.format,
        left_out=sorted(choice.left_out),
        licence=choice.licence,
        card=choice.filters().get("card", {}),
        created_by=by,
        touched_at=timezone.now(),
        **file,
    )
    record(project, "export.taken", "everything", after={**choice.filters(), "without": export.left_out})
    return export


def _describe_file(manifest: Manifest, name: str, size: int) -> dict[str, Any]:
    return {
        "status": Export.Status.READY,
        "file": name,
        "size": size,
        "content_hash": manifest.content_hash,
        "concord_version": VERSION,
        "state_at": manifest.state_at,
        "tables": manifest.tables,
    }


def _announce_export(export: Export, manifest: Manifest) -> None:
    facts = {"export": export.pk, "format": export.format, "content_hash": manifest.content_hash}
    announce(export.project_id, EXPORT_READY, facts)


@transaction.atomic
def restart_export(*, export: Export) -> None:
    """Start the export again. Locks its row. Raises NotReadyError.

    A silent worker loses its lease. If it returns, its output is discarded.
    """
    locked = Export.objects.select_for_update().get(pk=export.pk)
    if not may_restart(locked):
        raise NotReadyError(gettext("A worker is at this export already, or has finished it."))
    locked.status, locked.message, locked.lease = Export.Status.WAITING, "", None
    # A person asks for this start, so earlier attempts do not count against the limit.
    locked.touched_at, locked.attempts = timezone.now(), 0
    locked.save(update_fields=["status", "message", "lease", "touched_at", "attempts"])
    wake_worker(EXPORT_JOB, export.pk)


@transaction.atomic
def delete_export(*, export: Export) -> None:
    """Delete an export with its file; a worker that is at it stops. Locks its row."""
    locked = Export.objects.select_for_update().filter(pk=export.pk).first()
    if locked is None:
        return
    # The file goes after the commit: a rollback keeps the row, which then still has its file.
    name, under_way, notes = locked.file.name, locked.status == Export.Status.WRITING, notes_of(locked)
    locked.delete()
    record(export.project, "export.deleted", export, before={"content_hash": export.content_hash})
    transaction.on_commit(lambda: default_storage.delete(name) if name else None)
    # A worker reads the note and stops. It cannot see the deletion, because its snapshot still has the row.
    transaction.on_commit(notes.cancel if under_way else notes.clear)


def _write(export: Export) -> None:
    """Write an export. A worker without the lease discards its output."""
    choice, target, kept = choice_of(export), scratch(_name_of(export)), False
    try:
        manifest = write_file(export.project, choice, target, _progress_notes(export))
        size = target.stat().st_size
        # The file is in the storage before the row names it, so a ready export can always be downloaded.
        keep_file(target, _name_of(export))
        notes_of(export).clear()  # First, so that a ready export has no notes left.
        kept = _keep(export, manifest, size)
    finally:
        if not kept:
            _forget_files_of(export)
            notes_of(export).clear()


def _name_of(export: Export) -> str:
    """Return the file name for the worker with this lease.

    It is not guessable, and the next worker knows it.
    """
    assert export.lease
    return f"{FOLDER}/{export.lease.hex}{SUFFIXES[choice_of(export).format]}"


def _forget_files_of(export: Export) -> None:
    if export.lease:
        default_storage.delete(_name_of(export))
        target = scratch(_name_of(export))
        target.unlink(missing_ok=True)
        for folder in target.parent.glob(f"{target.name}?*"):  # The folder to pack is created next to it.
            rmtree(folder, ignore_errors=True)


@transaction.atomic
def _keep(export: Export, manifest: Manifest, size: int) -> bool:
    became = {**_describe_file(manifest, _name_of(export), size), "lease": None, "touched_at": timezone.now()}
    kept = bool(own_row(export).update(**became))
    if kept:
        _announce_export(export, manifest)
        give_notice(
            project=export.project,
            kind=NoticeKind.EXPORTS,
            about=f"export {export.pk} {export.lease}",  # once for each worker that finishes
            facts={},
            to=User.objects.filter(pk__in=[export.created_by_id or 0]),
            page="exports",
        )
    return kept


def _progress_notes(export: Export) -> Callable[[int], None]:
    """Record the number of written rows now and then, in a file, because the snapshot is read-only."""
    notes, last = notes_of(export), 0.0

    def on_progress(rows: int) -> None:
        nonlocal last
        # Each note is a file, in a bucket a request, so one a second is enough for the page.
        if monotonic() - last >= TELL_SECONDS:
            if notes.is_cancelled:
                raise TakenOverError
            notes.note_lines(rows)
            last = monotonic()

    return on_progress


EXPORT_JOB = JobKind(
    "export",
    Export,
    _write,
    does="writes the file of an export",
    statuses={Export.Status.WAITING: Export.Status.WRITING},
    reason="message",
    related=("project",),
    prepare=_forget_files_of,
)


@transaction.atomic
def save_datasheet(*, project: Project, datasheet: Datasheet, by: User | None) -> Project:
    """Store a project's datasheet for future exports, and return the project. Locks the project."""
    locked = lock_project(project)
    before, locked.datasheet = locked.datasheet, datasheet.to_dict()
    locked.save(update_fields=["datasheet"])
    record(
        locked,
        "project.datasheet_changed",
        locked,
        before={"datasheet": before},
        after={"datasheet": locked.datasheet},
        by=by,
    )
    return locked


@transaction.atomic
def start_push(*, export: Export, repository: str, private: bool, by: User) -> Push:
    """Start a push of an export, again or for the first time; a worker does it.

    Locks the export. Raises NotReadyError unless it is a data set that is ready, and during another push;
    InvalidValueError for an invalid repository name.
    """
    refuse_repository(repository)
    # The export alone: its project is only read, and a lock on it would wait for an import.
    export = Export.objects.select_for_update(of=("self",)).select_related("project").get(pk=export.pk)
    if export.format != Format.HUGGING_FACE or export.status != Export.Status.READY:
        raise NotReadyError(gettext("Only a Hugging Face data set that is ready can be pushed."))
    push, is_new = Push.objects.get_or_create(
        export=export, repository=repository, defaults={"private": private, "created_by": by}
    )
    if not is_new:
        # A silent worker loses its lease: should it come back, it stops after the file that it sends.
        if push.status == Push.Status.PUSHING and not is_silent(push):
            raise NotReadyError(gettext("A worker is already pushing this export."))
        push.status, push.message, push.lease = Push.Status.WAITING, "", None
        push.private, push.created_by = private, by
        push.sent, push.attempts, push.touched_at = 0, 0, timezone.now()
        push.save()
    facts = {"repository": repository, "private": private, "content_hash": export.content_hash}
    record(export.project, "export.pushed", export, after=facts, by=by)
    wake_worker(PUSH_JOB, push.pk)
    return push


def _push(push: Push) -> None:
    def on_progress(sent: int, size: int) -> None:
        # The row shows the progress and also serves as the heartbeat of a long transfer.
        if not own_row(push).update(sent=sent, size=size, touched_at=timezone.now()):
            raise TakenOverError

    unpacked = _folder_of(push)
    # The temporary folder of the host is open to other users, and an export may be confidential.
    unpacked.mkdir(mode=0o700)
    try:
        with push.export.file.open("rb") as file, ZipFile(file) as archive:
            # Concord wrote this archive itself, so no path in it leads out of the folder.
            archive.extractall(unpacked)
        (folder,) = unpacked.iterdir()  # the zip file has one folder, with the project's name
        slug = push.export.project.slug
        url = push_folder(
            folder, push.repository, project=slug, private=push.private, on_progress=on_progress
        )
    finally:
        rmtree(unpacked, ignore_errors=True)
    # If the lease is lost by now, the next worker pushes again. The same bytes make no second commit.
    own_row(push).update(status=Push.Status.PUSHED, url=url, lease=None, touched_at=timezone.now())


def _folder_of(push: Push) -> Path:
    """Return the folder in which the worker with this lease unpacks the export.

    The next worker removes its remains.
    """
    return Path(gettempdir(), f"concord-push-{push.lease}")


PUSH_JOB = JobKind(
    "push",
    Push,
    _push,
    does="pushes a data set to the Hub",
    statuses={Push.Status.WAITING: Push.Status.PUSHING},
    reason="message",
    related=("export__project",),
    prepare=lambda push: rmtree(_folder_of(push), ignore_errors=True),
)
