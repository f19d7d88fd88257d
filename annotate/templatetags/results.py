"""A result's table on a page: cells show values, and open their interval, n and method."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import count as numbers_from
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.results.charts import chart_of
from annotate.results.latex import Environment
from annotate.results.registry import Chart, Result
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import interval, marks_of, number

register = template.Library()

MOST_ROWS = 24  # of a table outside its own page, which has them all
EACH_OPENS = 400  # with more values, methods are below the table only
MOST_REASONS = 3  # in view; more open on demand
TABLE_FILES = [("csv", "CSV"), ("json", "JSON"), ("tex", "LaTeX"), ("md", "Markdown")]
PLOT_FILES = [("svg", "SVG"), ("pdf", "PDF"), ("png", "PNG")]
DECIMALS = 2  # of statistics on pages; files have all
MOST_WORDS = 150  # of words in a table; with more, long cells open on demand
LONG = 28  # maximum characters of a shortened cell

_WARNED = '<span class="figure-warned">!</span>'
_EMPHASIS = {1: "<strong>{}</strong>", 2: "<u>{}</u>"}
NUMBERS = {ColumnKind.NUMBER, ColumnKind.SHARE, ColumnKind.P_VALUE}


@register.inclusion_tag("results/_table.html")
def result_table(project: Project, result: Result, table: Table, *, whole: bool = False) -> dict[str, Any]:
    """Show a result: its chart, its table (its first rows, or the `whole` of it), and the files of both."""
    return {
        "project": project,
        "page": result.page,
        "result": result,
        "table": table,
        "query": result.query,
        "most": len(table.rows) if whole else MOST_ROWS,
        "whole": whole,
        "chart": chart_of(table, Chart(table.key)) if table.plot and table.rows else None,
    }


@register.inclusion_tag("results/_rows.html")
def result_rows(
    project: Project, table: Table, title: str = "", *, whole: bool = False, in_words: bool = False
) -> dict[str, Any]:
    """Show a table's head and rows, with the reasons for missing values below.

    whole: shows long cells and all decimals. in_words: shows long cells, and cards on a phone.
    """
    reasons = [f"({mark}) {reason}" for reason, mark in marks_of(table).items()]
    return {
        "project": project,
        "table": table,
        "title": title or table.title,
        "whole": whole,
        "in_words": in_words,
        "reasons": reasons[:MOST_REASONS],
        "more_reasons": reasons[MOST_REASONS:],
        "how_below": [] if _each_opens(table) else table.how,
    }


@register.inclusion_tag("results/_chart.html")
def result_chart(project: Project, result: Result, table: Table, chart: Mapping[str, Any]) -> dict[str, Any]:
    """Show a chart: its data for the script, and the plot as an image without scripts."""
    return {
        "project": project,
        "page": result.page,
        "table": table,
        "chart": chart,
        "script_id": f"chart-{chart['key']}",
        "query": result.query,
    }


@register.inclusion_tag("results/_files.html")
def result_files(project: Project, result: Result, table: Table) -> dict[str, Any]:
    """Offer the files of a table, and of its plot, in one menu."""
    return {
        "project": project,
        "page": result.page,
        "table": table,
        "query": result.query,
        "table_files": TABLE_FILES,
        "plot_files": PLOT_FILES if table.plot and len(table.rows) else [],
    }


@register.inclusion_tag("results/_table_files.html")
def table_files(here: str, table: Table, query: str) -> dict[str, Any]:
    """Link to the files of a table below the page's URL `here`, computed for its `query`."""
    return {"here": here, "table": table, "query": query, "table_files": TABLE_FILES}


@register.inclusion_tag("results/_latex_choices.html")
def latex_choices(here: str, table: Table, query: str) -> dict[str, Any]:
    """Offer the table below the page's URL `here` in LaTeX with settings."""
    environments = [each for each in Environment if each is not Environment.FIT]
    return {"here": here, "table": table, "query_fields": parse_qsl(query), "environments": environments}


@register.simple_tag
def rows_of(table: Table, disagreements: str, *, whole: bool = False, in_words: bool = False) -> SafeString:
    """Return the rows as HTML; `disagreements` is the URL that values lead to units by."""
    if not whole:
        table = replace(table, columns=[_round_column(column) for column in table.columns])
    marks, opens, numbers = marks_of(table), _each_opens(table), numbers_from(1)
    texts = [
        str(cell.value) for row in table.rows for cell in row[table.heads :] if isinstance(cell.value, str)
    ]
    cuts = not (whole or in_words) and sum(len(each.split()) for each in texts) > MOST_WORDS
    return format_html_join(
        "",
        "<tr>{}</tr>",
        [
            (
                SafeString(
                    "".join(
                        _head(cell, column, f"{table.key}-{next(numbers)}")
                        if index < table.heads
                        else _cell(
                            cell,
                            column,
                            disagreements,
                            marks,
                            f"{table.key}-{next(numbers)}",
                            opens=opens,
                            cuts=cuts,
                            is_labelled=in_words,
                        )
                        for index, (cell, column) in enumerate(zip(row, table.columns, strict=True))
                    )
                ),
            )
            for row in table.rows
        ],
    )


@register.simple_tag
def heads_of(table: Table) -> SafeString:
    return format_html_join(
        "",
        '<th scope="col" dir="auto"{}>{}</th>',
        [(_class(column), column.name) for column in table.columns],
    )


@register.filter
def first_rows(table: Table, most: int) -> Table:
    return replace(table, rows=list(table.rows[:most]))


def _head(cell: Cell, column: Column, name: str) -> SafeString:
    shown = (
        str(cell.value) if cell.value is None or isinstance(cell.value, str) else number(cell.value, column)
    )
    value = _lead(cell, shown) if cell.link else shown
    mark = _open_details(name, _WARNED, [escape(cell.warning)]) if cell.warning else ""
    return format_html('<th scope="row" dir="auto">{}{}</th>', value, SafeString(mark))


def _open_details(name: str, shown: str, parts: Sequence[str]) -> str:
    return (
        f'<button type="button" class="figure-value" popovertarget="{name}">{shown}</button>'
        f'<span class="figure-details" id="{name}" popover>{"".join(parts)}</span>'
    )


def _lead(cell: Cell, shown: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', cell.link, shown)


def _each_opens(table: Table) -> bool:
    return len(table.rows) * (len(table.columns) - table.heads) <= EACH_OPENS


def _cell(
    cell: Cell,
    column: Column,
    disagreements: str,
    marks: Mapping[str, str],
    name: str,
    *,
    opens: bool,
    cuts: bool,
    is_labelled: bool,
) -> SafeString:
    shown = _format_cell(cell, column, marks)
    if cell.tone:
        shown = format_html('<span class="pill status-{}">{}</span>', cell.tone, shown)
    if cell.note:
        shown = format_html('{} <span class="small soft">{}</span>', shown, cell.note)
    parts = _details(cell, column, disagreements, opens=opens)
    # A page has hundreds: joining HTML directly avoids Django's checks for safe strings.
    html = shown if isinstance(shown, SafeString) else escape(shown)
    if parts:
        html = _open_details(name, html + (_WARNED if cell.warning else ""), parts)
    elif cuts and not cell.link and isinstance(cell.value, str) and len(cell.value) > LONG:
        start = cell.value[:LONG].rpartition(" ")[0] or cell.value[:LONG]
        html = _open_details(name, f"{escape(start)}…", [html])
    sorts = f' data-value="{cell.value:.6g}"' if isinstance(cell.value, int | float) else ""
    label = f' data-label="{escape(column.name)}"' if is_labelled else ""
    return SafeString(f"<td{_class(column)}{label}{sorts}>{html}</td>")


def _format_cell(cell: Cell, column: Column, marks: Mapping[str, str]) -> str:
    if cell.value is None:
        mark = f"<sup>{escape(marks[cell.reason])}</sup>" if len(marks) > 1 else ""
        return SafeString(f'<span class="soft figure-missing">–{mark}</span>')
    shown = cell.value if isinstance(cell.value, str) else number(cell.value, column)
    if cell.link and column.kind is ColumnKind.TEXT:
        return _lead(cell, shown)
    return format_html(_EMPHASIS[cell.rank], shown) if cell.rank else shown


def _round_column(column: Column) -> Column:
    if column.kind is not ColumnKind.NUMBER or column.decimals <= DECIMALS:
        return column
    return replace(column, decimals=DECIMALS)


def _details(cell: Cell, column: Column, disagreements: str, *, opens: bool) -> list[str]:
    """Return the details of a value as HTML: its interval and n, warnings, units, and method."""
    if column.kind not in NUMBERS and cell.value is not None:
        return []
    counted = gettext("n = %(count)s") % {"count": f"{cell.count:,}"} if cell.count is not None else ""
    if cell.value is None:
        return [f"<span>{escape(each)}</span>" for each in (cell.reason, counted) if each]
    first = " · ".join(part for part in (interval(cell, column), counted) if part)
    parts = [f"<strong>{escape(first)}</strong>"] if first else []
    parts += [f"<span>{escape(each)}</span>" for each in (cell.warning, cell.interval_reason) if each]
    if cell.how and opens:
        parts.append(f'<span class="how">{escape(cell.how)}</span>')
    if cell.link and counted:
        parts.append(
            f'<a href="{escape(f"{disagreements}?{cell.link}")}">{escape(gettext("Show the units"))}</a>'
        )
    return parts


def _class(column: Column) -> SafeString:
    return SafeString("") if column.kind is ColumnKind.TEXT else SafeString(' class="number"')
