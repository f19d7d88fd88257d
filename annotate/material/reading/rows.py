"""The results of reading a line of a file: a document, an item, a rating, or a rejection."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Part = tuple[str, str]
Metadata = Mapping[str, Any]
"""JSON values of other columns by name, without blank cells."""


class UnreadableFileError(Exception):
    """The file cannot be read from this line on; nothing of it is imported."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"Line {line:,}: {reason}" if line else reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Record:
    """One unchanged line of a file, before a mapping gives its fields a meaning."""

    line: int
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """A row of separators only: it is empty, but the file's row numbers include it."""

    line: int


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that cannot be imported: its number, the field and the reason.

    name: the rejected value. `text`: the original line if it was unreadable.
    """

    line: int
    field: str
    reason: str
    text: str = dataclasses.field(default="", compare=False, repr=False)
    name: str = dataclasses.field(default="", compare=False)


LONGEST_VALUE = 80


class _Dots:
    # A template may format a value, as in {count:,}, and dots accept every such format.
    def __format__(self, _spec: str) -> str:
        return "…"


class LineReason(str):
    """A message about one line. general: the same about many lines; example: the value of this line."""

    general: str
    example: str

    def __new__(cls, sentence: str, general: str, example: str) -> "LineReason":
        reason = super().__new__(cls, sentence)
        reason.general, reason.example = general, example
        return reason

    @classmethod
    def fill(
        cls, template: str, *, example: object, shared: Mapping[str, object] | None = None, **values: object
    ) -> "LineReason":
        """Fill the template with shared values and the values of this line, which it shortens."""
        cut = {name: shorten(value) if isinstance(value, str) else value for name, value in values.items()}
        general = template.format(**dict.fromkeys(values, _Dots()), **(shared or {}))
        return cls(template.format(**cut, **(shared or {})), general, shorten(str(example)))


def shorten(text: str, limit: int = LONGEST_VALUE) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def printable(text: str, limit: int = 300) -> str:
    """Return a string for a report: storable in any database, and within the length limit."""
    return shorten(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"), limit)


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A document: its key, its title and its parts as (label, content).

    metadata: the other columns of its row.
    """

    line: int
    document: str
    title: str
    parts: tuple[Part, ...]
    metadata: Metadata = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """A system's output for a document; without parts the document must exist already."""

    line: int
    document: str
    title: str
    parts: tuple[Part, ...]
    system: str
    text: str
    metadata: Metadata = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedRating:
    line: int
    document: str
    system: str
    rater: str
    dimension: str
    value: float
    round: int = 0


Row = ImportedDocument | ImportedItem | ImportedRating
