"""Tables as Parquet files in batches of rows, and the Croissant metadata (version 1.0) of a data set.

pyarrow is loaded at the first write: it takes 60 MB, which processes without such files should not spend.
"""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotate.exports.manifest import sha256_of
from annotate.exports.registry import ExportColumn, ExportTable, Row, ValueKind

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
    # The first row is read ahead: without one, no empty shard is written.
    while (first := next(left, None)) is not None:
        # The final name contains the number of shards, which is known only after the last one.
        target = folder / f"{len(made)}.unfinished"
        _write(table, _batches(chain([first], islice(left, ROWS_IN_SHARD - 1))), target)
        made.append(target)
    for number, path in enumerate(made):
        path.rename(folder / f"{split}-{number:05}-of-{len(made):05}.parquet")


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

    def values_of(name: str, batch: list[Row]) -> list[Any]:
        values = [row[name] for row in batch]
        if name not in as_json:
            return values
        return [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]

    def arrays_of(batch: list[Row]) -> Any:
        columns = [pyarrow.array(values_of(name, batch), kind) for name, kind in types.items()]
        return pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    with ParquetWriter(target, schema, compression="zstd") as writer:
        for group in _groups(map(arrays_of, batches)):
            writer.write_table(pyarrow.Table.from_batches(group), row_group_size=ROWS_IN_GROUP)
    pyarrow.default_memory_pool().release_unused()  # the next table has other sizes


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


CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
DATA_TYPES = {
    ValueKind.TEXT: "sc:Text",
    ValueKind.INTEGER: "sc:Integer",
    ValueKind.NUMBER: "sc:Float",
    ValueKind.AMOUNT: "sc:Text",
    ValueKind.FLAG: "sc:Boolean",
    ValueKind.TIME: "sc:DateTime",
    ValueKind.LISTED: "sc:Text",
}
# The words of the format, each with the vocabulary that defines it.
WORDS = """citeAs column conformsTo:dct equivalentProperty extract field fileProperty fileObject fileSet
format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace
samplingRate separator source subField transform"""


def croissant(described: dict[str, Any], tables: list[ExportTable], folder: Path) -> dict[str, Any]:
    """Return the metadata of the Parquet files in the folder; `described`: properties of the data set."""
    # A word without a vocabulary belongs to Croissant's own.
    words = (word.partition(":") for word in WORDS.split())
    context = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "sc": "https://schema.org/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        **{word: f"{vocabulary or 'cr'}:{word}" for word, _, vocabulary in words},
    }
    return {
        "@context": context,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **described,
        "distribution": [part for table in tables for part in _files(table, folder)],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": table.name,
                "name": table.name,
                "description": table.says,
                "field": [_field(table, column) for column in table.columns],
            }
            for table in tables
        ],
    }


def _files(table: ExportTable, folder: Path) -> Iterator[dict[str, Any]]:
    parquet = {"encodingFormat": "application/x-parquet"}
    for shard in sorted((folder / "data" / table.name).glob("*.parquet")):
        path = str(shard.relative_to(folder))
        named = {"@type": "cr:FileObject", "@id": path, "name": f"{table.name}-{shard.stem}"}
        yield {**named, "contentUrl": path, "sha256": sha256_of(shard), **parquet}
    # Columns refer to the set, so they need not change with the number of shards.
    name = f"files-{table.name}"
    includes = f"data/{table.name}/*.parquet"
    yield {"@type": "cr:FileSet", "@id": name, "name": name, "includes": includes, **parquet}


def _field(table: ExportTable, column: ExportColumn) -> dict[str, Any]:
    key = f"{table.name}/{column.name}"
    named = {"@type": "cr:Field", "@id": key, "name": column.name, "description": column.meaning}
    source = {"fileSet": {"@id": f"files-{table.name}"}, "extract": {"column": column.name}}
    if column.name not in table.lists:
        return {**named, "dataType": DATA_TYPES[column.kind], "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{key}/{part}",
            "name": part,
            "dataType": DATA_TYPES[kind],
            "source": {**source, "transform": {"jsonPath": part}},
        }
        for part, kind in table.lists[column.name].items()
    ]
    return {**named, "repeated": True, "subField": parts}
