"""The tables of an export: annotate's own, and those that other apps add."""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import Any

from annotate.core.models import Project

Row = Mapping[str, Any]


class ValueKind(StrEnum):
    """What a column holds; LISTED is a list or an object, which flat formats hold as JSON."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"
    LISTED = "listed"


class Part(StrEnum):
    """What whoever takes an export may leave out of it."""

    COMMENTS = "comments"
    THREADS = "threads"
    REPLIES = "replies"
    SOURCES = "sources"


@dataclass(frozen=True)
class ExportTable:
    """A table of the export: its columns in order, and what yields its rows for a project.

    kinds: of the columns that are no texts. parts: what is gone where a part is left out, by column.
    part: the part that the whole table belongs to.
    """

    name: str
    says: str
    columns: tuple[str, ...]
    rows: Callable[[Project], Iterable[Row]]
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    part: Part | None = None

    @cached_property
    def values(self) -> Callable[[Row], tuple[Any, ...]]:
        """What returns the values of a row in the order of the columns."""
        return itemgetter(*self.columns)

    def kind(self, column: str) -> ValueKind:
        """Return what a column holds."""
        return self.kinds.get(column, ValueKind.TEXT)


TABLES: dict[str, ExportTable] = {}


def tables_without(left_out: Set[Part]) -> list[ExportTable]:
    """Return the tables and columns that remain when some parts are left out."""
    return [
        replace(table, columns=tuple(name for name in table.columns if table.parts.get(name) not in left_out))
        for table in TABLES.values()
        if table.part not in left_out
    ]


def kinds(**columns: str) -> dict[str, ValueKind]:
    """Return columns by name from names by kind: `kinds(integer="round value", time="at")`."""
    return {name: ValueKind(kind) for kind, names in columns.items() for name in names.split()}
