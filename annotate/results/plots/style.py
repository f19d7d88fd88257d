"""One style for all plots: colours safe for colour-blind readers, legible in print, no date in any file."""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotate.results.plots import POINT

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
    "text.parse_math": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "hatch.color": SOFT,
    "svg.fonttype": "none",  # words stay words: searched, selected, in the page's font
    "svg.hashsalt": "concord",
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
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def panels(
    number: int, height: float, *, across: int = 3, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a chart with small plots of equal height next to each other, `across` in a row."""
    columns = max(1, min(number, across))
    rows = -(-number // columns)
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
