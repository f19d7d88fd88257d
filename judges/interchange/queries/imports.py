"""What a file of judgments would make of a project: read as an import reads it, but nothing is written."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from annotate.core.files import local_path
from annotate.core.guidelines import current_guideline
from annotate.core.models import DataImport, Project
from annotate.material.queries.catalogue import Catalogue, NamesInFile
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.readers import RecordFile
from annotate.material.reading.rows import Record, UnreadableFileError
from annotate.material.reading.values import RefusedFieldError
from judges.interchange.queries.check import JudgmentCheck, ResolvedJudgment
from judges.interchange.queries.file_reading import FileReading
from judges.interchange.reading.mapping import JudgmentMapping
from judges.interchange.reading.report import JudgmentReport
from judges.interchange.reading.rows import ImportedJudgment, row_of

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
    return JudgmentSource(local_path(data_import.file), data_import.name, mapping)


@dataclass(frozen=True)
class JudgmentPreview:
    """What the first records of a file make, and the first of them as they were read."""

    report: JudgmentReport
    first: Sequence[ResolvedJudgment]


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


class JudgmentReading(FileReading):
    """One reading of a file of judgments; `first` holds what the first records gave."""

    def __init__(
        self, source: JudgmentSource, check: JudgmentCheck, skip: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(source, skip)
        self.mapping, self.check = source.mapping, check
        self.first: list[ResolvedJudgment] = []

    def take_record(self, record: Record) -> None:
        """Take the judgment of a record."""
        taken = self.check.take(row_of(record, self.mapping))
        if len(self.first) < SHOWN_ROWS:
            self.first.append(taken)

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
            empty_rows=self.empty_rows,
        )


def _read_names(source: JudgmentSource) -> NamesInFile:
    """Return what the first records name, read beforehand."""
    named = NamesInFile()
    for row in _first_rows(source):
        named.documents.add(row.document)
        for system in filter(None, (row.system, row.other)):
            named.systems.add(system)
            named.items.add((row.document, system))
    return named


def _first_rows(source: JudgmentSource) -> Iterator[ImportedJudgment]:
    with suppress(UnreadableFileError), RecordFile(source.path, source.name) as file:
        for record in islice(file, CHECKED_RECORDS):
            with suppress(RefusedFieldError):
                if isinstance(record, Record):
                    yield row_of(record, source.mapping)
