"""One reading of a file of judgments or metrics: its records one by one, and everything that is refused."""

from abc import ABC, abstractmethod
from itertools import islice
from pathlib import Path
from typing import Protocol

from annotate.material.queries.check import TELL_EVERY
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import RecordFile
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.values import RefusedFieldError
from judges.interchange.reading.report import Causes
from judges.interchange.reading.rows import RefusedRowError


class FileSource(Protocol):
    """A file, and the name by which its format is known."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def name(self) -> str:
        """What it was called when it was uploaded."""


class FileReading(ABC):
    """Takes a file's records. skip: the lines that are left out.

    lines: the last one that was read. complete: whether it was the last. stopped: whether the file as a
    whole is refused. empty_rows: how many rows held only separators.
    """

    def __init__(self, file: FileSource, skip: frozenset[int] = frozenset()) -> None:
        self.file, self.skip = file, skip
        self.refused = Causes()
        self.refused_lines: set[int] = set()
        self.lines = 0
        self.empty_rows = 0
        self.complete = True
        self.stopped = False

    @abstractmethod
    def take_record(self, record: Record) -> None:
        """Take what a record holds; a RefusedRowError or a RefusedFieldError says why it is not taken."""

    def take_all(self, stage: str, on_progress: OnProgress, *, limit: int | None = None) -> None:
        """Read the file's records, or the first of them, and take what they hold."""
        try:
            with RecordFile(self.file.path, self.file.name) as file:
                records = iter(file)
                for number, record in enumerate(islice(records, limit)):
                    if number % TELL_EVERY == 0:
                        on_progress(stage, file.fraction_read, number)
                    self.lines = record.line
                    if record.line not in self.skip:
                        self._take(record)
                self.complete = limit is None or next(records, None) is None
                self.empty_rows = file.empty_rows
        except UnreadableFileError as error:
            self.stopped = True
            self.refused.add(error.line, "", error.reason)

    def _take(self, record: Record | RefusedLine) -> None:
        if isinstance(record, RefusedLine):
            self._refuse(record.line, record.field, record.reason)
            return
        try:
            self.take_record(record)
        except RefusedRowError as error:
            self._refuse(record.line, error.field, error.reason, error.name)
        except RefusedFieldError as error:
            self._refuse(record.line, error.field, error.reason)

    def _refuse(self, line: int, field: str, reason: str, name: str = "") -> None:
        self.refused.add(line, field, reason, name)
        self.refused_lines.add(line)
