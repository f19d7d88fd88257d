"""What a file of judgments would make of a project: read as an import reads it, but nothing is written."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from annotate.core.guidelines import current_guideline
from annotate.core.models import DataImport, Project
from annotate.material.queries.catalogue import Catalogue, Named
from annotate.material.queries.check import TELL_EVERY
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.readers import RecordFile
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.values import RefusedFieldError
from judges.interchange.queries.check import JudgmentCheck, Taken
from judges.interchange.reading.mapping import JudgmentMapping
from judges.interchange.reading.report import Causes, JudgmentReport
from judges.interchange.reading.rows import JudgmentRow, RefusedRowError, row_of

CHECKED_RECORDS = 100
SHOWN_ROWS = 8


@dataclass(frozen=True, slots=True)
class JudgmentSource:
    """A file of judgments and how to read it."""

    path: Path
    name: str
    mapping: JudgmentMapping


def source_of(data_import: DataImport, mapping: JudgmentMapping) -> JudgmentSource:
    """Return what is to be read from an uploaded file, and how."""
    return JudgmentSource(Path(data_import.file.path), data_import.name, mapping)


@dataclass(frozen=True)
class JudgmentPreview:
    """What the first records of a file make, and the first of them as they were read."""

    report: JudgmentReport
    first: Sequence[Taken]


def check_judgments(
    *, project: Project, source: JudgmentSource, on_progress: OnProgress | None = None
) -> JudgmentReport:
    """Say what the file would make; nothing is written and nothing locked."""
    check = JudgmentCheck(project, Catalogue(project), current_guideline(project))
    reading = JudgmentReading(source, check)
    reading.take_all("checking", on_progress or silent)
    return reading.report()


def preview_judgments(*, project: Project, source: JudgmentSource) -> JudgmentPreview:
    """Say what the first records would make, looking up only what they name."""
    catalogue = Catalogue(project, _read_names(source))
    reading = JudgmentReading(source, JudgmentCheck(project, catalogue, current_guideline(project)))
    reading.take_all("checking", silent, limit=CHECKED_RECORDS)
    return JudgmentPreview(reading.report(), reading.first)


class JudgmentReading:
    """One reading of a file, with everything that is refused in it."""

    def __init__(self, source: JudgmentSource, check: JudgmentCheck) -> None:
        self.source, self.check = source, check
        self.refused = Causes()
        self.first: list[Taken] = []
        self.lines = 0
        self.complete = True

    def take_all(self, stage: str, on_progress: OnProgress, *, limit: int | None = None) -> None:
        """Read the file's records, or the first of them, and take what they hold."""
        try:
            with RecordFile(self.source.path, self.source.name) as file:
                records = iter(file)
                for number, record in enumerate(islice(records, limit)):
                    if number % TELL_EVERY == 0:
                        on_progress(stage, file.fraction_read, number)
                    self.lines = record.line
                    self._take(record)
                self.complete = limit is None or next(records, None) is None
        except UnreadableFileError as error:
            self.refused.add(error.line, "", error.reason)

    def report(self) -> JudgmentReport:
        """Sum up what was read."""
        check = self.check
        return JudgmentReport(
            made=check.made,
            already_there=check.already_there,
            unreadable_count=check.unreadable.count,
            unreadable=check.unreadable.listed,
            lines=self.lines,
            complete=self.complete,
            refused_count=self.refused.count,
            refused=self.refused.listed,
        )

    def _take(self, record: Record | RefusedLine) -> None:
        if isinstance(record, RefusedLine):
            self.refused.add(record.line, record.field, record.reason)
            return
        try:
            taken = self.check.take(row_of(record, self.source.mapping))
        except RefusedRowError as error:
            self.refused.add(record.line, error.field, error.reason, error.name)
        except RefusedFieldError as error:
            self.refused.add(record.line, error.field, error.reason)
        else:
            self.first += [taken] if len(self.first) < SHOWN_ROWS else []


def _read_names(source: JudgmentSource) -> Named:
    """Return what the first records name, read beforehand."""
    named = Named()
    for row in _first_rows(source):
        named.documents.add(row.document)
        for system in filter(None, (row.system, row.other)):
            named.systems.add(system)
            named.items.add((row.document, system))
    return named


def _first_rows(source: JudgmentSource) -> Iterator[JudgmentRow]:
    with suppress(UnreadableFileError), RecordFile(source.path, source.name) as file:
        for record in islice(file, CHECKED_RECORDS):
            with suppress(RefusedFieldError):
                if isinstance(record, Record):
                    yield row_of(record, source.mapping)
