"""Importing a file: checked as a whole first, then written as a whole or not at all."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotate.core.audit import record
from annotate.core.configuration import holding_project
from annotate.core.database import Row, long_write, step, write_rows, writes_in_steps
from annotate.core.jobs import TakenOverError
from annotate.core.metadata import ordered_metadata
from annotate.core.models import DataImport, Document, Item, Project, Round, System, User
from annotate.core.rendering.texts import choose_format, part_as_json
from annotate.core.rounds import round_one
from annotate.material.commands.assignments import RefusedWhileWritingError
from annotate.material.commands.holding import (
    hold_project,
    keep_lease,
    note_written,
    remove_written,
    write_when_free,
)
from annotate.material.commands.parts import split_written
from annotate.material.commands.ratings import RatingImporter
from annotate.material.queries.catalogue import Catalogue, DocumentRecord, ItemRecord, SystemRecord
from annotate.material.queries.check import FileCheck, refuse_items_after_round_one
from annotate.material.queries.file_reading import check_whole_file
from annotate.material.queries.items import ItemCheck
from annotate.material.queries.metadata import MetadataOwners
from annotate.material.reading.mapping_json import mapping_to_json
from annotate.material.reading.mappings import Mapping
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.readers import size_of
from annotate.material.reading.report import ImportReport
from annotate.material.reading.rows import ImportedDocument, ImportedItem, RefusedLine
from annotate.material.reading.source import Source
from annotate.questions.parts import PARTS
from annotate.rating.commands.rounds import add_assignments, open_round_one
from annotate.rating.queries.plans import items_of_round_one

DOCUMENT = ("project", "key", "title", "parts", "digest", "metadata", "brought_by")
ITEM = ("document", "system", "text", "digest", "metadata", "brought_by", "format")
MOST_ROWS = 1000
# A batch ends at either limit, because a few rows can hold many megabytes.
MOST_CHARACTERS = 4_000_000


class ItemImporter(ItemCheck):
    """Reads row after row and writes new ones. The caller locks the project.

    owners: has read all rows of the file.
    """

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        brought_by: DataImport,
        round: Round | None,
        owners: MetadataOwners,
    ) -> None:
        super().__init__(catalogue)
        self.owners = owners
        self.project, self.brought_by, self.round = project, brought_by, round
        self.wanted_format = str((brought_by.mapping or {}).get("format", ""))
        self._documents: list[tuple[DocumentRecord, Row]] = []
        self._items: list[tuple[ItemRecord, DocumentRecord, Row]] = []
        self._characters = 0

    def flush(self) -> None:
        with step():
            keep_lease(self.brought_by)
            # Documents first, because items of the same batch refer to their keys.
            written = write_rows(Document, DOCUMENT, [row for _, row in self._documents])
            for (known, _), pk in zip(self._documents, written, strict=True):
                known.pk = pk
            items = [(known.pk, *row) for _, known, row in self._items]
            written = write_rows(Item, ITEM, items)
            for (known_item, _, _), pk in zip(self._items, written, strict=True):
                known_item.pk = pk
            # Raters of an open round get the new items as well.
            if self.round and self.round.is_open and self.round.every_item:
                asked = items_of_round_one(self.project).filter(pk__in=written).order_by("pk")
                add_assignments(round=self.round, items=asked.values_list("pk", flat=True))
                if self.project.dimensions.filter(kind=PARTS.key).exists():
                    split_written(written)
        self._documents, self._items, self._characters = [], [], 0

    def new_document(self, digest: bytes, row: ImportedDocument | ImportedItem) -> DocumentRecord:
        known = super().new_document(digest, row)
        parts = json.dumps([part_as_json(label, text, self.wanted_format) for label, text in row.parts])
        metadata = json.dumps(ordered_metadata(self.owners.of_document(row)))
        values = (self.project.pk, row.document, row.title, parts, digest.hex(), metadata, self.brought_by.pk)
        self._documents.append((known, values))
        self._flush_when_full(len(parts) + len(metadata))
        return known

    def new_system(self, name: str) -> SystemRecord:
        known = super().new_system(name)
        with step():
            keep_lease(self.brought_by)
            # Systems are few and written at once, because rows of items contain their keys.
            known.pk = System.objects.create(project=self.project, name=name, brought_by=self.brought_by).pk
        return known

    def new_item(
        self, document: DocumentRecord, system: SystemRecord, digest: bytes, row: ImportedItem
    ) -> ItemRecord:
        """Register an item and prepare it; its document may not be written yet."""
        known = super().new_item(document, system, digest, row)
        format = choose_format(row.text, self.wanted_format)
        own = self.owners.of_item(row, is_new_document=bool(document.line))
        metadata = json.dumps(ordered_metadata(own))
        values = (system.pk, row.text, digest.hex(), metadata, self.brought_by.pk, format)
        self._items.append((known, document, values))
        self._flush_when_full(len(row.text) + len(metadata))
        return known

    def _flush_when_full(self, characters: int) -> None:
        self._characters += characters
        rows = len(self._documents) + len(self._items)
        if rows >= MOST_ROWS or self._characters >= MOST_CHARACTERS:
            self.flush()


What = DataImport.What

# The maximum number of readings of a file with assignments that annotators reserve during the import.
READINGS = 3
ASSIGNMENT_TAKEN = gettext_lazy(
    "Annotators took assignments of this file during the import. Start the import again."
)


def import_file(
    *,
    project: Project,
    source: Source[Mapping],
    by: User | None,
    on_progress: OnProgress = silent,
    data_import: DataImport | None = None,
    only_good: bool = False,
    refused_to: Path | None = None,
    checking: type[FileCheck] = FileCheck,
    writing: "type[Writing] | None" = None,
) -> ImportReport:
    """Import the file if no line of it is rejected. Existing rows are not created again.

    Checks the whole file without a lock. Then locks the project, its annotators' memberships and, for
    ratings, the assignments of Round I, and writes everything in one transaction. Ratings open Round I if it
    is not open. The transaction's last act is to report "written": the callback may still raise, and nothing
    is written.

    SQLite writes an upload in steps instead, and `written` holds the project. An error before the first
    rating removes everything. After it the next worker finishes the import. It finds the written rows there
    already. A rater's own answer takes precedence, and the line with another value is omitted.

    only_good: omit the rejected lines, and the lines that need them. refused_to: a file for them.
    data_import: the import's row; without it, one is created with the written rows, so that it can be undone.
    checking, writing: the readings of both passes if the file's ratings are not for Round I.
    """
    continues = data_import is not None and data_import.written == DataImport.Written.RATINGS
    if data_import and data_import.written == DataImport.Written.ITEMS:
        remove_written(data_import)
    check = check_whole_file(
        # An import with written ratings must finish, so rejected lines are omitted.
        lambda skip: checking(project, source, skip=skip, refused_to=refused_to),
        on_progress,
        only_good=only_good or continues,
    )
    report = check.report()
    if report.is_refused or not (report.made.total or continues):
        return report
    on_progress("writing", 0.0, report.lines)
    # The project may have changed since the check without a lock, so this reading repeats all checks.
    written = (writing or Writing)(project, source, skip=check.skip)
    # Only a reading of the whole file can assign columns to documents or items.
    written.owners = check.owners
    try:
        return written.write(report, data_import, by, on_progress)
    except RefusedWhileWritingError:
        return written.report()


class Writing(FileCheck):
    """A reading of the file that repeats every check, and writes."""

    ratings_are = What.RATINGS

    def write(
        self, checked: ImportReport, data_import: DataImport | None, by: User | None, on_progress: OnProgress
    ) -> ImportReport:
        """Write the rows that the first reading found to be new.

        Raises RefusedWhileWritingError if one no longer is.
        """
        if data_import is None:
            # Without a row that a worker could resume, the import is one transaction, also on SQLite.
            return write_when_free(
                self.project, lambda _project: self._write_at_once(checked, by, on_progress)
            )
        try:
            with long_write():
                return self._write(checked, data_import, by, on_progress)
        # Another worker continues the import and needs the written rows.
        except TakenOverError:
            raise
        except Exception:
            # A transaction rolls back by itself; committed steps do not.
            if writes_in_steps() and data_import.written == DataImport.Written.ITEMS:
                remove_written(data_import)
            raise

    def _write_at_once(self, checked: ImportReport, by: User | None, on_progress: OnProgress) -> ImportReport:
        source = self.source
        what = (What.BOTH if source.items else self.ratings_are) if source.ratings else What.ITEMS
        made = DataImport.objects.create(
            project=self.project,
            name=source.name[-255:],
            size=size_of(source.path),
            mapping=mapping_to_json(source.mapping),
            part=source.part,
            what=what,
            status=DataImport.Status.IMPORTED,
            progress=1.0,
            created_by=by,
            touched_at=timezone.now(),
        )
        report = self._write(checked, made, by, on_progress)
        made.report, made.lines = report.to_json(), report.lines
        made.save(update_fields=["report", "lines"])
        return report

    def _write(
        self, checked: ImportReport, data_import: DataImport, by: User | None, on_progress: OnProgress
    ) -> ImportReport:
        self.data_import = data_import
        self.project = hold_project(data_import, checked)
        with holding_project():
            round = round_one(self.project)
            catalogue = Catalogue(self.project)
            if self.source.items:
                self._write_items(catalogue, round, on_progress)
            if self.source.ratings and checked.made.ratings:
                self.write_ratings(catalogue, by, on_progress)
            if self.refusals.count:
                raise RefusedWhileWritingError
            self.opens_round_one = checked.opens_round_one
            report = self.report()
            if data_import.report and data_import.written == DataImport.Written.RATINGS:
                held = ImportReport.from_json(data_import.report)  # of the first of several workers
                report = replace(report, made=held.made, already_there=held.already_there)
                report = replace(report, opens_round_one=held.opens_round_one)
            with step():
                made = {name: count for name, count in asdict(report.made).items() if count}
                after = {"part": self.source.part, **made}
                record(self.project, "import.made", data_import, after=after, by=by)
                on_progress("written", 1.0, report.lines, report)
            return report

    def _write_items(self, catalogue: Catalogue, round: Round | None, on_progress: OnProgress) -> None:
        self.items = importer = ItemImporter(self.project, catalogue, self.data_import, round, self.owners)
        self.parts = {"items": True, "ratings": False}
        self.refuse_on_error(lambda: self.take_all("writing items", on_progress))
        self.refuse_on_error(lambda: refuse_items_after_round_one(round, importer))
        importer.flush()

    def write_ratings(self, catalogue: Catalogue, by: User | None, on_progress: OnProgress) -> None:
        """Write the new ratings of the file, or nothing if a line of it is now rejected."""
        if self.refusals.count:
            raise RefusedWhileWritingError
        round = round_one(self.project)
        if round is None:
            # Before the first lasting effect: from here on a worker finishes the import, and none removes it.
            self.decide()
            # The plan would give the assignments to annotators, and recorded ratings need free ones.
            round = open_round_one(project=self.project, by=by, as_planned=False)
        self.parts = {"items": False, "ratings": True}
        for left in reversed(range(READINGS)):
            # Each try reads file and assignments again, because annotators reserve some in the meantime.
            self.ratings = importer = RatingImporter(self.project, catalogue, round, by)
            self.refuse_on_error(lambda: self.take_all("writing ratings", on_progress))
            if self.refusals.count:
                raise RefusedWhileWritingError
            try:
                importer.write(lambda: keep_lease(self.data_import), self.decide)
                return
            except RefusedWhileWritingError:
                if not left:
                    self.refusals.add(RefusedLine(0, "", str(ASSIGNMENT_TAKEN)))
                    raise

    def decide(self) -> None:
        if writes_in_steps():
            with step():
                note_written(self.data_import, DataImport.Written.RATINGS)


WRITINGS: dict[str, type[Writing]] = {}
"""How files are written whose ratings are not those of Round I, by what they are imported as."""
