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
    *,
    project: Project,
    source: JudgmentSource,
    on_progress: OnProgress | None = None,
    only_good: bool = False,
) -> JudgmentReport:
    """Say what the file (only_good: its good lines) would make; nothing is written and nothing locked."""
    return read_judgments(project, source, on_progress or silent, only_good=only_good).report()


def read_judgments(
    project: Project, source: JudgmentSource, on_progress: OnProgress, *, only_good: bool
) -> "JudgmentReading":
    """Return a reading of the file that only checks; only_good: without the lines that are refused."""
    skip: frozenset[int] = frozenset()
    while True:
        check = JudgmentCheck(project, Catalogue(project), current_guideline(project))
        reading = JudgmentReading(source, check, skip)
        reading.take_all("checking", on_progress)
        if not only_good or reading.stopped or not reading.refused_lines:
            return reading
        # Rows without a number of their own are counted anew, so what is left is checked again.
        skip |= reading.refused_lines


def preview_judgments(*, project: Project, source: JudgmentSource) -> JudgmentPreview:
    """Say what the first records would make, looking up only what they name."""
    catalogue = Catalogue(project, _read_names(source))
    reading = JudgmentReading(source, JudgmentCheck(project, catalogue, current_guideline(project)))
    reading.take_all("checking", silent, limit=CHECKED_RECORDS)
    return JudgmentPreview(reading.report(), reading.first)


class JudgmentReading:
    """One reading of a file, with everything that is refused in it. skip: the lines that are left out."""

    def __init__(
        self, source: JudgmentSource, check: JudgmentCheck, skip: frozenset[int] = frozenset()
    ) -> None:
        self.source, self.check, self.skip = source, check, skip
        self.refused_lines: set[int] = set()
        self.stopped = False
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
                    if record.line not in self.skip:
                        self._take(record)
                self.complete = limit is None or next(records, None) is None
        except UnreadableFileError as error:
            self.stopped = True
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
            left_out=len(self.skip),
            stopped=self.stopped,
        )

    def _take(self, record: Record | RefusedLine) -> None:
        if isinstance(record, RefusedLine):
            self._refuse(record.line, record.field, record.reason)
            return
        try:
            taken = self.check.take(row_of(record, self.source.mapping))
        except RefusedRowError as error:
            self._refuse(record.line, error.field, error.reason, error.name)
        except RefusedFieldError as error:
            self._refuse(record.line, error.field, error.reason)
        else:
            self.first += [taken] if len(self.first) < SHOWN_ROWS else []

    def _refuse(self, line: int, field: str, reason: str, name: str = "") -> None:
        self.refused.add(line, field, reason, name)
        self.refused_lines.add(line)


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
