"""Plots of one number against another."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotate.core.translation import gettext
from annotate.results.plots.said import describe_row
from annotate.results.plots.style import (
    INK,
    LINES,
    MARKERS,
    SERIES,
    SOFT,
    equalize_ranges,
    name_point,
    panel,
    panels,
    wrap_label,
)
from annotate.results.table import Cell, Table


def movement(table: Table) -> Figure:
    """Draw how many disputed units went from how far apart to how far, as circles with their numbers."""
    rows = [row for row in table.rows if row[0].value == "all"]
    before = [str(row[1].value) for row in rows]
    figure, axes = panel(1.0 + 0.62 * len(rows))
    most = max((_value(cell) for row in rows for cell in row[2:]), default=1.0)
    for place, row in enumerate(rows):
        for after, cell in enumerate(row[2:]):
            if _value(cell) > 0:
                axes.scatter([after], [place], s=1400 * _value(cell) / most, color=SERIES[0], alpha=0.3)
                axes.text(after, place, f"{_value(cell):.0f}", ha="center", va="center", color=INK)
    axes.set_xticks(range(len(table.columns) - 2), [str(after) for after in range(len(table.columns) - 2)])
    axes.set_yticks(range(len(rows)), before)
    axes.set_xlim(-0.6, len(table.columns) - 2.4)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(gettext("difference at the end of Round II"))
    axes.set_ylabel(gettext("difference in Round I"))
    return figure


def scatter(table: Table) -> Figure:
    """Draw a judge's values against people's means, a panel a dimension; darker where items are many."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    most = max((_value(row[3]) for row in table.rows), default=1.0)
    for axes, name in zip(listed, names, strict=True):
        own = np.array([[_value(cell) for cell in row[1:4]] for row in table.rows if row[0].value == name])
        ends = [own[:, :2].min(), own[:, :2].max()]
        density = np.log1p(own[:, 2]) / np.log1p(most)
        axes.plot(ends, ends, color=SOFT, linewidth=0.8, linestyle="--")
        axes.scatter(
            own[:, 0],
            own[:, 1],
            s=14 + 90 * own[:, 2] / most,
            color=SERIES[0],
            alpha=0.25 + 0.75 * density,
            linewidths=0,
        )
        _label_axes(axes, name, table.columns[1].name, table.columns[2].name)
    equalize_ranges(listed, "x", "y")
    return figure


def quality(table: Table) -> Figure:
    """Draw every system's quality against how far the judge agrees with people on it, panels by dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    for axes, name in zip(listed, names, strict=True):
        _systems(axes, table, [row for row in table.rows if row[0].value == name])
        _label_axes(axes, name, table.columns[2].name, table.columns[3].name)
    equalize_ranges(listed, "x", "y")
    return figure


def widths(table: Table) -> Figure:
    """Draw how wide intervals are after so many ratings, a line for each kind, panels by dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    for axes, name in zip(listed, names, strict=True):
        own = [row for row in table.rows if row[0].value == name and row[2].value == "no"]
        for series, column in enumerate(table.columns[3:]):
            known = [
                (_value(row[1]), _value(row[3 + series])) for row in own if row[3 + series].value is not None
            ]
            axes.plot(
                [ratings for ratings, _ in known],
                [width for _, width in known],
                color=SERIES[series],
                linestyle=LINES[series],
                marker=MARKERS[series],
                markersize=3,
                linewidth=1.4,
                label=column.name,
            )
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        _label_axes(axes, name, gettext("ratings of each system"), gettext("width of the interval"))
    equalize_ranges(listed, "x", "y")
    if listed:
        figure.legend(*listed[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def curve(table: Table) -> Figure:
    """Draw a figure against a number, with its intervals as a band, panels by dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    for axes, name in zip(listed, names, strict=True):
        _draw_curve(axes, [row for row in table.rows if row[0].value == name], 2)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        _label_axes(axes, name, table.columns[1].name, table.columns[2].name)
    equalize_ranges(listed, "x", "y")
    return figure


def curves(table: Table) -> Figure:
    """Draw a curve for each column, panels by dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    for axes, name in zip(listed, names, strict=True):
        own = [row for row in table.rows if row[0].value == name]
        for place, column in enumerate(table.columns[2:]):
            _draw_curve(axes, own, place + 2, column.name)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.set_xlim(left=0)
        _label_axes(axes, name, table.columns[1].name, wrap_label(table.title, 40))
    equalize_ranges(listed, "x", "y")
    if listed:
        figure.legend(*listed[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_curve(axes: Axes, rows: Sequence[Sequence[Cell]], place: int, label: str = "") -> None:
    """Draw the values of a column, the first from the third on, against those of the second."""
    series = (place - 2) % len(SERIES)
    known = [(_value(row[1]), row[place]) for row in rows if row[place].value is not None]
    axes.plot(
        [across for across, _ in known],
        [_value(up) for _, up in known],
        color=SERIES[series],
        marker=MARKERS[series],
        markersize=3,
        label=label,
    )
    band = [(across, up.low, up.high) for across, up in known if up.low is not None and up.high is not None]
    if band:
        at, low, high = zip(*band, strict=True)
        axes.fill_between(at, low, high, color=SERIES[series], alpha=0.15, linewidth=0)


def calibration(table: Table) -> Figure:
    """Draw the curve of confidence and share right, with the line of a calibrated judge."""
    figure = curve(table)
    for axes in figure.axes:
        axes.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
    return figure


def _systems(axes: Axes, table: Table, rows: Sequence[Sequence[Cell]]) -> None:
    for row in rows:
        across, up = row[2:4]
        if across.value is None or up.value is None:
            continue
        if up.low is not None and up.high is not None:
            axes.plot([_value(across)] * 2, [up.low, up.high], color=SERIES[0], alpha=0.4, linewidth=1.2)
        (dot,) = axes.plot(_value(across), _value(up), "o", color=SERIES[0], markersize=4)
        name_point(dot, describe_row(table, row))


def _label_axes(axes: Axes, name: object, across: str, up: str) -> None:
    axes.set_title(wrap_label(name))
    axes.set_xlabel(across)
    axes.set_ylabel(up)


def _value(cell: Cell) -> float:
    return float(cell.value) if isinstance(cell.value, int | float) else np.nan
