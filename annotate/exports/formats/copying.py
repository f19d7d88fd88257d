"""CSV of a table that PostgreSQL writes itself: the same bytes as `text.comma_separated`, and sooner."""

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, F, FloatField, Func, JSONField, TextField

from annotate.core.models.fields import PointsField
from annotate.exports.registry import ExportTable
from annotate.exports.tables.rows import ColumnRows
from annotate.material.reading.refused import LineEcho

AT_ONCE = 200  # rows
# How Python writes what the database holds; an empty text is an empty cell, as what is missing is.
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
    """A column as the text of its cell."""

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
