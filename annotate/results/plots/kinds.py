"""What draws each kind of plot from its table."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotate.core.translation import gettext
from annotate.results.plots.pairs import calibration, curve, curves, movement, quality, scatter, widths
from annotate.results.plots.said import describe_row, figure_of
from annotate.results.plots.style import (
    INK,
    LINE,
    MARKERS,
    SEQUENCE,
    SERIES,
    SOFT,
    equalize_ranges,
    name_point,
    panel,
    panels,
    row_height,
    wrap_label,
)
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import number

ROW = 0.26  # inches
NUMBERED_SHARE = 0.05  # narrower parts of a bar have no room for their number


def intervals(table: Table) -> Figure:
    """Draw figures as dots with their intervals: up to three columns together, more side by side."""
    columns = list(enumerate(table.columns))[table.heads :]
    row = row_height((wrap_label(row[0].value) for row in table.rows), ROW)
    height = 0.8 + row * len(table.rows) * (1.5 if len(columns) <= len(SERIES) else 1)
    if len(columns) <= len(SERIES):
        figure, axes = panel(height)
        for series, (index, _) in enumerate(columns):
            _dots(axes, table, index, series, (series - (len(columns) - 1) / 2) * 0.28)
        _rows(axes, table)
        shown = columns[0][1].name if len(columns) == 1 else table.title
        _title_axes(axes, wrap_label(shown, 60), table.columns[0].name)
        if len(columns) > 1:
            figure.legend(loc="outside lower center", ncols=len(columns))
        return figure
    height += row_height((wrap_label(column.name, 16) for _, column in columns), 0)
    figure, listed = panels(len(columns), height, across=4, share_y=True)
    for axes, (index, column) in zip(listed, columns, strict=True):
        _dots(axes, table, index)
        axes.set_title(wrap_label(column.name, 16))
        _rows(axes, table)
    equalize_ranges(listed, "x")
    _title_panels(figure, wrap_label(table.title, 60), table.columns[0].name)
    return figure


def _dots(axes: Axes, table: Table, index: int, series: int = 0, shift: float = 0) -> None:
    """Draw a column's figures, each on its row and `shift` beside it."""
    column, colour = table.columns[index], SERIES[series]
    label = column.name
    for place, row in enumerate(table.rows):
        cell = row[index]
        if not isinstance(cell.value, int | float):
            continue
        if cell.low is not None and cell.high is not None:
            axes.plot([cell.low, cell.high], [place + shift] * 2, color=colour, linewidth=1.4)
        (dot,) = axes.plot(
            cell.value, place + shift, MARKERS[series], color=colour, markersize=4.5, label=label
        )
        heads = ", ".join(str(head.value) for head in row[: table.heads])
        name_point(dot, f"{heads}: {figure_of(cell, column)}")
        label = ""  # the legend names a column once


def _rows(axes: Axes, table: Table) -> None:
    """Name the rows, the first on top."""
    axes.set_yticks(range(len(table.rows)), [wrap_label(row[0].value) for row in table.rows])
    axes.set_ylim(len(table.rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def distribution(table: Table) -> Figure:
    """Draw the share of each value among all ratings of a dimension, as one bar."""
    columns = [(index, each) for index, each in enumerate(table.columns) if each.kind is ColumnKind.COUNT]
    rows = [row for row in table.rows if row[1].value == "all"]
    figure, axes = panel(0.9 + row_height((wrap_label(row[0].value) for row in rows), 0.34) * len(rows))
    colours = colormaps[SEQUENCE](np.linspace(0.08, 0.98, max(len(columns), 2)))
    counts = np.array([[_count(row[index]) for index, _ in columns] for row in rows], dtype=float)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    starts = np.cumsum(shares, axis=1) - shares
    for place, (_, column) in enumerate(columns):
        share, left, colour = shares[:, place], starts[:, place], colours[place]
        axes.barh(range(len(rows)), share, left=left, height=0.72, color=colour, label=column.name)
        for row in np.flatnonzero(share >= NUMBERED_SHARE).tolist():
            _write_in_cell(axes, left[row] + share[row] / 2, row, f"{counts[row, place]:.0f}", colour)
    axes.set_yticks(range(len(rows)), [wrap_label(row[0].value) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    _title_axes(axes, gettext("share of all ratings"), table.columns[0].name)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=min(len(columns), 12))
    return figure


def heat(table: Table) -> Figure:
    """Draw figures as a map of coloured cells with their numbers; hatched where undefined."""
    columns = table.columns[table.heads :]
    values = np.array([[_number(cell) for cell in row[table.heads :]] for row in table.rows], dtype=float)
    row_inches = row_height((wrap_label(row[0].value) for row in table.rows), ROW)
    names = [wrap_label(each.name, 16) for each in columns]
    figure, axes = panel(0.8 + row_height(names, 0.2) + row_inches * len(table.rows))
    low = min(0.0, float(np.nanmin(values, initial=0)))
    colours = colormaps[SEQUENCE]
    axes.set_facecolor("none")
    for row, column in np.ndindex(values.shape):
        value = float(values[row, column])
        if np.isnan(value):
            _fill_cell(axes, column, row, facecolor="none", hatch="////", edgecolor=LINE)
        else:
            colour = colours((value - low) / (1 - low))
            _fill_cell(axes, column, row, facecolor=colour, edgecolor=colour)
            _write_in_cell(axes, column, row, number(value, Column("", "", decimals=2)), colour)
    axes.set_xticks(range(len(columns)), names, rotation=30, ha="left")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    _title_axes(axes, wrap_label(table.title, 60), table.columns[0].name)
    axes.set_yticks(range(len(table.rows)), [wrap_label(row[0].value) for row in table.rows])
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


def _fill_cell(axes: Axes, column: int, row: int, **how: Any) -> None:
    axes.fill_between([column - 0.5, column + 0.5], row - 0.5, row + 0.5, linewidth=0, **how)


def _write_in_cell(axes: Axes, x: float, y: float, words: str, ground: Any) -> None:
    axes.text(x, y, words, ha="center", va="center", color=_on(ground), fontsize=7.5)


def box(table: Table) -> Figure:
    """Draw least, quartiles and largest of every system, a panel for each dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    systems = list(dict.fromkeys(str(row[1].value) for row in table.rows))
    row_inches = row_height(map(wrap_label, systems), 0.22)
    figure, listed = panels(len(names), 0.7 + row_inches * len(systems), across=4, share_y=True)
    for axes, name in zip(listed, names, strict=True):
        own = [row for row in table.rows if row[0].value == name]
        for place, row in enumerate(own):
            if row[2].value is None:
                continue
            least, first, median, third, largest = (_number(cell) for cell in row[2:7])
            axes.plot([least, largest], [place, place], color=SOFT, linewidth=1)
            (middle,) = axes.barh(place, third - first, left=first, height=0.6, color=SERIES[0], alpha=0.45)
            name_point(middle, describe_row(table, row))
            axes.plot([median, median], [place - 0.38, place + 0.38], color=INK, linewidth=1.8)
        axes.set_title(wrap_label(name, 16))
        axes.set_yticks(range(len(systems)), [wrap_label(each) for each in systems])
        axes.set_ylim(len(systems) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
    equalize_ranges(listed, "x")
    _title_panels(figure, gettext("least, quartiles and largest"), table.columns[1].name)
    return figure


def _title_axes(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)


def _title_panels(figure: Figure, across: str, up: str) -> None:
    """Title the axes that all panels have in common, once."""
    figure.supxlabel(across, fontsize="medium")
    figure.supylabel(up, fontsize="medium")


def _number(cell: Cell) -> float:
    return float(cell.value) if isinstance(cell.value, int | float) else np.nan


def _count(cell: Cell) -> float:
    return float(cell.value) if isinstance(cell.value, int) else 0.0


def _on(colour: npt.ArrayLike) -> str:
    """Return black or white, whichever is read better on a colour (W3C's relative luminance)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in np.asarray(colour, dtype=float)[:3].tolist()
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#fefefe"


KINDS: Mapping[str, Callable[[Table], Figure]] = {
    "intervals": intervals,
    "distribution": distribution,
    "heat": heat,
    "box": box,
    "movement": movement,
    "scatter": scatter,
    "quality": quality,
    "widths": widths,
    "curve": curve,
    "curves": curves,
    "calibration": calibration,
}
"""By the name of the plot in a table."""
