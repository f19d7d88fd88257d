"""Tables as JSON lines or CSV, streamed."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, F, FloatField, Func, JSONField, TextField

from annotate.core.models import Project
from annotate.core.models.fields import PointsField
from annotate.core.strings import defuse
from annotate.exports.registry import ExportTable, Row, ValueKind
from annotate.exports.tables.rows import ColumnRows
from annotate.material.reading.refused import LineEcho

# CSV that PostgreSQL writes itself: the same bytes as `comma_separated`, and sooner.

AT_ONCE = 200  # rows
# Python's text of each kind of value. Empty texts and missing values are empty cells.
AS_PYTHON_WRITES: Sequence[tuple[type[Any], str]] = (
    (BooleanField, "CASE {0} WHEN TRUE THEN 'True' WHEN FALSE THEN 'False' END"),
    (PointsField, "{0}::text"),  # whole ones are ints
    # Python says of a float that it is one, whole or not, and has another limit for writing powers of ten.
    (
        FloatField,
        "CASE WHEN TRUNC({0}) <> {0} OR ABS({0}) >= 1e16 THEN {0}::text WHEN ABS({0}) < 1e15"
        " THEN {0}::text || '.0' ELSE {0}::numeric::text || '.0' END",
    ),
    (
        DateTimeField,
        "TO_CHAR({0} AT TIME ZONE 'UTC', CASE WHEN DATE_TRUNC('second', {0}) = {0}"
        """ THEN 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"' ELSE 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"' END)""",
    ),
    (
        JSONField,
        "NULLIF(CASE WHEN JSONB_TYPEOF({0}) IN ('array', 'object') THEN {0}::text"
        " ELSE {0} #>> '{{}}' END, '')",
    ),
)
ANYTHING_ELSE = "NULLIF({0}::text, '')"


class _Cell(Func):
    output_field = TextField()

    def as_postgresql(self, compiler: Any, _connection: Any, **_context: Any) -> tuple[str, Sequence[Any]]:
        (source,) = self.get_source_expressions()
        sql, values = compiler.compile(source)
        kind = source.output_field
        form = next((form for of, form in AS_PYTHON_WRITES if isinstance(kind, of)), ANYTHING_ELSE)
        return form.format(sql), tuple(values) * form.count("{0}")


def csv_by_copy(table: ExportTable, rows: ColumnRows) -> Iterator[bytes]:
    """Yield a table's CSV with a header in pieces, as PostgreSQL copies its rows."""
    yield str(csv.writer(LineEcho()).writerow(table.names)).encode()
    cells = [_Cell(F(rows.columns[name])) for name in table.names]
    statement, values = rows.queryset.values_list(*cells).query.sql_with_params()
    with connection.cursor() as cursor:
        query = cursor.cursor.mogrify(statement, values)
        with cursor.cursor.copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)") as copy:
            while lines := [line[:-1] for line in islice(copy, AT_ONCE)]:  # each is a row
                yield b"\r\n".join([*lines, b""])


CHUNK = 64 * 1024


def jsonl(table: ExportTable, rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object a line, its keys in the order of the columns."""
    encode, values = json.JSONEncoder(ensure_ascii=False, default=_plain).encode, table.values
    for row in rows:
        yield encode(dict(zip(table.names, values(row), strict=True))) + "\n"


def comma_separated(
    table: ExportTable, rows: Iterable[Row], *, defuses_formulas: bool = False
) -> Iterator[str]:
    """Yield CSV after RFC 4180 with a header; a composite value is JSON in its cell.

    defuses_formulas: True to put an apostrophe before strings that a spreadsheet would compute. Not for files
    that programs read: it changes the string.
    """
    write, values = csv.writer(LineEcho()).writerow, table.values
    yield write(table.names)
    others = [table.names.index(name) for name in table.names_of(ValueKind.TIME, ValueKind.LISTED)]
    for row in rows:
        cells = list(values(row))
        for index in others:
            cells[index] = _cell(cells[index])
        yield write(list(map(defuse, cells)) if defuses_formulas else cells)


FORMATS: Mapping[str, Callable[[ExportTable, Iterable[Row]], Iterator[str]]] = {
    "jsonl": jsonl,
    "csv": comma_separated,
}


def export_table(
    project: Project, table: ExportTable, format: str, *, defuses_formulas: bool = False
) -> Iterator[bytes]:
    """Yield one table of a project in a format of FORMATS, in pieces of about 64 KB.

    If a table consists of columns of a queryset, PostgreSQL writes its CSV.
    """
    rows = table.rows(project)
    table = table.for_dimensions(project.dimensions.values_list("key", flat=True))
    if defuses_formulas and format == "csv":
        return encode_chunks(comma_separated(table, rows, defuses_formulas=True))
    if format == "csv" and isinstance(rows, ColumnRows) and connection.vendor == "postgresql":
        return csv_by_copy(table, rows)
    return encode_chunks(FORMATS[format](table, rows))


def encode_chunks(lines: Iterable[str]) -> Iterator[bytes]:
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
