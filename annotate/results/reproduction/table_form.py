"""A paper's table in the form of a result: published and computed side by side, to be downloaded."""

from collections.abc import Iterator

from annotate.results.reproduction.figures import ComparedTable, FigureComparison, Standing
from annotate.results.table import Cell, Column, Kind, Table, text

SAYS = {
    Standing.WITHIN: "",
    Standing.EXPLAINED: "known difference",
    Standing.DIFFERS: "differs",
    Standing.UNDEFINED: "undefined",
}


def as_result(table: ComparedTable) -> Table:
    """Return three columns for each dimension: the published figure, the computed one, and what to mind."""
    columns = [Column("figure", "figure", Kind.TEXT)]
    for index, dimension in enumerate(table.dimensions):
        decimals = max(len(_decimals(cell)) for row in table.rows.values() if (cell := row[index]))
        columns += [
            Column(f"{dimension}_published", f"{dimension}, published", decimals=decimals),
            Column(f"{dimension}_computed", "computed", decimals=decimals + 1),
            Column(f"{dimension}_note", "note", Kind.TEXT),
        ]
    rows = [
        [text(name), *(each for cell in cells for each in _cells(cell))] for name, cells in table.rows.items()
    ]
    return Table(f"table-{table.name}", table.title, columns, rows)


def _decimals(cell: FigureComparison) -> str:
    return cell.figure.published.partition(".")[2]


def _cells(cell: FigureComparison | None) -> Iterator[Cell]:
    if cell is None:
        yield from (text(""), text(""), text(""))
    else:
        yield Cell(float(cell.figure.published))
        yield Cell(cell.computed, reason=cell.reason if cell.computed is None else "")
        yield text(SAYS[cell.standing])
