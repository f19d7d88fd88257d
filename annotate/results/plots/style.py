"""One look for all plots: colours that the colour-blind tell apart, legible in print, no date in any file."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotate.results.plots.said import POINT

# Replaced by variables of the stylesheet where an SVG stands in a page (annotate.results.plots.for_page).
INK, SOFT, LINE, PAPER = "#1d2327", "#5a646b", "#d9d6d0", "#ffffff"
SERIES = ("#0072b2", "#d55e00", "#009e73")  # Okabe and Ito 2008
MARKERS = ("o", "s", "^")
LINES = ("--", "-", ":")
SEQUENCE = "cividis"  # Nuñez and others 2018: the same to all eyes, and its lightness rises evenly in print

WIDTH = 6.5  # inches: a text's width on A4 and letter
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
    """Draw in this look, whatever else the process draws."""
    settings: Any = {**mpl.rcParamsDefault, **_SETTINGS, "backend": "agg"}
    with mpl.rc_context(settings):
        yield


def save_figure(figure: Figure, format: str) -> bytes:
    """Return the figure as svg, pdf or png, without the time of its making."""
    out = io.BytesIO()
    figure.savefig(out, format=format, dpi=200, bbox_inches="tight", metadata=_UNDATED[format])
    return out.getvalue()


def name_point(point: Artist, name: str) -> None:
    """Give a point a name, which a page shows while the pointer or the focus is on it."""
    point.set_gid(f"{POINT}{' '.join(name.split())}")


def panel(height: float) -> tuple[Figure, Axes]:
    """Return a figure with one plot of this height in inches."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def panels(
    number: int, height: float, *, across: int = 3, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure with small plots of one height side by side, `across` in a row."""
    columns = max(1, min(number, across))
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, max(rows, 1) * height), layout="constrained")
    axes = figure.subplots(max(rows, 1), columns, squeeze=False, sharey=share_y)
    listed = list(axes.ravel())
    for unused in listed[number:]:
        unused.set_axis_off()
    return figure, listed[:number]


def short(text: object, length: int = 26) -> str:
    """Return a label that fits beside an axis."""
    said = str(text)
    return said if len(said) <= length else f"{said[: length - 1]}…"
