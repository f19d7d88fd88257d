"""The rows of an exported table, read from JSON lines or Parquet."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from annotate.export_tables import Kind, Table
from annotate.exporting.choice import Format

ROWS_AT_ONCE = 2000

Row = dict[str, Any]


def _from_jsonl(table: Table, file: IO[bytes]) -> Iterator[Row]:
    times = [column for column in table.columns if table.kind(column) == Kind.TIME]
    for line in file:
        row: Row = json.loads(line)
        for column in times:
            row[column] = row[column] and datetime.fromisoformat(row[column])
        yield row


def _from_parquet(table: Table, file: IO[bytes]) -> Iterator[Row]:
    from pyarrow.parquet import ParquetFile  # takes 60 MB, see annotate.exporting.parquet

    listed = [column for column in table.columns if table.kind(column) == Kind.LISTED]
    for batch in ParquetFile(file).iter_batches(ROWS_AT_ONCE):
        for row in batch.to_pylist():
            for column in listed:
                row[column] = row[column] and json.loads(row[column])
            yield row


READERS: Mapping[Format, Callable[[Table, IO[bytes]], Iterator[Row]]] = {
    Format.JSONL: _from_jsonl,
    Format.PARQUET: _from_parquet,
}
"""By format: what yields the rows of a table as they were exported, times as such."""
