"""Uploaded files on their way into a project: received, started, run by a worker, discarded."""

import json
import logging
import re
from contextlib import suppress
from datetime import timedelta
from pathlib import PurePosixPath
from time import monotonic, time
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError, NotReadyError
from annotate.core.files import changed_at, keep_file, kept_names, scratch
from annotate.core.job_notes import JobNotes
from annotate.core.jobs import GAVE_UP, MAX_ATTEMPTS, TakenOverError, heartbeat, own_row, take
from annotate.core.models import DataImport, Project, User
from annotate.core.models.imports import MATERIAL
from annotate.material.commands.imports import WRITINGS, Writing, import_file
from annotate.material.import_kinds import KINDS, ImportKind, Report
from annotate.material.queries.check import CHECKS, FileCheck
from annotate.material.queries.imports import (
    FOLDER,
    SILENT_FOR,
    may_start,
    notes_of,
    refused_file_of,
    source_of,
)
from annotate.material.reading.mapping_json import mapping_from_json
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.report import ImportReport

Status = DataImport.Status
What = DataImport.What

TELL_SECONDS = 1.0
NOT_MADE = (Status.UPLOADED, Status.REFUSED, Status.STOPPED)
ORPHANED_AFTER = timedelta(hours=1)  # an upload lies there before its row is written
UPLOAD = re.compile(r"[0-9a-f]{32}")
logger = logging.getLogger(__name__)


CANCELLED = "The import was cancelled and nothing was imported."


class _CancelledError(Exception):
    """Someone has asked for the import to stop."""


def receive_upload(
    *, project: Project, by: User | None, file: "File[Any]", name: str, kind: str = MATERIAL
) -> DataImport:
    """Keep an uploaded file until it is imported or discarded."""
    return DataImport.objects.create(
        project=project,
        kind=kind,
        file=file,
        name=name[-255:],
        size=file.size,
        created_by=by,
        touched_at=timezone.now(),
    )


def choose_part(*, data_import: DataImport, part: str) -> None:
    """Say which configuration and split of a data set's folder is read; how it is read is guessed anew."""
    DataImport.objects.filter(pk=data_import.pk, status__in=(Status.UPLOADED, Status.REFUSED)).update(
        part=part, status=Status.UPLOADED, mapping=None, report=None, touched_at=timezone.now()
    )


@transaction.atomic
def start_upload(
    *, data_import: DataImport, mapping: dict[str, Any], what: str = "", only_good: bool = False
) -> None:
    """Let a worker import a file of any kind; the caller tells one after the commit. Locks the import's row.

    only_good: leave refused lines out, where otherwise one refused line is enough to import nothing.

    Starting again is possible whenever no worker is at it, or the one that was has gone silent; that one
    loses its lease and writes nothing when it comes back. Raises NotReadyError.
    """
    locked = DataImport.objects.select_for_update().get(pk=data_import.pk)
    if not may_start(locked):
        raise NotReadyError(gettext("A worker is at this import already, or has finished it."))
    locked.mapping, locked.what, locked.only_good = mapping, what, only_good
    locked.status, locked.progress, locked.touched_at = Status.WAITING, 0.0, timezone.now()
    locked.report, locked.message, locked.lease, locked.lines, locked.attempts = None, "", None, 0, 0
    locked.save(update_fields=_STARTED)
    notes_of(locked).clear()


_STARTED = ["mapping", "what", "only_good", "status", "progress", "touched_at"]
_STARTED += ["report", "message", "lease", "lines", "attempts"]


def cancel_import(*, data_import: DataImport) -> None:
    """Ask the worker to stop: it notices within a second or some hundred lines, and nothing is imported.

    What no worker has taken yet stops at once. A file tells the worker first, because while it writes
    SQLite lets nobody else write. Raises NotReadyError where there is nothing to cancel.
    """
    if not data_import.is_under_way:
        raise NotReadyError(gettext("This import is not running, so there is nothing to cancel."))
    notes_of(data_import).cancel()
    waiting = DataImport.objects.filter(pk=data_import.pk, status=Status.WAITING)
    if waiting.update(status=Status.STOPPED, message=CANCELLED, lease=None, touched_at=timezone.now()):
        notes_of(data_import).clear()
    record(data_import.project, "import.cancelled", data_import)


@transaction.atomic
def discard_import(*, data_import: DataImport) -> None:
    """Forget an import that has not been made, with its file. Locks its row. Raises NotReadyError."""
    locked = DataImport.objects.select_for_update().filter(pk=data_import.pk).first()
    if locked is None:
        return
    if not may_start(locked):
        raise NotReadyError(gettext("An import that is under way or finished cannot be discarded."))
    locked.delete()
    record(data_import.project, "import.discarded", data_import)
    transaction.on_commit(lambda: forget_files(data_import))


def forget_files(data_import: DataImport) -> None:
    """Delete everything that is kept of an import outside the database."""
    _delete_file(data_import)
    default_storage.delete(refused_file_of(data_import))
    notes_of(data_import).clear()


def run_import(*, import_id: int) -> None:
    """Import a file that waits, or whose worker died, and keep what came of it; others are left alone.

    Takes a lease, without which nothing is written: of a file that was started again meanwhile, or discarded,
    nothing comes from this worker.
    """
    data_import = _take(import_id)
    if data_import is None:
        return
    with heartbeat(lambda: _record_heartbeat(data_import)):
        _import_held(data_import)
    if not DataImport.objects.filter(pk=import_id, status__in=SILENT_FOR).exists():
        notes_of(data_import).clear()  # the last heartbeat may have left one behind


def _take(import_id: int) -> DataImport | None:
    lease = uuid4()
    found = DataImport.objects.filter(pk=import_id, status__in=SILENT_FOR).first()
    if found is None or not may_start(found) or not take(found, lease=lease, status=Status.CHECKING):
        return None
    data_import = (
        DataImport.objects.select_related("project", "created_by").filter(pk=import_id, lease=lease).first()
    )
    if data_import is not None and data_import.attempts > MAX_ATTEMPTS:
        _finish(data_import, Status.STOPPED, message=GAVE_UP)
        return None
    return data_import


def _record_heartbeat(data_import: DataImport) -> None:
    # A file first: SQLite is held by the import itself while it writes, and then by nobody else.
    notes_of(data_import).record_heartbeat()
    own_row(data_import).update(touched_at=timezone.now())


def _import_held(data_import: DataImport) -> None:
    try:
        report = KINDS[data_import.kind].run(data_import, _progress_notes(data_import))
    except _CancelledError:
        _finish(data_import, Status.STOPPED, message=CANCELLED)
    except TakenOverError:
        logger.warning("Import %s was taken over while this worker was silent", data_import.pk)
    except DomainError as error:
        _finish(data_import, Status.STOPPED, message=error.message)
    except FileNotFoundError:
        message = (
            "The worker does not find the uploaded file. Web servers and workers must share the folder that "
            "CONCORD_DATA names, or a bucket (CONCORD_FILES_URL); then start the import again."
        )
        _finish(data_import, Status.STOPPED, message=message)
    except (DatabaseError, OSError) as error:
        logger.exception("Import %s stopped", data_import.pk)
        message = f"The import stopped ({type(error).__name__}) and nothing was imported. Start it again."
        _finish(data_import, Status.STOPPED, message=message)
    except Exception:
        message = (
            "An error in Concord stopped the import and nothing was imported. The worker's log says more."
        )
        _finish(data_import, Status.STOPPED, message=message)
        raise
    else:  # what was written has noted its end in the same transaction
        _finish(data_import, Status.REFUSED if report.is_refused else Status.IMPORTED, report=report)
        if DataImport.objects.filter(pk=data_import.pk, status=Status.IMPORTED).exists():
            notes_of(data_import).clear()
            _delete_file(data_import)


def _import_material(data_import: DataImport, on_progress: OnProgress) -> ImportReport:
    mapping = mapping_from_json(json.dumps(data_import.mapping))
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


MATERIAL_KIND = ImportKind(
    key=MATERIAL,
    run=_import_material,
    read_report=ImportReport.from_json,
    page="data_import",
    pages="imports",
)


def _progress_notes(data_import: DataImport) -> OnProgress:
    """Note progress now and then, and stop where the import was cancelled.

    Noting needs the lease, so nothing is written without it. The end is noted in the writing transaction:
    nobody takes over what is written. While that lasts, how far it has come is noted in a file.
    """
    last = 0.0
    notes = notes_of(data_import)

    def on_progress(stage: str, fraction: float, lines: int = 0, report: Report | None = None) -> None:
        nonlocal last
        due = monotonic() - last >= TELL_SECONDS
        if (due or stage == "written") and notes.is_cancelled:
            raise _CancelledError
        if stage == "written":
            _touch(data_import, Status.WRITING, 1.0, lines)
            _note_end(data_import, Status.IMPORTED, report=report)
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


def _finish(data_import: DataImport, status: str, *, report: Report | None = None, message: str = "") -> None:
    if _note_end(data_import, status, report=report, message=message):
        notes_of(data_import).clear()


def _note_end(data_import: DataImport, status: str, *, report: Report | None, message: str = "") -> bool:
    return bool(
        own_row(data_import).update(
            status=status,
            progress=1.0 if report else 0.0,
            report=report.to_json() if report else None,
            message=message,
            touched_at=timezone.now(),
            lease=None,
            **({"file": ""} if status == Status.IMPORTED else {}),
        )
    )


def discard_forgotten() -> int:
    """Discard uploads that nobody has touched for as long as the operator keeps them; return how many."""
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
    """Delete uploads that no import names, and notes of none that is under way; return how many.

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

    orphans = [name for name in kept_names(f"{FOLDER}/") if is_orphan(name) and changed_at(name) < long_ago]
    for name in orphans:
        default_storage.delete(name)
    return len(orphans)


def _delete_file(data_import: DataImport) -> None:
    if data_import.file.name:
        data_import.file.storage.delete(data_import.file.name)
