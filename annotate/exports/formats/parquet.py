"""Tables as Parquet files, written in batches of rows; pyarrow is loaded at the first write.

It takes 60 MB, which processes without such files should not spend.
"""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from annotate.exports.registry import ExportTable, Row, ValueKind

BATCH = 250  # rows that are Python objects at a time; they take ten times the memory of Arrow's columns
ROWS_IN_GROUP = 20_000
BYTES_IN_GROUP = 2 * 2**20  # of Arrow's columns; what compresses a group takes as much again
ROWS_IN_SHARD = 1_000_000
ALIASES = {
    ValueKind.TEXT: "string",
    ValueKind.INTEGER: "int64",
    ValueKind.NUMBER: "double",
    ValueKind.AMOUNT: "string",
    ValueKind.FLAG: "bool",
    ValueKind.LISTED: "string",  # As JSON, if the table does not declare the type of the list.
}


def write_parquet(table: ExportTable, rows: Iterable[Row], target: Path) -> None:
    _write(table, _batches(iter(rows)), target)


def write_shards(table: ExportTable, rows: Iterable[Row], folder: Path, split: str) -> None:
    """Write a table to files of a million rows, with the usual names of data sets; no rows, no file."""
    made: list[Path] = []
    left = iter(rows)
    while (first := next(left, None)) is not None:
        target = folder / f"{len(made)}.unfinished"
        _write(table, _batches(_prepend_first(first, islice(left, ROWS_IN_SHARD - 1))), target)
        made.append(target)
    for number, path in enumerate(made):
        path.rename(folder / f"{split}-{number:05}-of-{len(made):05}.parquet")


def _prepend_first(first: Row, rest: Iterable[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _write(table: ExportTable, batches: Iterable[list[Row]], target: Path) -> None:
    # Read when pyarrow is loaded. Its own allocator would keep 25 MB that the system's gives back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    time = pyarrow.timestamp("us", "UTC")

    def type_of(kind: ValueKind) -> Any:
        alias = ALIASES.get(kind)
        return pyarrow.type_for_alias(alias) if alias else time

    types = {column.name: type_of(column.kind) for column in table.columns}
    for name, fields in table.lists.items():
        if name in types:
            of_object = [(field, type_of(kind)) for field, kind in fields.items()]
            types[name] = pyarrow.list_(pyarrow.struct(of_object))
    as_json = set(table.names_of(ValueKind.LISTED)) - table.lists.keys()
    schema = pyarrow.schema(list(types.items()))

    def arrays_of(batch: list[Row]) -> Any:
        columns = [pyarrow.array(_values(name, name in as_json, batch), kind) for name, kind in types.items()]
        return pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    with ParquetWriter(target, schema, compression="zstd") as writer:
        for group in _groups(map(arrays_of, batches)):
            writer.write_table(pyarrow.Table.from_batches(group), row_group_size=ROWS_IN_GROUP)
    pyarrow.default_memory_pool().release_unused()  # the next table has other sizes


def _values(name: str, as_json: bool, batch: list[Row]) -> list[Any]:
    if as_json:
        return [None if row[name] is None else json.dumps(row[name], ensure_ascii=False) for row in batch]
    return [row[name] for row in batch]


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
        del batch  # Free the batch before creating the next one.


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield Arrow's batches that belong in one row group."""
    group: list[Any] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= ROWS_IN_GROUP or size >= BYTES_IN_GROUP:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group
