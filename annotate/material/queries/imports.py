"""Imports of a project: states, possible actions, and the content of their pages."""

from collections import abc
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.core.files.storage import default_storage
from django.utils import timezone

from annotate.core.files import JobNotes, local_path
from annotate.core.jobs import SILENT_AFTER, WORKER_SHOULD_TAKE
from annotate.core.models import DataImport, Project, UploadPreview
from annotate.core.models.imports import MATERIAL
from annotate.material.import_kinds import KINDS
from annotate.material.queries.check import CHECKS, FileCheck
from annotate.material.reading.mappings import Mapping, rows_of
from annotate.material.reading.opening import SHOWN_RECORDS, Opening, opening_from_json
from annotate.material.reading.progress import silent
from annotate.material.reading.report import FileReport, ImportReport
from annotate.material.reading.rows import (
    ImportedDocument,
    ImportedItem,
    ImportedRating,
    RefusedLine,
)
from annotate.material.reading.source import Source

Status = DataImport.Status
What = DataImport.What

SHOWN_ROWS = 3
AnyMapping = TypeVar("AnyMapping")
CHECKED_RECORDS = 100
FOLDER = "imports"  # Of uploads, and of the notes about them.

# A worker without a heartbeat for this time is gone, and another continues its work.
SILENT_FOR = {Status.WAITING: timedelta(0), Status.CHECKING: SILENT_AFTER, Status.WRITING: SILENT_AFTER}


@dataclass(frozen=True)
class Preview:
    """A preview of the first records: counts, the first items and ratings, and unknown raters.

    new_raters: each with the key of the member chosen for it, None without one. document_metadata,
    item_metadata: the names of columns.
    """

    report: ImportReport
    items: Sequence[ImportedDocument | ImportedItem]
    ratings: Sequence[ImportedRating]
    new_raters: Sequence[tuple[str, int | None]]
    document_metadata: Sequence[str] = ()
    item_metadata: Sequence[str] = ()


@dataclass(frozen=True)
class State:
    data_import: DataImport
    report: FileReport | None
    waits_for_worker: bool
    may_start: bool
    is_silent: bool
    is_cancelled: bool
    lines_written: int
    has_refused_lines: bool

    @property
    def percent(self) -> int:
        return round(100 * self.data_import.progress)

    @property
    def percent_written(self) -> int:
        """Return the written share of the file; ratings are a second reading of it."""
        return min(round(100 * self.lines_written / max(self.data_import.lines, 1)), 100)

    @property
    def may_leave_out(self) -> bool:
        refused = self.data_import.status == Status.REFUSED
        return refused and self.report is not None and self.report.may_leave_out


def imports_of(project: Project, kind: str = MATERIAL) -> list[DataImport]:
    return list(DataImport.objects.filter(project=project, kind=kind).select_related("created_by"))


def opening_of(preview: UploadPreview) -> Opening:
    """Return the start of an uploaded file as a worker stored it, or the reason why there is none."""
    if preview.reason:
        return Opening(problem=RefusedLine(0, "", preview.reason))
    return opening_from_json(preview.content, preview.part)


def is_late(preview: UploadPreview) -> bool:
    """Return True if a preview is pending for too long for a running worker."""
    waits = preview.status == UploadPreview.Status.WAITING
    return waits and timezone.now() - preview.touched_at > WORKER_SHOULD_TAKE


def source_of(
    data_import: DataImport, mapping: AnyMapping, what: str = "", kept: Opening | None = None
) -> Source[AnyMapping]:
    return Source(
        # A preview reads stored records: `local_path` could download a large file from a bucket.
        path=Path() if kept else local_path(data_import.file),
        name=data_import.name,
        mapping=mapping,
        items=what in (What.ITEMS, What.BOTH),
        ratings=what in (What.RATINGS, What.BOTH, What.ANSWERS),
        part=data_import.part,
        kept=kept,
    )


def preview_of(
    data_import: DataImport, opening: Opening, mapping: Mapping, chosen: abc.Mapping[str, Any]
) -> Preview:
    """Return the rows of the first records; the import itself checks the whole file.

    chosen: `what` to import, and `members` (see `ItemAssignments`).
    """
    what, members = chosen["what"], chosen["members"]
    source = source_of(data_import, mapping, what, opening)
    check = CHECKS.get(what, FileCheck)(data_import.project, source, members=members)
    report = check.check(CHECKED_RECORDS, silent)
    rows = [
        row
        for record in opening.records[:SHOWN_RECORDS]
        for row in rows_of(mapping, record, items=source.items, ratings=source.ratings)
    ]
    items = [row for row in rows if isinstance(row, ImportedDocument | ImportedItem)]
    ratings = [row for row in rows if isinstance(row, ImportedRating)]
    new_raters = [*members.items(), *((name, None) for name in check.new_raters)]
    metadata = check.owners.names
    return Preview(report, items[:SHOWN_ROWS], ratings[:SHOWN_ROWS], new_raters, *metadata)


def notes_of(data_import: DataImport) -> JobNotes:
    """Return the messages between page and worker of an import while a transaction locks the database."""
    return JobNotes(FOLDER, data_import.pk)


def refused_file_of(data_import: DataImport) -> str:
    """Return the name of the stored file of rejected lines, if there are any."""
    return f"{FOLDER}/{data_import.pk}.refused"


def may_start(data_import: DataImport) -> bool:
    if data_import.status in SILENT_FOR:
        # A worker that writes to SQLite in one transaction shows by its notes alone that it lives.
        noted_at = datetime.fromtimestamp(notes_of(data_import).noted_at, tz=UTC)
        heard_at = max(data_import.touched_at, noted_at)
        return timezone.now() - heard_at >= SILENT_FOR[Status(data_import.status)]
    return data_import.status not in (Status.IMPORTED, Status.UNDONE)


def state_of(data_import: DataImport) -> State:
    waiting = data_import.status == Status.WAITING
    return State(
        data_import=data_import,
        report=KINDS[data_import.kind].report.from_json(data_import.report) if data_import.report else None,
        waits_for_worker=waiting and timezone.now() - data_import.touched_at > WORKER_SHOULD_TAKE,
        may_start=may_start(data_import),
        is_silent=data_import.status in (Status.CHECKING, Status.WRITING) and may_start(data_import),
        is_cancelled=data_import.is_under_way and notes_of(data_import).is_cancelled,
        lines_written=notes_of(data_import).lines,
        has_refused_lines=default_storage.exists(refused_file_of(data_import)),
    )
