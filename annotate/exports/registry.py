"""The tables of a project, declared once: exports, imports of exports, data cards and documents read them.

A function yields a table's rows. Its columns are lines of `columns.csv`; each app has one.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from django.db.models import F, QuerySet

from annotate.core.models import Membership, Project, Role

Row = Mapping[str, Any]


class ValueKind(StrEnum):
    """The type of a column.

    LISTED is a list or an object, JSON in flat formats. POINTS are values of scales: integers in a project
    with whole-numbered scales only, else numbers. AMOUNT is money: a string with all digits.
    """

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    POINTS = "points"
    AMOUNT = "amount"
    FLAG = "flag"
    TIME = "time"
    LISTED = "listed"


class ExportPart(StrEnum):
    """A part that an export can leave out."""

    COMMENTS = "comments"
    THREADS = "threads"
    REPLIES = "replies"
    SOURCES = "sources"
    RATERS = "raters"


@dataclass(frozen=True)
class ExportColumn:
    """A column of a table.

    name: a name with `{dimension}` represents a column of each dimension of a project. source: the path from
    the table's model to the value; empty if `rows` computes it. An import of an export copies columns that
    are the model's own fields; code in `restoring` restores the others. part: the part without which the
    column is missing. lost: the reason why an import cannot restore it.
    """

    name: str
    meaning: str = ""
    kind: ValueKind = ValueKind.TEXT
    source: str = ""
    part: ExportPart | None = None
    lost: str = ""

    def fill_dimension(self, key: str) -> "ExportColumn":
        return replace(self, name=self.name.format(dimension=key), meaning=self.meaning.format(dimension=key))


def read_columns(path: Path) -> dict[str, tuple[ExportColumn, ...]]:
    columns: dict[str, tuple[ExportColumn, ...]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            column = ExportColumn(
                name=row["column"],
                meaning=row["meaning"],
                kind=ValueKind(row["kind"] or ValueKind.TEXT),
                source=row["source"],
                part=ExportPart(row["part"]) if row["part"] else None,
                lost=row["lost"],
            )
            columns[row["table"]] = (*columns.get(row["table"], ()), column)
    return columns


COLUMNS = read_columns(Path(__file__).with_name("columns.csv"))


@dataclass(frozen=True)
class ExportTable:
    """A table of the export: its columns in order, and the function that yields its rows for a project.

    rows_without: yields the rows of exports without a part that a column quotes. part: the part to which the
    whole table belongs. lists: the fields of columns that are lists of objects; Parquet stores them as such.
    is_computed: True if the rows follow from other tables. lost: the reason why an import cannot restore the
    rows.
    """

    name: str
    says: str
    columns: tuple[ExportColumn, ...]
    rows: Callable[[Project], Iterable[Row]]
    rows_without: Mapping[ExportPart, Callable[[Project], Iterable[Row]]] = field(default_factory=dict)
    part: ExportPart | None = None
    lists: Mapping[str, Mapping[str, ValueKind]] = field(default_factory=dict)
    is_computed: bool = False
    lost: str = ""

    def for_dimensions(self, keys: Iterable[str]) -> "ExportTable":
        """Return the table with a column per dimension instead of a column declared for all."""
        columns: list[ExportColumn] = []
        # Neighbouring columns stay together: all columns of one dimension, then all of the next.
        for is_for_each, declared in groupby(self.columns, key=lambda column: "{dimension}" in column.name):
            named = list(declared)
            columns += [each.fill_dimension(key) for key in keys for each in named] if is_for_each else named
        return replace(self, columns=tuple(columns))

    @cached_property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @cached_property
    def sources(self) -> dict[str, str]:
        """The paths of the columns that a queryset of the table's model gives."""
        return {column.name: column.source for column in self.columns if column.source}

    @cached_property
    def values(self) -> Callable[[Row], tuple[Any, ...]]:
        """The function that returns the values of a row in the order of the columns."""
        if len(self.names) == 1:  # itemgetter would return the value itself, whose letters a writer takes
            return lambda row: (row[self.names[0]],)
        return itemgetter(*self.names)

    def fields(self, row: Row) -> dict[str, Any]:
        """Return the columns of a row that are fields of the table's model, by the fields' names."""
        return {source: row[name] for name, source in self.sources.items() if "__" not in source}

    def names_of(self, *kinds: ValueKind) -> list[str]:
        return [column.name for column in self.columns if column.kind in kinds]


def own_table(name: str, says: str, rows: Callable[[Project], Iterable[Row]], **more: Any) -> ExportTable:
    """Return a table of annotate, with the columns that `columns.csv` has for it."""
    return ExportTable(name, says, COLUMNS[name], rows, **more)


TABLES: dict[str, ExportTable] = {}


def tables_without(
    left_out: Set[ExportPart], points: ValueKind, dimensions: Sequence[str]
) -> list[ExportTable]:
    """Return the tables and columns of an export without some parts.

    points: the type of scale values. dimensions: their keys in order.
    """

    def kind_of(kind: ValueKind) -> ValueKind:
        return points if kind == ValueKind.POINTS else kind

    found = []
    for table in TABLES.values():
        if table.part in left_out:
            continue
        columns = [each for each in table.for_dimensions(dimensions).columns if each.part not in left_out]
        columns = [replace(each, kind=kind_of(each.kind)) for each in columns]
        # A column may quote a left-out part; then another function yields the rows.
        rows = (table.rows_without[part] for part in left_out & table.rows_without.keys())
        lists = {
            name: {each: kind_of(kind) for each, kind in fields.items()}
            for name, fields in table.lists.items()
        }
        found.append(replace(table, columns=tuple(columns), rows=next(rows, table.rows), lists=lists))
    return found


AT_ONCE = 2000  # rows that a cursor fetches
TEXTS_AT_ONCE = 50  # a document or an item may be a whole book
UNIT = ("document", "system", "dimension")
IN_ORDER = ("assignment__round__number", "assignment__item", "dimension__position")


@dataclass(frozen=True)
class ColumnRows:
    """The rows of a queryset as dictionaries; `columns` has the path of each one."""

    queryset: "QuerySet[Any, Any]"
    columns: Mapping[str, str]
    at_once: int = AT_ONCE

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = tuple(self.columns)
        paths = (F(path) for path in self.columns.values())
        for values in self.queryset.values_list(*paths).iterator(self.at_once):
            yield dict(zip(names, values, strict=True))


def add_actor_names(
    rows: Iterable[dict[str, Any]], project: Project, *, of: str, not_by_raters: Set[str]
) -> Iterator[dict[str, Any]]:
    """Yield rows with a name instead of the user in `by`.

    A rater who is also an admin is "admin" in admin acts. Otherwise the export would identify this rater.
    """
    raters = Membership.objects.filter(project=project, role=Role.ANNOTATOR, user__isnull=False)
    # Users who are no raters have no pseudonym, and appear as "admin".
    names = {membership.user_id: membership.pseudonym for membership in raters}
    for row in rows:
        if row["by"] is not None:
            row["by"] = "admin" if row[of] in not_by_raters else names.get(row["by"], "admin")
        yield row
