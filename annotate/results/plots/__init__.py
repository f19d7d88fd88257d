"""Plots of results, made on the server: SVG, PDF and PNG, the same bytes for the same table.

matplotlib is loaded when the first plot is drawn, so a process that draws none does not pay for it.
"""

import re
from threading import Lock

from annotate.results.plots.said import describe_svg
from annotate.results.table import Table

CONTENT_TYPES = {"svg": "image/svg+xml; charset=utf-8", "pdf": "application/pdf", "png": "image/png"}
_DRAWING = Lock()  # matplotlib's settings and font caches are the process's
_UNREFERENCED = re.compile(r'(<(?:g|text)) id="[^"]*"')
_SIZE = re.compile(r' width="[\d.]+pt" height="[\d.]+pt"')
_PAGE_COLOURS = {
    "#1d2327": "var(--ink)",
    "#5a646b": "var(--soft)",
    "#d9d6d0": "var(--line)",
    "#ffffff": "var(--panel)",
    "#0072b2": "var(--plot-1)",
    "#d55e00": "var(--plot-2)",
    "#009e73": "var(--plot-3)",
}


def draw(table: Table, format: str) -> bytes:
    """Return the table's plot as svg, pdf or png. Raises KeyError for a table that has no plot."""
    from annotate.results.plots.kinds import KINDS
    from annotate.results.plots.style import drawing_style, save_figure

    with _DRAWING, drawing_style():
        content = save_figure(KINDS[table.plot](table), format)
    return describe_svg(table, content.decode()).encode() if format == "svg" else content


def for_page(svg: str) -> str:
    """Return an SVG as a part of a page: in the page's colours, light and dark, and as wide as it lets."""
    inside = svg[svg.index("<svg") :]
    for colour, variable in _PAGE_COLOURS.items():
        inside = inside.replace(colour, variable)
    return _SIZE.sub("", _UNREFERENCED.sub(r"\1", inside), count=1)
