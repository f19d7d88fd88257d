"""Tables as JSON lines or CSV, streamed."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import partial
from itertools import combinations, groupby, islice
from typing import Any

from django.db import connection
from django.db.models import BooleanField, DateTimeField, F, FloatField, Func, JSONField, TextField

from annotate.core.models import ComparisonSide, Document, Item, Project
from annotate.core.models.fields import PointsField
from annotate.core.strings import defuse
from annotate.exports.registry import (
    COLUMNS,
    TEXTS_AT_ONCE,
    ColumnRows,
    ExportPart,
    ExportTable,
    Row,
    ValueKind,
)
from annotate.exports.tables.outcomes import final_values_by_item
from annotate.material.reading.refused import LineEcho
from annotate.questions.preference import PREFERENCE
from annotate.questions.scale import SCALE

AT_ONCE = 200  # rows
# CSV that PostgreSQL writes itself: the same bytes as `comma_separated`, and sooner.
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
        # The form can contain the expression several times, and each needs its own parameters.
        return form.format(sql), tuple(values) * form.count("{0}")


def csv_by_copy(table: ExportTable, rows: ColumnRows) -> Iterator[bytes]:
    """Yield a table's CSV with a header in pieces, as PostgreSQL copies its rows."""
    yield str(csv.writer(LineEcho()).writerow(table.names)).encode()
    cells = [_Cell(F(rows.columns[name])) for name in table.names]
    statement, values = rows.queryset.values_list(*cells).query.sql_with_params()
    with connection.cursor() as cursor:
        query = cursor.cursor.mogrify(statement, values)
        with cursor.cursor.copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)") as copy:
            # COPY ends a row by a line feed alone; RFC 4180 wants a carriage return before it.
            while lines := [line[:-1] for line in islice(copy, AT_ONCE)]:  # each is a row
                yield b"\r\n".join([*lines, b""])


CHUNK = 64 * 1024


def jsonl(table: ExportTable, rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object a line, its keys in the order of the columns."""

    def plain(value: Any) -> str:
        if isinstance(value, datetime):
            return value.isoformat()
        raise TypeError(f"An export cannot hold {value!r}.")

    encode, values = json.JSONEncoder(ensure_ascii=False, default=plain).encode, table.values
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
    # COPY cannot put the apostrophes, so Python writes such a file.
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


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def preference_tables(project: Project, left_out: Set[ExportPart]) -> list[ExportTable]:
    """Return a table for each scale and each question about preferences.

    Of a scale: pairs of items of one document with different means over raters' last values. Named categories
    have no mean. Of preferences: comparisons in which most raters prefer the same output.
    """
    kinds = dict(project.dimensions.order_by("position").values_list("key", "kind"))
    means: dict[str, dict[int, float]] = {key: {} for key, kind in kinds.items() if kind == SCALE.key}
    given: dict[str, dict[int, list[float]]] = {
        key: {} for key, kind in kinds.items() if kind == PREFERENCE.key
    }
    # Of scales the means, of preferences all answers.
    for item, row in final_values_by_item(project):
        if row["dimension"] in given:
            given[row["dimension"]][item] = list(row["values"].values())
        elif row["dimension"] in means and row["mean"] is not None:
            means[row["dimension"]][item] = row["mean"]
    columns = tuple(column for column in COLUMNS["preferences"] if column.part not in left_out)
    differing, preferred = "pairs of items whose means differ", "outputs that most raters prefer"
    tables = {
        **{key: (differing, partial(_pairs, means=own)) for key, own in means.items() if own},
        **{key: (preferred, partial(_preferences, given=own)) for key, own in given.items() if own},
    }
    return [ExportTable(key, tables[key][0], columns, tables[key][1]) for key in kinds if key in tables]


def _pairs(project: Project, means: Mapping[int, float]) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    in_order = items.order_by("document", "pk").iterator(TEXTS_AT_ONCE)
    for _, group in groupby(in_order, key=lambda item: item.document_id):
        rated = [item for item in group if item.pk in means]
        for pair in combinations(rated, 2):
            rejected, chosen = sorted(pair, key=lambda item: means[item.pk])
            # Outputs with equal means have no preferred one.
            if means[chosen.pk] > means[rejected.pk]:
                yield _row(chosen, rejected, means[chosen.pk], means[rejected.pk])


def _preferences(project: Project, given: Mapping[int, Sequence[float]]) -> Iterator[Row]:
    """Yield comparisons of two outputs in which more than half of the raters prefer the same one."""
    sides = ComparisonSide.objects.filter(item__document__project=project, item__in=given)
    named = sides.select_related("output__document", "output__system").order_by("item", "position")
    for item, group in groupby(named.iterator(TEXTS_AT_ONCE), key=lambda side: side.item_id):
        outputs, values = [side.output for side in group], given[item]
        # A pair of training data has two outputs, so comparisons of three or more give none.
        if len(outputs) != 2 or not values:
            continue
        # Below 0 the first output is preferred, above 0 the second one.
        shares = [sum(value * way > 0 for value in values) / len(values) for way in (-1, 1)]
        if max(shares) > 0.5:
            best = shares.index(max(shares))
            yield _row(outputs[best], outputs[1 - best], shares[best], shares[1 - best])


def _row(chosen: Item, rejected: Item, score_chosen: float, score_rejected: float) -> Row:
    return {
        "prompt": _prompt(chosen.document),
        "chosen": chosen.text,
        "rejected": rejected.text,
        "score_chosen": score_chosen,
        "score_rejected": score_rejected,
        "system_chosen": chosen.system.name,
        "system_rejected": rejected.system.name,
        "document": chosen.document.key,
    }


def _prompt(document: Document) -> str:
    """Return the document as one string. Several parts follow each other under their labels."""
    if len(document.parts) == 1:
        return str(document.parts[0]["text"])
    return "\n\n".join(f"{part['label']}\n{part['text']}".strip() for part in document.parts)
