"""Preview of an import of judgments: the same checks, without writing."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from annotate.core.guidelines import current_guideline
from annotate.core.models import Project
from annotate.material.queries.catalogue import Catalogue, NamesInFile
from annotate.material.queries.file_reading import FileReading, check_whole_file
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.source import Source
from annotate.material.reading.values import RefusedFieldError
from judges.interchange.queries.check import JudgmentCheck, ResolvedJudgment
from judges.interchange.reading.mapping import JudgmentMapping
from judges.interchange.reading.report import JudgmentReport
from judges.interchange.reading.rows import ImportedJudgment, row_of

CHECKED_RECORDS = 100
SHOWN_ROWS = 8


@dataclass(frozen=True)
class JudgmentPreview:
    """The expected result of a file's first records, and the first of them as parsed."""

    report: JudgmentReport
    first: Sequence[ResolvedJudgment]


def check_judgments(
    *,
    project: Project,
    source: Source[JudgmentMapping],
    on_progress: OnProgress | None = None,
    only_good: bool = False,
) -> JudgmentReport:
    """Return the report of an import (only_good: of its valid lines) without writing or locking."""
    return read_judgments(project, source, on_progress or silent, only_good=only_good).report()


def read_judgments(
    project: Project, source: Source[JudgmentMapping], on_progress: OnProgress, *, only_good: bool
) -> "JudgmentReading":
    """Return a reading of the file that only checks; only_good: skips invalid lines."""

    def read(skip: frozenset[int]) -> JudgmentReading:
        check = JudgmentCheck(project, Catalogue(project), current_guideline(project))
        return JudgmentReading(source, check, skip)

    return check_whole_file(read, on_progress, only_good=only_good)


def preview_judgments(*, project: Project, source: Source[JudgmentMapping]) -> JudgmentPreview:
    """Return the expected result of the first records, with lookups limited to their names."""
    named = NamesInFile()
    for row in _first_rows(source):
        named.documents.add(row.document)
        for system in filter(None, (row.system, row.other)):
            named.systems.add(system)
            named.items.add((row.document, system))
    catalogue = Catalogue(project, named)
    reading = JudgmentReading(source, JudgmentCheck(project, catalogue, current_guideline(project)))
    reading.check(CHECKED_RECORDS, silent)
    return JudgmentPreview(reading.report(), reading.first)


class JudgmentReading(FileReading):
    """One reading of a file of judgments; `first` holds the results of the first records."""

    def __init__(
        self, source: Source[JudgmentMapping], check: JudgmentCheck, skip: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(source, skip=skip)
        self.checked = check
        self.first: list[ResolvedJudgment] = []

    def take(self, record: Record) -> Iterator[RefusedLine]:
        try:
            taken = self.checked.take(row_of(record, self.source.mapping))
        except RefusedFieldError as error:
            yield error.at(record.line)
            return
        if len(self.first) < SHOWN_ROWS:
            self.first.append(taken)

    def report(self) -> JudgmentReport:
        check = self.checked
        return JudgmentReport(
            made=check.made,
            already_there=check.already_there,
            unreadable_count=check.unreadable.count,
            unreadable=check.unreadable.listed,
            **self.facts(),
        )


def _first_rows(source: Source[JudgmentMapping]) -> Iterator[ImportedJudgment]:
    with suppress(UnreadableFileError), source.open() as file:
        for record in islice(file, CHECKED_RECORDS):
            with suppress(RefusedFieldError):
                if isinstance(record, Record):
                    yield row_of(record, source.mapping)
