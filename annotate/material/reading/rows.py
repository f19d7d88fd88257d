"""What a line of a file becomes: a document, an item, a rating, or a refusal."""

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
    """One line of a file as it is, before a mapping gives its fields a meaning."""

    line: int
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class EmptyRow:
    """A row of separators only: it holds nothing, but whoever counts the file's rows misses it."""

    line: int


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that cannot be imported: where, which field, and why in one sentence.

    name: the refused value. text: the line as it stands where it could not be read at all.
    """

    line: int
    field: str
    reason: str
    text: str = dataclasses.field(default="", compare=False, repr=False)
    name: str = dataclasses.field(default="", compare=False)


LONGEST_VALUE = 80


class _Dots:
    """Replaces a value in a message about many lines, in any format."""

    def __format__(self, _spec: str) -> str:
        return "…"


class LineReason(str):
    """A message about one line. general: the same about many lines; example: the value of this line."""

    general: str
    example: str

    def __new__(cls, sentence: str, general: str, example: str) -> "LineReason":
        """Return the message with its general form."""
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
    """Return the string, cut after the limit."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def printable(text: str, limit: int = 300) -> str:
    """The text as a report can hold it: storable in any database, and not longer than the limit."""
    return shorten(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"), limit)


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A document: its key, its title and its parts as (label, text).

    metadata: the other columns of its row.
    """

    line: int
    document: str
    title: str
    parts: tuple[Part, ...]
    metadata: Metadata = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """A system's text for a document; without parts the document must be there already."""

    line: int
    document: str
    title: str
    parts: tuple[Part, ...]
    system: str
    text: str
    metadata: Metadata = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedRating:
    """A recorded value: who gave it, to which system's text for which document, on which dimension."""

    line: int
    document: str
    system: str
    rater: str
    dimension: str
    value: float
    round: int = 0


Row = ImportedDocument | ImportedItem | ImportedRating
