"""Tables as JSON lines or CSV, streamed."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

from annotate.core.models import Project
from annotate.core.spreadsheets import defuse
from annotate.exports.formats.copying import csv_by_copy
from annotate.exports.registry import ExportTable, Row, ValueKind
from annotate.exports.tables.rows import ColumnRows
from annotate.material.reading.refused import LineEcho

CHUNK = 64 * 1024


def jsonl(table: ExportTable, rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object a line, its keys in the order of the columns."""
    encode, values = json.JSONEncoder(ensure_ascii=False, default=_plain).encode, table.values
    for row in rows:
        yield encode(dict(zip(table.names, values(row), strict=True))) + "\n"


def comma_separated(
    table: ExportTable, rows: Iterable[Row], *, defuses_formulas: bool = False
) -> Iterator[str]:
    """Yield CSV after RFC 4180 with a header; what is not a single value is JSON in its cell.

    defuses_formulas: whether an apostrophe comes before texts that a spreadsheet would compute. What programs
    read must not have it: it would be another text.
    """
    write, values = csv.writer(LineEcho()).writerow, table.values
    yield write(table.names)
    others = [table.names.index(name) for name in table.names_of(ValueKind.TIME, ValueKind.LISTED)]
    for row in rows:
        cells = list(values(row))
        for place in others:
            cells[place] = _cell(cells[place])
        yield write(list(map(defuse, cells)) if defuses_formulas else cells)


FORMATS: Mapping[str, Callable[[ExportTable, Iterable[Row]], Iterator[str]]] = {
    "jsonl": jsonl,
    "csv": comma_separated,
}


def export_table(
    project: Project, table: ExportTable, format: str, *, defuses_formulas: bool = False
) -> Iterator[bytes]:
    """Yield one table of a project in a format of FORMATS, in pieces of about 64 KB.

    Where a table is columns of a queryset, PostgreSQL writes its CSV.
    """
    rows = table.rows(project)
    table = table.for_dimensions(project.dimensions.values_list("key", flat=True))
    if defuses_formulas and format == "csv":
        return in_pieces(comma_separated(table, rows, defuses_formulas=True))
    if format == "csv" and isinstance(rows, ColumnRows) and connection.vendor == "postgresql":
        return csv_by_copy(table, rows)
    return in_pieces(FORMATS[format](table, rows))


def in_pieces(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines as UTF-8, in pieces of about 64 KB."""
    gathered: list[str] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= CHUNK:
            yield "".join(gathered).encode()
            gathered, size = [], 0
    yield "".join(gathered).encode()


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"An export cannot hold {value!r}.")


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
