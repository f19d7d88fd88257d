"""The base of all checks of a file: it reads the records and collects the rejected lines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from annotate.material.reading.progress import OnProgress
from annotate.material.reading.refused import RefusedFile
from annotate.material.reading.report import Causes, FileReport
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.source import Source

TELL_EVERY = 200  # records between two reports of progress


class FileReading(ABC):
    """Takes a file's records.

    skip: the lines to omit. refused_to: the file for rejected lines. The other attributes are the attributes
    of a FileReport.
    """

    def __init__(
        self, source: Source[Any], *, skip: frozenset[int] = frozenset(), refused_to: Path | None = None
    ) -> None:
        self.source, self.skip = source, skip
        # A reading that skips lines adds to the rejected lines of the readings before it.
        self.kept = RefusedFile(refused_to, append=bool(skip)) if refused_to else None
        self.refusals = Causes()
        self.refused_lines: set[int] = set()
        self.lines = self.empty_rows = 0
        self.complete, self.stopped = True, False

    @abstractmethod
    def take(self, record: Record) -> Iterable[RefusedLine]:
        """Take a record; return its rejections."""

    @abstractmethod
    def report(self) -> FileReport:
        """Return the report of the lines read."""

    def check(self, limit: int | None, on_progress: OnProgress) -> FileReport:
        with self.kept or nullcontext():
            self.take_all("checking", on_progress, limit)
        return self.report()

    def take_all(self, stage: str, on_progress: OnProgress, limit: int | None = None) -> None:
        try:
            with self.source.open() as file:
                records = iter(file)
                for number, record in enumerate(islice(records, limit)):
                    if number % TELL_EVERY == 0:
                        on_progress(stage, file.fraction_read, number)
                    self.lines = record.line
                    if record.line not in self.skip:
                        self._take(record)
                # With a limit, one more record shows whether the file has more.
                self.complete = limit is None or (file.is_whole and next(records, None) is None)
                self.empty_rows = file.empty_rows
        except UnreadableFileError as error:
            self.stopped = True
            self.refusals.add(RefusedLine(error.line, "", error.reason))

    def _take(self, record: Record | RefusedLine) -> None:
        refused = [record] if isinstance(record, RefusedLine) else list(self.take(record))
        for each in refused:
            self.refusals.add(each)
        if refused:
            self.refused_lines.add(record.line)
            if self.kept:
                self.kept.add(record, refused)

    def facts(self) -> dict[str, Any]:
        return {
            "lines": self.lines,
            "complete": self.complete,
            "refused_count": self.refusals.count,
            "refused": self.refusals.listed,
            "left_out": len(self.skip),
            "stopped": self.stopped,
            "empty_rows": self.empty_rows,
        }


Checked = TypeVar("Checked", bound=FileReading)


def check_whole_file(
    read: Callable[[frozenset[int]], Checked], on_progress: OnProgress, *, only_good: bool
) -> Checked:
    """Return a reading that checks the whole file; only_good: without the rejected lines.

    read: creates a reading that skips some lines. A line may need a rejected one, so the rest is checked
    again.
    """
    skip: frozenset[int] = frozenset()
    while True:
        reading = read(skip)
        reading.check(None, on_progress)
        if not only_good or reading.stopped or not reading.refused_lines:
            return reading
        # Every turn skips at least one more line, so the loop ends.
        skip |= reading.refused_lines
