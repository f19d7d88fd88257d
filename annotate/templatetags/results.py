"""How a result's table looks on a page: every figure opens how it was computed."""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from annotate.core.models import Project
from annotate.results.latex import Environment
from annotate.results.registry import Result
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import interval, number

register = template.Library()

MOST_ROWS = 24  # of a table on a page with others; its own page has them all
EACH_OPENS = 80  # with more figures, how they were computed is below the table
TABLE_FILES = [("csv", "CSV"), ("md", "Markdown"), ("tex", "LaTeX")]
PLOT_FILES = [("svg", "SVG"), ("pdf", "PDF"), ("png", "PNG")]

_EMPHASIS = {1: "<strong>{}</strong>", 2: "<u>{}</u>"}
NUMBERS = {ColumnKind.NUMBER, ColumnKind.SHARE, ColumnKind.P_VALUE}


@register.inclusion_tag("results/_table.html")
def result_table(project: Project, result: Result, table: Table, *, whole: bool = False) -> dict[str, Any]:
    """Show a result: its plot, its table (its first rows, or the `whole` of it), and the files of both."""
    return {
        "project": project,
        "page": result.page,
        "table": table,
        "query": result.query,
        "most": len(table.rows) if whole else MOST_ROWS,
        "how_below": [] if _each_opens(table) else table.how,
        "plot_files": PLOT_FILES if table.plot and table.rows else [],
    }


@register.inclusion_tag("results/_table_files.html")
def table_files(here: str, table: Table, query: str) -> dict[str, Any]:
    """Link to the files of a table below the page's address `here`, computed for its `query`."""
    return {"here": here, "table": table, "query": query, "table_files": TABLE_FILES}


@register.inclusion_tag("results/_latex_choices.html")
def latex_choices(here: str, table: Table, query: str) -> dict[str, Any]:
    """Offer the table below the page's address `here` in LaTeX as it is set."""
    environments = [each for each in Environment if each is not Environment.FIT]
    return {"here": here, "table": table, "query_fields": parse_qsl(query), "environments": environments}


@register.simple_tag
def rows_of(table: Table, most: int, disagreements: str) -> SafeString:
    """Return the first rows as HTML; `disagreements` is the address that figures lead to units by."""
    return format_html_join(
        "", "<tr>{}</tr>", [(_row(table, row, disagreements),) for row in table.rows[:most]]
    )


@register.simple_tag
def heads_of(table: Table) -> SafeString:
    """Return the names of the columns as HTML."""
    return format_html_join(
        "",
        '<th scope="col" dir="auto"{}>{}</th>',
        [(_class(column), column.name) for column in table.columns],
    )


def _row(table: Table, row: Sequence[Cell], disagreements: str) -> SafeString:
    cells, opens = enumerate(zip(row, table.columns, strict=True)), _each_opens(table)
    return SafeString(
        "".join(
            _head(cell) if index < table.heads else _cell(cell, column, disagreements, opens)
            for index, (cell, column) in cells
        )
    )


def _head(cell: Cell) -> SafeString:
    value = _lead(cell, str(cell.value)) if cell.link else cell.value
    return format_html('<th scope="row" dir="auto">{}{}</th>', value, _why(cell.warning))


def _lead(cell: Cell, shown: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', cell.link, shown)


def _each_opens(table: Table) -> bool:
    return len(table.rows) * (len(table.columns) - table.heads) <= EACH_OPENS


def _cell(cell: Cell, column: Column, disagreements: str, opens: bool) -> SafeString:
    shown = _format_cell(cell, column)
    figure = (
        _figure_with_details(shown, cell)
        if opens and cell.how and column.kind is not ColumnKind.COUNT
        else shown
    )
    below = _below(cell, column, disagreements) if column.kind in NUMBERS else ""
    why = _why(cell.warning or cell.reason or cell.interval_reason)
    # A page has thousands: what is HTML already is put together, not asked again whether it is, and texts
    # that are surely no lazy translations are escaped without Django's question whether they are.
    html = figure if isinstance(figure, SafeString) else escape(figure)
    return SafeString(f"<td{_class(column)}>{html}{below}{why}</td>")


def _format_cell(cell: Cell, column: Column) -> str:
    if cell.value is None:
        return format_html('<span class="tag tag-warn">{}</span>', gettext("undefined"))
    shown = cell.value if isinstance(cell.value, str) else number(cell.value, column)
    if cell.link and column.kind is ColumnKind.TEXT:
        return _lead(cell, shown)
    return format_html(_EMPHASIS[cell.place], shown) if cell.place else shown


def _below(cell: Cell, column: Column, disagreements: str) -> SafeString:
    """Return the interval and the count of a figure, the count as a link to the units behind it."""
    counted = f"n = {cell.count:,}" if cell.count is not None else ""
    parts = [part for part in (interval(cell, column), counted) if part]
    if not parts:
        return SafeString("")
    if not (cell.link and counted):
        return SafeString(f'<span class="figure-more">{escape(" · ".join(parts))}</span>')
    before, address = "".join(f"{part} · " for part in parts[:-1]), f"{disagreements}?{cell.link}"
    link = f'<a href="{escape(address)}">{escape(counted)}</a>'
    return SafeString(f'<span class="figure-more">{escape(before)}{link}</span>')


def _why(reason: str) -> SafeString:
    return format_html('<span class="figure-why">{}</span>', reason) if reason else SafeString("")


def _figure_with_details(shown: str, cell: Cell) -> SafeString:
    figure = shown if isinstance(shown, SafeString) else escape(shown)
    summary = f'<summary title="{_question(get_language())}">{figure}</summary>'
    how = f'<p class="how">{escape(cell.how)}</p>'
    return SafeString(f'<details class="computed figure">{summary}{how}</details>')


@cache
def _question(_language: str | None) -> str:
    """Return what a figure's details answer, in this language: a page asks for it a thousand times."""
    return escape(gettext("How was this computed?"))


def _class(column: Column) -> SafeString:
    return SafeString("") if column.kind is ColumnKind.TEXT else SafeString(' class="number"')
