"""The rows of an exported table, read from JSON lines or Parquet, each value of its column's kind."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from annotate.exports.choice import Format
from annotate.exports.registry import ExportTable, ValueKind

ROWS_AT_ONCE = 2000
LARGEST = 2**63 - 1  # a larger integer fits no column
TYPES: Mapping[ValueKind, tuple[type, ...]] = {
    ValueKind.TEXT: (str,),
    ValueKind.INTEGER: (int,),
    ValueKind.NUMBER: (float, int),
    ValueKind.FLAG: (bool,),
    ValueKind.TIME: (datetime,),
    ValueKind.LISTED: (list, dict),
}

Row = dict[str, Any]


class MisfitError(Exception):
    """What a table holds does not fit its columns or the other tables."""


def _from_jsonl(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    times = [column for column in table.columns if table.kind(column) == ValueKind.TIME]
    for line in file:
        try:
            row: Row = json.loads(line)
            row |= {name: datetime.fromisoformat(row[name]) for name in times if row.get(name)}
        except (ValueError, TypeError) as error:  # no JSON, no object, no time
            raise MisfitError(f"a row of {table.name} cannot be read") from error
        yield row


def _from_parquet(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    from pyarrow import ArrowException  # takes 60 MB, see annotate.exports.formats.parquet
    from pyarrow.parquet import ParquetFile

    listed = [column for column in table.columns if table.kind(column) == ValueKind.LISTED]
    try:
        for batch in ParquetFile(file).iter_batches(ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield row | {name: json.loads(row[name]) for name in listed if row.get(name)}
    except (ArrowException, ValueError, TypeError, OSError) as error:
        raise MisfitError(f"{table.name} cannot be read") from error


READERS: Mapping[Format, Callable[[ExportTable, IO[bytes]], Iterator[Row]]] = {
    Format.JSONL: _from_jsonl,
    Format.PARQUET: _from_parquet,
}
"""By format: what yields the rows of a table as they were exported, times as such."""


def check_rows(table: ExportTable, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows; raise MisfitError for one that lacks a column or holds a value of another kind.

    So whoever restores them can take rows as they are, and a TypeError or KeyError there is our mistake.
    """
    types = {name: TYPES[table.kind(name)] for name in table.columns}
    for row in rows:
        for name, expected in types.items():
            if name not in row:
                raise MisfitError(f"{table.name} lacks {name}")
            value = row[name]
            if value is not None and not _fits(value, expected):
                raise MisfitError(f"{name} of {table.name} holds {value!r:.40}")
        yield row


def _fits(value: object, expected: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in expected
    if isinstance(value, str):
        return str in expected and "\0" not in value  # PostgreSQL holds no NUL
    return isinstance(value, expected) and not (isinstance(value, int) and abs(value) > LARGEST)
