"""A result's table as CSV or Markdown, and the format of its values in prose."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from string import ascii_lowercase

from annotate.core.strings import defuse
from annotate.results.table import Cell, Column, ColumnKind, Table

MINUS = "−"
_PARTS = ("low", "high", "count", "reason", "how")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#$])")


def comma_separated(table: Table, *, defuses_formulas: bool = False) -> str:
    """Return CSV after RFC 4180: the full value of each cell, then its details.

    The interval, count, reason and method of a value are in separate columns, named after it.
    defuses_formulas: whether strings are protected from evaluation by spreadsheets, see
    `annotate.core.strings`.
    """
    parts = [_parts_of(table, index) for index in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        name
        for column, own in zip(table.columns, parts, strict=True)
        for name in (column.key, *(f"{column.key}_{part}" for part in own))
    )
    for row in table.rows:
        writer.writerow(
            defuse(value) if defuses_formulas else value
            for cell, own in zip(row, parts, strict=True)
            for value in (cell.value, *(getattr(cell, part) for part in own))
        )
    return out.getvalue()


def markdown(table: Table) -> str:
    """Return a pipe table with its title above, and the methods of its values below."""
    heads = [_escape_markdown(column.name) for column in table.columns]
    rule = ["---" if column.kind is ColumnKind.TEXT else "---:" for column in table.columns]
    marks = marks_of(table)
    rows = [
        [_emphasize(cell, column, marks) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    lines = [f"**{_escape_markdown(table.title)}**", ""]
    lines += [f"| {' | '.join(row)} |" for row in [heads, rule, *rows]]
    for note in notes_of(table):
        lines += ["", _escape_markdown(note)]
    return "\n".join(lines) + "\n"


def number(value: float, column: Column) -> str:
    """Return a value for people: its number of decimals, a minus sign, shares in percent."""
    if column.kind is ColumnKind.COUNT:
        return f"{value:g}".replace("-", MINUS)
    if column.kind is ColumnKind.SHARE:
        return f"{100 * value:.0f} %".replace("-", MINUS)
    least = 10.0**-column.decimals
    if column.kind is ColumnKind.P_VALUE and value < least:
        return f"< {least:.{column.decimals}f}"
    shown = f"{value:.{column.decimals}f}"
    # A value that rounds to 0 has no minus sign.
    return (shown.lstrip("-") if float(shown) == 0 else shown).replace("-", MINUS)


def interval(cell: Cell, column: Column) -> str:
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low, column)}, {number(cell.high, column)}]"


def format_cell(cell: Cell, column: Column, marks: Mapping[str, str]) -> str:
    """Return a cell without its interval; `marks` has a mark for each reason of an undefined value."""
    if cell.value is None:
        return f"undefined ({marks[cell.reason]})"
    if isinstance(cell.value, str):
        return cell.value
    return number(cell.value, column)


def marks_of(table: Table) -> dict[str, str]:
    """Return a mark for each reason of an undefined value."""
    # a to z, then a1 to z1, and so on
    return {
        reason: ascii_lowercase[index % 26] + (str(index // 26) if index >= 26 else "")
        for index, reason in enumerate(table.reasons)
    }


def notes_of(table: Table) -> Sequence[str]:
    """Return the notes below a table: reasons for undefined values, counts, methods."""
    return [note for note in (table.says, *reasons_and_counts(table), *table.how) if note]


def reasons_and_counts(table: Table) -> list[str]:
    """Return the reason for each mark of an undefined value, then the counts."""
    undefined = [f"({letter}) {reason}" for reason, letter in marks_of(table).items()]
    return [note for note in (*undefined, _counts_line(table)) if note]


def _counts_line(table: Table) -> str:
    """Return the counts behind the values: once if all are equal, else by column."""
    counts = {
        column.name: {count for row in table.rows if (count := row[index].count) is not None}
        for index, column in enumerate(table.columns)
    }
    everywhere = {count for own in counts.values() for count in own}
    if len(everywhere) == 1:
        return f"n = {everywhere.pop()}."
    spans = []
    for name, own in counts.items():
        if own:
            few, many = min(own), max(own)
            spans.append(f"{name}: {few}" if few == many else f"{name}: {few} to {many}")
    return f"n: {'; '.join(spans)}." if spans else ""


def _parts_of(table: Table, index: int) -> list[str]:
    kind = table.columns[index].kind
    cells = [row[index] for row in table.rows]
    # Names have no details, and counts only a reason if they are missing.
    said = {ColumnKind.TEXT: (), ColumnKind.COUNT: ("reason",)}.get(kind, _PARTS)
    return [part for part in said if any(getattr(cell, part) not in (None, "") for cell in cells)]


def on_one_line(value: str) -> str:
    """Return a string with spaces for its line breaks and other control characters."""
    return _CONTROL.sub(" ", value)


def _emphasize(cell: Cell, column: Column, marks: Mapping[str, str]) -> str:
    value = _escape_markdown(format_cell(cell, column, marks))
    sign = {1: "**", 2: "_"}.get(cell.rank or 0, "")
    return f"{sign}{value}{sign} {_escape_markdown(interval(cell, column))}".strip()


def _escape_markdown(value: str) -> str:
    return _MARKDOWN.sub(r"\\\1", on_one_line(value))
