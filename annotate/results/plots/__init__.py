"""Plots of results, rendered on the server: SVG, PDF and PNG, the same bytes for the same table.

matplotlib is loaded with the first plot, so a process without plots does not pay for it. Each SVG
has a description for screen readers.
"""

import re
from collections.abc import Sequence
from html import escape
from threading import Lock

from annotate.results.table import Cell, Column, Table
from annotate.results.text import interval, number

CONTENT_TYPES = {"svg": "image/svg+xml; charset=utf-8", "pdf": "application/pdf", "png": "image/png"}
POINT = "point: "  # prefix of the id of a point's group in an SVG, before its name

_ROOT = re.compile(r"<svg ([^>]*)>")
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_NAMED = re.compile(rf'<g id="{POINT}([^"]*)">')
_STYLE_SHEET = re.compile(r"\s*<defs>\s*<style type=\"text/css\">\*\{[^}]*\}</style>\s*</defs>")
_STYLE = re.compile(r'style="([^"]*)"')
_MOST = 12
_DRAWING = Lock()  # matplotlib's settings and font caches are the process's


def draw(table: Table, format: str) -> bytes:
    """Return the table's plot as svg, pdf or png. Raises KeyError for a table that has no plot."""
    from annotate.results.plots.kinds import KINDS, drawing_style, save_figure

    with _DRAWING, drawing_style():
        content = save_figure(KINDS[table.plot](table), format)
    return describe_svg(table, content.decode()).encode() if format == "svg" else content


def describe_svg(table: Table, svg: str) -> str:
    """Return the SVG as one image with a name, the table's title, and a description.

    If its points have names it is a group of them, and the first can have the focus.
    """
    name = f"plot-{table.key}"
    svg = style_by_attributes(svg)
    points, count = _NAMED.subn(_point, _METADATA.sub("", svg))
    role = "group" if count else "img"
    root = (
        f' role="{role}" aria-labelledby="{name}" aria-describedby="{name}-says">'
        f'<title id="{name}">{_one_line(table.title)}</title>'
        f'<desc id="{name}-says">{_one_line(description(table))}</desc>'
    )
    # A function, because `sub` would read a backslash in a title as a reference to a group.
    named = _ROOT.sub(lambda found: f"<svg {found[1]}{root}", points, count=1)
    return named.replace('tabindex="-1"', 'tabindex="0"', 1)


def style_by_attributes(svg: str) -> str:
    """Return an SVG with attributes instead of styles:

    the content security policy of pages allows no inline styles.
    """
    svg, count = _STYLE_SHEET.subn("", svg)
    if count:  # the stylesheet's rule for every element; all of them inherit it
        svg = _ROOT.sub(r'<svg \1 stroke-linejoin="round" stroke-linecap="butt">', svg, count=1)
    return _STYLE.sub(_attributes, svg)


def _attributes(found: re.Match[str]) -> str:
    parts = (each.partition(":") for each in found[1].split(";") if each.strip())
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, _, value in parts)


def _point(found: re.Match[str]) -> str:
    return f'<g class="plot-point" role="img" tabindex="-1" aria-label="{found[1]}"><title>{found[1]}</title>'


def description(table: Table) -> str:
    """Return a description of the plot: its subject, and the rows if they are few, else the first ones."""
    figures = ", ".join(column.name for column in table.columns[table.heads :])
    rows = "1 row" if len(table.rows) == 1 else f"{len(table.rows)} rows"
    said = [table.says, f"{rows}: {figures}, as in its table."]
    if len(table.rows) <= _MOST:
        said += [describe_row(table, row) for row in table.rows]
    return " ".join(part for part in said if part)


def describe_row(table: Table, row: Sequence[Cell]) -> str:
    cells = list(zip(row, table.columns, strict=True))
    heads = ", ".join(str(cell.value) for cell, _ in cells[: table.heads])
    figures = [figure_of(cell, column) for cell, column in cells[table.heads :]]
    return f"{heads}: {'; '.join(figures)}."


def figure_of(cell: Cell, column: Column) -> str:
    """Return a value in words: its column's name, value and interval."""
    if cell.value is None:
        return f"{column.name} undefined"
    if isinstance(cell.value, str):
        return f"{column.name} {cell.value}"
    return f"{column.name} {number(cell.value, column)} {interval(cell, column)}".strip()


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()))
