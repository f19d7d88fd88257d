"""Uploaded files on their way into a project: received, started, run by a worker, discarded."""

import logging
import re
from contextlib import suppress
from datetime import timedelta
from pathlib import PurePosixPath
from time import monotonic, time
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import NotReadyError
from annotate.core.files import JobNotes, changed_at, iter_file_names, keep_file, local_path, scratch
from annotate.core.jobs import JobKind, TakenOverError, own_row, wake_worker
from annotate.core.models import Assignment, DataImport, Project, UploadPreview, User
from annotate.core.models.imports import MATERIAL
from annotate.material.commands.holding import delete_items, remove_written
from annotate.material.commands.imports import WRITINGS, Writing, import_file
from annotate.material.import_kinds import KINDS
from annotate.material.queries.catalogue import BATCH
from annotate.material.queries.check import CHECKS, FileCheck
from annotate.material.queries.imports import (
    FOLDER,
    SILENT_FOR,
    may_start,
    notes_of,
    refused_file_of,
    source_of,
)
from annotate.material.queries.undo import documents_of, explain_no_undo, items_of, unused_systems_of
from annotate.material.reading.mapping_json import mapping_from_json
from annotate.material.reading.opening import GONE, read_opening
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.report import FileReport, ImportReport

Status = DataImport.Status
What = DataImport.What

TELL_SECONDS = 1.0
NOT_MADE = (Status.UPLOADED, Status.REFUSED, Status.STOPPED)
ORPHANED_AFTER = timedelta(hours=1)  # An upload exists as a file before its row is written.
UPLOAD = re.compile(r"[0-9a-f]{32}")
logger = logging.getLogger(__name__)


CANCELLED = gettext_lazy("The import was cancelled and nothing was imported.")
HALF_WRITTEN = gettext_lazy(
    "Some ratings of this file are written and stay. Start the import again to write the others."
)


class _CancelledError(Exception):
    """A user cancelled the import."""


def receive_upload(
    *, project: Project, by: User | None, file: "File[Any]", name: str, kind: str = MATERIAL
) -> DataImport:
    return DataImport.objects.create(
        project=project,
        kind=kind,
        file=file,
        # The end of a long name stays, because its suffix identifies the format.
        name=name[-255:],
        size=file.size,
        created_by=by,
        touched_at=timezone.now(),
    )


def choose_part(*, data_import: DataImport, part: str) -> None:
    """Set the configuration and split to read in a data set's folder; the mapping is guessed again."""
    DataImport.objects.filter(pk=data_import.pk, status__in=(Status.UPLOADED, Status.REFUSED)).update(
        part=part, status=Status.UPLOADED, mapping=None, report=None, touched_at=timezone.now()
    )


@transaction.atomic
def start_upload(
    *, data_import: DataImport, mapping: dict[str, Any], what: str = "", only_good: bool = False
) -> None:
    """Start the import of a file of any kind on a worker. Locks the import's row.

    only_good: omit rejected lines; otherwise one rejected line prevents the whole import.

    Starting again is possible if no worker runs it, or if its worker has gone silent. A silent worker loses
    its lease and writes nothing when it comes back. Raises NotReadyError.
    """
    locked = DataImport.objects.select_for_update().get(pk=data_import.pk)
    if not may_start(locked):
        raise NotReadyError(gettext("A worker is at this import already, or has finished it."))
    # Without a lease `remove_written` relies on the lock of this row, not on a worker's claim.
    locked.lease = None
    if locked.written == DataImport.Written.ITEMS:
        remove_written(locked)
    if locked.written != DataImport.Written.RATINGS:  # else it continues as it began
        locked.mapping, locked.what, locked.only_good, locked.report = mapping, what, only_good, None
    locked.status, locked.progress, locked.touched_at = Status.WAITING, 0.0, timezone.now()
    locked.message, locked.lines, locked.attempts = "", 0, 0
    locked.save(update_fields=_STARTED)
    notes_of(locked).clear()
    wake_worker(IMPORT_JOB, locked.pk)


_STARTED = ["mapping", "what", "only_good", "status", "progress", "touched_at"]
_STARTED += ["report", "message", "lease", "lines", "attempts", "written"]


def cancel_import(*, data_import: DataImport) -> None:
    """Cancel an import: the worker notices within a second or some hundred lines, and nothing is imported.

    A pending import stops immediately. The worker first gets the request by a file, because while it writes
    SQLite lets no other process write. Raises NotReadyError if there is nothing to cancel.
    """
    if not data_import.is_under_way:
        raise NotReadyError(gettext("This import is not running, so there is nothing to cancel."))
    notes_of(data_import).cancel()
    # A pending import has no worker that could notice the request.
    waiting = DataImport.objects.filter(pk=data_import.pk, status=Status.WAITING)
    if waiting.update(status=Status.STOPPED, message=str(CANCELLED), lease=None, touched_at=timezone.now()):
        notes_of(data_import).clear()
    record(data_import.project, "import.cancelled", data_import)


@transaction.atomic
def discard_import(*, data_import: DataImport) -> None:
    """Delete an import that has not been executed, with its file. Locks its row. Raises NotReadyError."""
    locked = DataImport.objects.select_for_update().filter(pk=data_import.pk).first()
    if locked is None:
        return
    if not may_start(locked):
        raise NotReadyError(gettext("An import that is under way or finished cannot be discarded."))
    # Histories of ratings are never deleted, so such an import can only be finished.
    if locked.written == DataImport.Written.RATINGS:
        raise NotReadyError(str(HALF_WRITTEN))
    locked.lease = None
    remove_written(locked)
    locked.delete()
    record(data_import.project, "import.discarded", data_import)
    # A rollback brings back rows, but no files.
    transaction.on_commit(lambda: forget_files(data_import))


@transaction.atomic
def undo_import(*, data_import: DataImport, by: User | None) -> DataImport:
    """Delete the documents, items and systems that an import created. An undone import is returned unchanged.

    Its items' free assignments, parts and tags are deleted too; a system remains while other items use it.
    Locks the project, as importing and planning a run do, the import, then its items' assignments, so that
    none is started in the meantime. Raises NotReadyError.
    """
    lock_project(data_import.project)
    locked = DataImport.objects.select_for_update().get(pk=data_import.pk)
    if locked.status == Status.UNDONE:
        return locked
    if locked.status != Status.IMPORTED or locked.kind != MATERIAL:
        raise NotReadyError(gettext("You can undo only a completed import of documents and items."))
    items = items_of(locked)
    assignments = Assignment.objects.filter(item__in=items).order_by("pk")
    list(assignments.select_for_update().values_list("pk"))  # Evaluated to take the locks.
    if reason := explain_no_undo(locked):
        raise NotReadyError(reason)
    keys = list(items.values_list("pk", flat=True))
    for start in range(0, len(keys), BATCH):
        delete_items(keys[start : start + BATCH])
    documents = documents_of(locked)
    documents._raw_delete(documents.db)
    unused_systems_of(locked).delete()
    locked.status, locked.undone_at, locked.undone_by = Status.UNDONE, timezone.now(), by
    locked.save(update_fields=["status", "undone_at", "undone_by"])
    record(locked.project, "import.undone", locked, before=(locked.report or {}).get("made"), by=by)
    transaction.on_commit(lambda: forget_files(locked))
    return locked


def forget_files(data_import: DataImport) -> None:
    _delete_file(data_import)
    default_storage.delete(refused_file_of(data_import))
    notes_of(data_import).clear()


def _record_heartbeat(data_import: DataImport) -> None:
    # A file first: the import itself locks SQLite while it writes, and no process does later.
    notes_of(data_import).record_heartbeat()
    own_row(data_import).update(touched_at=timezone.now())


def _import(data_import: DataImport) -> None:
    try:
        report = KINDS[data_import.kind].run(data_import, _progress_notes(data_import))
    except _CancelledError as error:
        raise NotReadyError(str(CANCELLED)) from error
    except FileNotFoundError as error:
        raise NotReadyError(
            gettext(
                "The worker does not find the uploaded file. Web servers and workers must share the folder "
                "that "
                "CONCORD_DATA names, or a bucket (CONCORD_FILES_URL); then start the import again."
            )
        ) from error
    # An import that wrote rows noted its end in the same transaction.
    _note_end(data_import, Status.REFUSED if report.is_refused else Status.IMPORTED, report)
    # Another worker may have taken over the import, and still needs its notes.
    if not DataImport.objects.filter(pk=data_import.pk, status__in=SILENT_FOR).exists():
        notes_of(data_import).clear()
    if DataImport.objects.filter(pk=data_import.pk, status=Status.IMPORTED).exists():
        UploadPreview.objects.filter(data_import=data_import).delete()
        _delete_file(data_import)


def import_material(data_import: DataImport, on_progress: OnProgress) -> ImportReport:
    mapping = mapping_from_json(data_import.mapping)
    # Each lease has its own file: a worker that lost its lease may still write to the other one.
    refused = scratch(f"{FOLDER}/{data_import.lease}.refused")
    default_storage.delete(refused_file_of(data_import))
    try:
        return import_file(
            project=data_import.project,
            source=source_of(data_import, mapping, data_import.what),
            by=data_import.created_by,
            on_progress=on_progress,
            data_import=data_import,
            only_good=data_import.only_good,
            refused_to=refused,
            checking=CHECKS.get(data_import.what, FileCheck),
            writing=WRITINGS.get(data_import.what, Writing),
        )
    finally:
        if refused.exists():
            keep_file(refused, refused_file_of(data_import))


def _progress_notes(data_import: DataImport) -> OnProgress:
    """Record progress now and then, and stop if the import was cancelled.

    Recording needs the lease, so nothing is written without it. The end is recorded in the writing
    transaction: no other worker claims written rows. During that transaction, a file records the progress.
    """
    last = 0.0
    notes = notes_of(data_import)

    def on_progress(stage: str, fraction: float, lines: int = 0, report: FileReport | None = None) -> None:
        nonlocal last
        due = monotonic() - last >= TELL_SECONDS
        # Written ratings are never removed, so it is too late to cancel.
        stays = data_import.written == DataImport.Written.RATINGS
        if (due or stage == "written") and notes.is_cancelled and not stays:
            raise _CancelledError
        if stage == "written":
            _touch(data_import, Status.WRITING, 1.0, lines)
            assert report is not None
            _note_end(data_import, Status.IMPORTED, report)
        elif stage == "writing":
            _touch(data_import, Status.WRITING, 1.0, lines)
        elif due and stage == "checking":
            _touch(data_import, Status.CHECKING, fraction, lines)
        elif due:
            notes.note_lines(lines)
        last = monotonic() if due else last

    return on_progress


def _touch(data_import: DataImport, status: str, progress: float, lines: int) -> None:
    now = timezone.now()
    if not own_row(data_import).update(status=status, progress=progress, lines=lines, touched_at=now):
        raise TakenOverError


def _note_end(data_import: DataImport, status: str, report: FileReport) -> None:
    own_row(data_import).update(
        status=status,
        progress=1.0,
        report=report.to_json(),
        message="",
        touched_at=timezone.now(),
        lease=None,
        written=DataImport.Written.NOTHING,
        # The row forgets its file first; `_import` deletes it after the commit.
        **({"file": ""} if status == Status.IMPORTED else {}),
    )


def _note_stop(data_import: DataImport, reason: str) -> None:
    """Remove the items of a stopped upload; one that has written ratings is only finished, never removed."""
    became: dict[str, Any] = {"message": reason, "progress": 0.0, "report": None}
    if data_import.written == DataImport.Written.RATINGS:
        became = {"message": str(HALF_WRITTEN), "progress": 1.0}
    elif data_import.written == DataImport.Written.ITEMS:
        remove_written(data_import)
    if own_row(data_import).update(
        status=Status.STOPPED,
        touched_at=timezone.now(),
        lease=None,
        written=data_import.written,
        **became,
    ):
        notes_of(data_import).clear()


IMPORT_JOB = JobKind(
    "import",
    DataImport,
    _import,
    does="imports an uploaded file",
    statuses={Status.WAITING: Status.CHECKING, Status.WRITING: Status.CHECKING},
    reason="message",
    related=("project", "created_by"),
    may_take=may_start,
    stop=_note_stop,
    beat=_record_heartbeat,
)


@transaction.atomic
def ask_for_preview(*, data_import: DataImport, again: bool = False) -> UploadPreview:
    """Return an upload's preview, which a worker computes.

    A preview of another part of the file is replaced. again: a preview that stopped is replaced too.
    """
    part = data_import.part
    preview, is_new = UploadPreview.objects.get_or_create(data_import=data_import, defaults={"part": part})
    if preview.fits(data_import, again=again):
        if is_new:
            wake_worker(PREVIEW_JOB, preview.pk)
        return preview
    preview.part, preview.status, preview.content, preview.reason = part, UploadPreview.Status.WAITING, "", ""
    preview.lease, preview.attempts, preview.touched_at = None, 0, timezone.now()
    preview.save()
    wake_worker(PREVIEW_JOB, preview.pk)
    return preview


def _read_preview(preview: UploadPreview) -> None:
    upload = preview.data_import
    try:
        path = local_path(upload.file)
    except FileNotFoundError as error:
        raise NotReadyError(gettext(GONE)) from error
    content = read_opening(path, upload.name, preview.part)
    own_row(preview).update(
        status=UploadPreview.Status.READY, content=content, lease=None, touched_at=timezone.now()
    )


PREVIEW_JOB = JobKind(
    "preview",
    UploadPreview,
    _read_preview,
    does="reads the beginning of an uploaded file",
    statuses={UploadPreview.Status.WAITING: UploadPreview.Status.READING},
    related=("data_import",),
)


def discard_forgotten() -> int:
    """Discard uploads that were untouched for the operator's retention time; return their number."""
    long_ago = timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    forgotten = DataImport.objects.filter(touched_at__lt=long_ago, status__in=NOT_MADE)
    discarded = 0
    for each in list(forgotten.select_related("project")):
        with suppress(NotReadyError):  # somebody has just started it
            discard_import(data_import=each)
            logger.info("Discarded upload %s, which nobody had touched since %s", each.pk, each.touched_at)
            discarded += 1
    return discarded


def remove_orphans() -> int:
    """Delete uploads without an import, and notes of imports that are not running; return their number.

    A worker that dies between its last two steps leaves them behind.
    """
    long_ago = time() - ORPHANED_AFTER.total_seconds()
    named = set(DataImport.objects.exclude(file="").values_list("file", flat=True))
    under_way = set(DataImport.objects.filter(status__in=SILENT_FOR).values_list("pk", flat=True))

    def is_orphan(name: str) -> bool:
        path = PurePosixPath(name)
        if UPLOAD.fullmatch(path.name):
            return name not in named
        return path.suffix in JobNotes.SUFFIXES and path.stem.isdecimal() and int(path.stem) not in under_way

    orphans = [
        name for name in iter_file_names(f"{FOLDER}/") if is_orphan(name) and changed_at(name) < long_ago
    ]
    for name in orphans:
        default_storage.delete(name)
    return len(orphans)


def _delete_file(data_import: DataImport) -> None:
    if data_import.file.name:
        data_import.file.storage.delete(data_import.file.name)
