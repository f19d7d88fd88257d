"""What a plot says to whoever does not see it."""

import re
from html import escape

from annotate.results.table import Table
from annotate.results.text import interval, number

_ROOT = re.compile(r"<svg ([^>]*)>")
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_MOST = 12


def describe_svg(table: Table, svg: str) -> str:
    """Return the SVG as one image with a name, the table's title, and a description of what it shows."""
    name = f"plot-{table.key}"
    root = (
        rf'<svg \1 role="img" aria-labelledby="{name}" aria-describedby="{name}-says">'
        rf'<title id="{name}">{_one_line(table.title)}</title>'
        rf'<desc id="{name}-says">{_one_line(description(table))}</desc>'
    )
    return _ROOT.sub(lambda found: root.replace(r"\1", found[1]), _METADATA.sub("", svg), count=1)


def description(table: Table) -> str:
    """Return what the plot shows in words: what it is of, and the first rows where they are few."""
    figures = ", ".join(column.name for column in table.columns[table.heads :])
    rows = "1 row" if len(table.rows) == 1 else f"{len(table.rows)} rows"
    said = [table.says, f"{rows}: {figures}, as in the table beside it."]
    if len(table.rows) <= _MOST:
        said += [_row(table, index) for index in range(len(table.rows))]
    return " ".join(part for part in said if part)


def _row(table: Table, index: int) -> str:
    cells = list(zip(table.rows[index], table.columns, strict=True))
    heads = ", ".join(str(cell.value) for cell, _ in cells[: table.heads])
    figures = [
        f"{column.name} undefined"
        if cell.value is None
        else f"{column.name} {cell.value}"
        if isinstance(cell.value, str)
        else f"{column.name} {number(cell.value, column)} {interval(cell, column)}".strip()
        for cell, column in cells[table.heads :]
    ]
    return f"{heads}: {'; '.join(figures)}."


def _one_line(text: str) -> str:
    return escape(" ".join(text.split()))
