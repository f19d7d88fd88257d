"""Plots of results, rendered on the server: SVG, PDF and PNG, the same bytes for the same table.

matplotlib is loaded with the first plot, so a process without plots does not pay for it.
"""

from threading import Lock

from annotate.results.plots.said import describe_svg
from annotate.results.table import Table

CONTENT_TYPES = {"svg": "image/svg+xml; charset=utf-8", "pdf": "application/pdf", "png": "image/png"}
_DRAWING = Lock()  # matplotlib's settings and font caches are the process's


def draw(table: Table, format: str) -> bytes:
    """Return the table's plot as svg, pdf or png. Raises KeyError for a table that has no plot."""
    from annotate.results.plots.kinds import KINDS
    from annotate.results.plots.style import drawing_style, save_figure

    with _DRAWING, drawing_style():
        content = save_figure(KINDS[table.plot](table), format)
    return describe_svg(table, content.decode()).encode() if format == "svg" else content
