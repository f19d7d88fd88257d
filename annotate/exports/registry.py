"""The tables of an export: annotate's own, and those that other apps add."""

import csv
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from annotate.core.models import Project

Row = Mapping[str, Any]


class ValueKind(StrEnum):
    """What a column holds; LISTED is a list or an object, which flat formats hold as JSON.

    POINTS are values of scales: integers in a project whose scales have whole numbers only, else numbers.
    """

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    POINTS = "points"
    FLAG = "flag"
    TIME = "time"
    LISTED = "listed"


class ExportPart(StrEnum):
    """What whoever takes an export may leave out of it."""

    COMMENTS = "comments"
    THREADS = "threads"
    REPLIES = "replies"
    SOURCES = "sources"


@dataclass(frozen=True)
class ExportTable:
    """A table of the export: its columns in order, and what yields its rows for a project.

    kinds: of the columns that are no texts. parts: what is gone where a part is left out, by column.
    rows_without: what yields the rows instead where a part is left out, for a column that only quotes it.
    part: the part that the whole table belongs to. lists: of listed columns that are lists of objects, the
    fields of these, so that Parquet has them as such and not as JSON.
    """

    name: str
    says: str
    columns: tuple[str, ...]
    rows: Callable[[Project], Iterable[Row]]
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    parts: Mapping[str, ExportPart] = field(default_factory=dict)
    rows_without: Mapping[ExportPart, Callable[[Project], Iterable[Row]]] = field(default_factory=dict)
    part: ExportPart | None = None
    lists: Mapping[str, Mapping[str, ValueKind]] = field(default_factory=dict)

    @cached_property
    def values(self) -> Callable[[Row], tuple[Any, ...]]:
        """What returns the values of a row in the order of the columns."""
        if (
            len(self.columns) == 1
        ):  # itemgetter would return the value itself, of which a writer takes the letters
            return lambda row: (row[self.columns[0]],)
        return itemgetter(*self.columns)

    def kind(self, column: str) -> ValueKind:
        """Return what a column holds."""
        return self.kinds.get(column, ValueKind.TEXT)


TABLES: dict[str, ExportTable] = {}


@cache
def meanings() -> dict[tuple[str, str], str]:
    """Return what each column means, by table and column, as docs/export.md says it: a test compares them.

    A file of their own, since documents are not installed everywhere.
    """
    with Path(__file__).with_name("columns.csv").open(newline="", encoding="utf-8") as file:
        return {(row["table"], row["column"]): row["meaning"] for row in csv.DictReader(file)}


def tables_without(left_out: Set[ExportPart], points: ValueKind) -> list[ExportTable]:
    """Return the tables and columns that remain when some parts are left out; `points`: what these are."""
    return [
        replace(
            table,
            columns=tuple(name for name in table.columns if table.parts.get(name) not in left_out),
            rows=next(
                (table.rows_without[part] for part in left_out & table.rows_without.keys()), table.rows
            ),
            kinds=_kinds_with(table.kinds, points),
            lists={name: _kinds_with(fields, points) for name, fields in table.lists.items()},
        )
        for table in TABLES.values()
        if table.part not in left_out
    ]


def _kinds_with(kinds: Mapping[str, ValueKind], points: ValueKind) -> dict[str, ValueKind]:
    return {name: points if kind == ValueKind.POINTS else kind for name, kind in kinds.items()}


def kinds(**columns: str) -> dict[str, ValueKind]:
    """Return columns by name from names by kind: `kinds(integer="round value", time="at")`."""
    return {name: ValueKind(kind) for kind, names in columns.items() for name in names.split()}
