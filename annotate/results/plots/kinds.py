"""Plots of each kind in one style: colours safe for colour-blind readers, legible in print, no dates."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotate.core.translation import gettext
from annotate.results.plots import POINT, describe_row, figure_of
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import number

# Files for papers have separate colours; charts of pages use the colours of the stylesheet.
INK, SOFT, LINE, PAPER = "#1d2327", "#5a646b", "#d9d6d0", "#ffffff"
SERIES = ("#0072b2", "#d55e00", "#009e73")  # Okabe and Ito 2008
MARKERS = ("o", "s", "^")
LINES = ("--", "-", ":")
SEQUENCE = "cividis"  # Nuñez and others 2018: the same to all eyes, and its lightness rises evenly in print

LINE_HEIGHT = 0.165  # inches, of a label
WITHIN_ONE = 1.1  # correlations with a margin
ALIKE = 5  # means on a scale from 1 to 5 differ by no larger factor
WIDTH = 6.5  # inches: the width of a printed column of A4 and US paper
_SETTINGS: dict[str, Any] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 8.5,
    "axes.edgecolor": LINE,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.5,
    "axes.titlecolor": INK,
    "axes.titleweight": "bold",
    "figure.facecolor": PAPER,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "text.parse_math": False,  # a name may contain dollar signs
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "hatch.color": SOFT,
    "svg.fonttype": "none",  # words stay words: searched, selected, in the page's font
    "svg.hashsalt": "concord",  # else IDs are random, and equal tables give different bytes
    # TrueType fonts: many publishers reject PDF files with Type 3 fonts, matplotlib's default.
    "pdf.fonttype": 42,
}
_UNDATED: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


@contextmanager
def drawing_style() -> Iterator[None]:
    """Apply this style, independent of other plots in the process."""
    # The defaults come first, so that a matplotlibrc of the host changes no plot.
    settings: Any = {**mpl.rcParamsDefault, **_SETTINGS, "backend": "agg"}
    with mpl.rc_context(settings):
        yield


def save_figure(figure: Figure, format: str) -> bytes:
    """Return the chart as svg, pdf or png, without the time of its creation."""
    out = io.BytesIO()
    figure.savefig(out, format=format, dpi=200, bbox_inches="tight", metadata=_UNDATED[format])
    return out.getvalue()


def name_point(point: Artist, name: str) -> None:
    """Give a point a name, which a page shows while the pointer or the focus is on it."""
    point.set_gid(f"{POINT}{' '.join(name.split())}")


def panel(height: float) -> tuple[Figure, Axes]:
    """Return a chart with one plot of this height in inches."""
    # `Figure` and not pyplot, which keeps every chart in memory until it is closed.
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def panels(
    number: int, height: float, *, across: int = 3, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a chart with small plots of equal height next to each other, `across` in a row."""
    columns = max(1, min(number, across))
    rows = -(-number // columns)  # rounded up
    figure = Figure(figsize=(WIDTH, max(rows, 1) * height), layout="constrained")
    axes = figure.subplots(max(rows, 1), columns, squeeze=False, sharey=share_y)
    listed = list(axes.ravel())
    for unused in listed[number:]:
        unused.set_axis_off()
    return figure, listed[:number]


def wrap_label(text: object, length: int = 26) -> str:
    """Return a label in as many lines as necessary next to an axis: a truncated name could be another's."""
    return "\n".join(wrap(str(text), length)) or str(text)


def row_height(labels: Iterable[str], least: float) -> float:
    """Return the height in inches of rows with these labels next to them."""
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    return max(least, LINE_HEIGHT * lines + 0.06)


def equalize_ranges(listed: Sequence[Axes], *directions: Literal["x", "y"]) -> None:
    """Give compared panels one range, so that equal lengths are equal differences.

    Not on different scales: a mean of 1 to 5 next to one of 0 to 100 would be a dot.
    """
    drawn = [axes for axes in listed if axes.has_data()]
    for direction in directions:
        ranges = [axes.get_xlim() if direction == "x" else axes.get_ylim() for axes in drawn]
        reach = [max(abs(low), abs(high)) for low, high in ranges]
        if not ranges or (max(reach) > WITHIN_ONE and max(reach) > ALIKE * min(reach)):
            continue
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        for axes in drawn:
            axes.set_xlim(low, high) if direction == "x" else axes.set_ylim(low, high)


ROW = 0.26  # inches
NUMBERED_SHARE = 0.05  # narrower parts of a bar have no room for their number


def intervals(table: Table) -> Figure:
    """Plot values as dots with their intervals: up to three columns together, more in separate panels."""
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
    # Columns that are too many for one plot get panels, with their names above.
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
    column, colour = table.columns[index], SERIES[series]
    label = column.name
    for position, row in enumerate(table.rows):
        cell = row[index]
        if not isinstance(cell.value, int | float):
            continue
        if cell.low is not None and cell.high is not None:
            axes.plot([cell.low, cell.high], [position + shift] * 2, color=colour, linewidth=1.4)
        (dot,) = axes.plot(
            cell.value, position + shift, MARKERS[series], color=colour, markersize=4.5, label=label
        )
        heads = ", ".join(str(head.value) for head in row[: table.heads])
        name_point(dot, f"{heads}: {figure_of(cell, column)}")
        label = ""  # the legend names a column once


def _rows(axes: Axes, table: Table) -> None:
    axes.set_yticks(range(len(table.rows)), [wrap_label(row[0].value) for row in table.rows])
    # Limits in reverse put the first row at the top, as in the table.
    axes.set_ylim(len(table.rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def distribution(table: Table) -> Figure:
    columns = [(index, each) for index, each in enumerate(table.columns) if each.kind is ColumnKind.COUNT]
    rows = [row for row in table.rows if row[1].value == "all"]
    figure, axes = panel(0.9 + row_height((wrap_label(row[0].value) for row in rows), 0.34) * len(rows))
    colours = colormaps[SEQUENCE](np.linspace(0.08, 0.98, max(len(columns), 2)))
    counts = np.array(
        [
            [(row[index].value if isinstance(row[index].value, int) else 0.0) for index, _ in columns]
            for row in rows
        ],
        dtype=float,
    )
    totals = counts.sum(axis=1, keepdims=True)
    # A dimension without ratings has an empty bar.
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    starts = np.cumsum(shares, axis=1) - shares
    for index, (_, column) in enumerate(columns):
        share, left, colour = shares[:, index], starts[:, index], colours[index]
        axes.barh(range(len(rows)), share, left=left, height=0.72, color=colour, label=column.name)
        for row in np.flatnonzero(share >= NUMBERED_SHARE).tolist():
            _write_in_cell(axes, left[row] + share[row] / 2, row, f"{counts[row, index]:.0f}", colour)
    axes.set_yticks(range(len(rows)), [wrap_label(row[0].value) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    _title_axes(axes, gettext("share of all ratings"), table.columns[0].name)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=min(len(columns), 12))
    return figure


def heat(table: Table) -> Figure:
    """Plot values as a map of coloured cells with their numbers; hatched if undefined."""
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
            # From the lowest value, but 0 or less, up to 1, the maximum of a coefficient.
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
    # Black or white, the more readable one on this colour (W3C's relative luminance).
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in np.asarray(ground, dtype=float)[:3].tolist()
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # At .179 both have the same contrast: (L + .05) / .05 equals 1.05 / (L + .05).
    color = "#000000" if luminance > 0.179 else "#fefefe"
    axes.text(x, y, words, ha="center", va="center", color=color, fontsize=7.5)


def box(table: Table) -> Figure:
    """Plot minimum, quartiles and maximum of every system, a panel for each dimension."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    systems = list(dict.fromkeys(str(row[1].value) for row in table.rows))
    row_inches = row_height(map(wrap_label, systems), 0.22)
    figure, listed = panels(len(names), 0.7 + row_inches * len(systems), across=4, share_y=True)
    for axes, name in zip(listed, names, strict=True):
        own = [row for row in table.rows if row[0].value == name]
        for index, row in enumerate(own):
            if row[2].value is None:
                continue
            least, first, median, third, largest = (_number(cell) for cell in row[2:7])
            axes.plot([least, largest], [index, index], color=SOFT, linewidth=1)
            (middle,) = axes.barh(index, third - first, left=first, height=0.6, color=SERIES[0], alpha=0.45)
            name_point(middle, describe_row(table, row))
            axes.plot([median, median], [index - 0.38, index + 0.38], color=INK, linewidth=1.8)
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


def movement(table: Table) -> Figure:
    """Plot the numbers of disputed units by their differences before and after, as numbered circles."""
    rows = [row for row in table.rows if row[0].value == "all"]
    before = [str(row[1].value) for row in rows]
    figure, axes = panel(1.0 + 0.62 * len(rows))
    most = max((_number(cell) for row in rows for cell in row[2:]), default=1.0)
    for index, row in enumerate(rows):
        for after, cell in enumerate(row[2:]):
            if _number(cell) > 0:
                # `s` is the area of a circle, so areas are proportional to the numbers of units.
                axes.scatter([after], [index], s=1400 * _number(cell) / most, color=SERIES[0], alpha=0.3)
                axes.text(after, index, f"{_number(cell):.0f}", ha="center", va="center", color=INK)
    axes.set_xticks(range(len(table.columns) - 2), [str(after) for after in range(len(table.columns) - 2)])
    axes.set_yticks(range(len(rows)), before)
    axes.set_xlim(-0.6, len(table.columns) - 2.4)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _title_axes(axes, gettext("difference at the end of Round II"), gettext("difference in Round I"))
    return figure


def _panels_by_dimension(table: Table) -> tuple[Figure, list[tuple[Axes, object, list[Sequence[Cell]]]]]:
    """Return a chart with a panel for each dimension, its name and its rows."""
    names = list(dict.fromkeys(row[0].value for row in table.rows))
    figure, listed = panels(len(names), 2.1)
    rows = ([row for row in table.rows if row[0].value == name] for name in names)
    return figure, list(zip(listed, names, rows, strict=True))


def scatter(table: Table) -> Figure:
    """Plot a judge's values against people's means, a panel a dimension; darker for many items."""
    figure, listed = _panels_by_dimension(table)
    # One maximum for all panels, so that equal dots have equal numbers of items.
    most = max((_number(row[3]) for row in table.rows), default=1.0)
    for axes, name, rows in listed:
        own = np.array([[_number(cell) for cell in row[1:4]] for row in rows])
        ends = [own[:, :2].min(), own[:, :2].max()]
        # On a logarithmic scale a dot of one item stays visible next to dots of hundreds.
        density = np.log1p(own[:, 2]) / np.log1p(most)
        # The diagonal, on which the judge gives the mean of people.
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
    equalize_ranges(figure.axes, "x", "y")
    return figure


def quality(table: Table) -> Figure:
    """Plot every system's quality against the judge's agreement with people on it, panels by dimension."""
    figure, listed = _panels_by_dimension(table)
    for axes, name, rows in listed:
        for row in rows:
            across, up = row[2:4]
            if across.value is None or up.value is None:
                continue
            if up.low is not None and up.high is not None:
                ends = [up.low, up.high]
                axes.plot([_number(across)] * 2, ends, color=SERIES[0], alpha=0.4, linewidth=1.2)
            (dot,) = axes.plot(_number(across), _number(up), "o", color=SERIES[0], markersize=4)
            name_point(dot, describe_row(table, row))
        _label_axes(axes, name, table.columns[2].name, table.columns[3].name)
    equalize_ranges(figure.axes, "x", "y")
    return figure


def widths(table: Table) -> Figure:
    """Plot widths of intervals against the number of ratings, a line for each kind, panels by dimension."""
    figure, listed = _panels_by_dimension(table)
    for axes, name, rows in listed:
        own = [row for row in rows if row[2].value == "no"]
        for series, column in enumerate(table.columns[3:]):
            known = [
                (_number(row[1]), _number(row[3 + series]))
                for row in own
                if row[3 + series].value is not None
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
    equalize_ranges(figure.axes, "x", "y")
    if listed:
        figure.legend(*listed[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def curve(table: Table) -> Figure:
    """Plot a statistic against a number, with its intervals as a band, panels by dimension."""
    figure, listed = _panels_by_dimension(table)
    for axes, name, rows in listed:
        _draw_curve(axes, rows, 2)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        _label_axes(axes, name, table.columns[1].name, table.columns[2].name)
    equalize_ranges(figure.axes, "x", "y")
    return figure


def curves(table: Table) -> Figure:
    figure, listed = _panels_by_dimension(table)
    for axes, name, rows in listed:
        for index, column in enumerate(table.columns[2:]):
            _draw_curve(axes, rows, index + 2, column.name)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.set_xlim(left=0)
        _label_axes(axes, name, table.columns[1].name, wrap_label(table.title, 40))
    equalize_ranges(figure.axes, "x", "y")
    if listed:
        figure.legend(*listed[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_curve(axes: Axes, rows: Sequence[Sequence[Cell]], index: int, label: str = "") -> None:
    """Plot the values of a column (its index, 2 for the first curve) against those of the second column."""
    series = (index - 2) % len(SERIES)
    known = [(_number(row[1]), row[index]) for row in rows if row[index].value is not None]
    axes.plot(
        [across for across, _ in known],
        [_number(up) for _, up in known],
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
    """Plot the share right by confidence, with the line of a calibrated judge."""
    figure = curve(table)
    for axes in figure.axes:
        axes.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
    return figure


def _label_axes(axes: Axes, name: object, across: str, up: str) -> None:
    axes.set_title(wrap_label(name))
    _title_axes(axes, across, up)


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
