"""Published values compared with computed ones: equal ones, different ones, and the reasons."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from annotate.results.table import Cell, Column, ColumnKind, Table, text

Key = tuple[str, ...]  # a value's quantity, dimension and other labels, in the order of its file's columns
Computed = Mapping[Key, float | None]

ROUNDING = 1e-9  # of binary fractions: 3.145 is as near to 3.14 as to 3.15
SIX_DECIMALS = 5.1e-7


class FigureMatch(StrEnum):
    WITHIN = "within"
    EXPLAINED = "explained"
    DIFFERS = "differs"
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class Figure:
    """A value as printed in a paper.

    labels: its labels in addition to quantity and dimension, by name. release_gives: if the release is known
    to give another value, this value to six decimals, and the reason.
    """

    table: str
    quantity: str
    dimension: str
    labels: Mapping[str, str]
    published: str
    release_gives: float | None = None
    reason: str = ""

    @property
    def key(self) -> Key:
        return (self.quantity, self.dimension, *self.labels.values())

    @property
    def row(self) -> str:
        return " ".join(label for label in self.labels.values() if label)

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed decimal: the maximum effect of rounding."""
        _, _, decimals = self.published.partition(".")
        return 0.5 * math.pow(10, -len(decimals))


@dataclass(frozen=True)
class FigureComparison:
    figure: Figure
    computed: float | None
    standing: FigureMatch
    reason: str

    def to_dict(self) -> dict[str, Any]:
        figure = self.figure
        return {
            "table": figure.table,
            "quantity": figure.quantity,
            "dimension": figure.dimension,
            **figure.labels,
            "published": float(figure.published),
            "computed": self.computed,
            "tolerance": figure.tolerance,
            "standing": self.standing.value,
            "reason": self.reason or None,
        }


@dataclass(frozen=True)
class ComparedTable:
    """A paper's table: a row for each set of labels, with a cell for each dimension or nothing."""

    name: str
    holds: str
    dimensions: Sequence[str]
    rows: Mapping[str, Sequence[FigureComparison | None]]

    @property
    def title(self) -> str:
        return f"Table {self.name}: {self.holds}"


def read_figures(path: Path) -> list[Figure]:
    """Return the values of a file; its columns between dimension and published are labels."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        columns = list(rows.fieldnames or ())
        labels = columns[columns.index("dimension") + 1 : columns.index("published")]
        return [
            Figure(
                table=row["table"],
                quantity=row["quantity"],
                dimension=row["dimension"],
                labels={name: row[name] for name in labels},
                published=row["published"],
                release_gives=float(row["release_gives"]) if row["release_gives"] else None,
                reason=row["reason"],
            )
            for row in rows
        ]


def compare(figure: Figure, computed: float | None, reasons: Mapping[str, str]) -> FigureComparison:
    """Compare a computed value with the published one; reasons: the message for each known difference."""
    if computed is None:
        return FigureComparison(figure, None, FigureMatch.UNDEFINED, "It is undefined on the imported data.")
    apart = abs(computed - float(figure.published))
    if apart <= figure.tolerance + ROUNDING:
        return FigureComparison(figure, computed, FigureMatch.WITHIN, "")
    if figure.release_gives is not None and abs(computed - figure.release_gives) <= SIX_DECIMALS:
        return FigureComparison(figure, computed, FigureMatch.EXPLAINED, reasons[figure.reason])
    return FigureComparison(
        figure, computed, FigureMatch.DIFFERS, f"It differs from the published value by {apart:.6f}."
    )


def tables_of(compared: Sequence[FigureComparison], holds: Mapping[str, str]) -> list[ComparedTable]:
    """Return the values as their published tables, in published order; holds: the content of each."""
    by_table: dict[str, list[FigureComparison]] = {}
    for each in compared:
        by_table.setdefault(each.figure.table, []).append(each)
    return [_table(name, holds[name], found) for name, found in by_table.items()]


def _table(name: str, holds: str, found: Sequence[FigureComparison]) -> ComparedTable:
    dimensions = list(dict.fromkeys(each.figure.dimension for each in found))
    rows: dict[str, dict[str, FigureComparison]] = {}
    for each in found:
        rows.setdefault(each.figure.row, {})[each.figure.dimension] = each
    cells = {row: [given.get(dimension) for dimension in dimensions] for row, given in rows.items()}
    return ComparedTable(name, holds, dimensions, cells)


SAYS = {
    FigureMatch.WITHIN: "",
    FigureMatch.EXPLAINED: "known difference",
    FigureMatch.DIFFERS: "differs",
    FigureMatch.UNDEFINED: "undefined",
}


def build_result_table(table: ComparedTable) -> Table:
    """Return three columns for each dimension: the published value, the computed one, and the note."""
    columns = [Column("figure", "figure", ColumnKind.TEXT)]
    for index, dimension in enumerate(table.dimensions):
        decimals = max(
            len(cell.figure.published.partition(".")[2])
            for row in table.rows.values()
            if (cell := row[index])
        )
        columns += [
            Column(f"{dimension}_published", f"{dimension}, published", decimals=decimals),
            Column(f"{dimension}_computed", "computed", decimals=decimals + 1),
            Column(f"{dimension}_note", "note", ColumnKind.TEXT),
        ]
    rows = [
        [text(name), *(each for cell in cells for each in _cells(cell))] for name, cells in table.rows.items()
    ]
    return Table(f"table-{table.name}", table.title, columns, rows)


def _cells(cell: FigureComparison | None) -> Iterator[Cell]:
    if cell is None:
        yield from (text(""), text(""), text(""))
    else:
        yield Cell(float(cell.figure.published))
        yield Cell(cell.computed, reason=cell.reason if cell.computed is None else "")
        yield text(SAYS[cell.standing])
