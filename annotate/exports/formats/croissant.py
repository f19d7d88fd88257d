"""Croissant metadata (version 1.0) of a data set's folder."""

from pathlib import Path
from typing import Any

from annotate.exports.manifest import sha256_of
from annotate.exports.registry import ExportColumn, ExportTable, ValueKind

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
        "recordSet": [_records(table) for table in tables],
    }


def _files(table: ExportTable, folder: Path) -> list[dict[str, Any]]:
    shards = sorted((folder / "data" / table.name).glob("*.parquet"))
    parquet = {"encodingFormat": "application/x-parquet"}
    return [
        *(
            {
                "@type": "cr:FileObject",
                "@id": str(shard.relative_to(folder)),
                "name": f"{table.name}-{shard.stem}",
                "contentUrl": str(shard.relative_to(folder)),
                "sha256": sha256_of(shard),
                **parquet,
            }
            for shard in shards
        ),
        {
            "@type": "cr:FileSet",
            "@id": f"files-{table.name}",
            "name": f"files-{table.name}",
            "includes": f"data/{table.name}/*.parquet",
            **parquet,
        },
    ]


def _records(table: ExportTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.says,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column.name}",
                "name": column.name,
                "description": column.meaning,
                **_values(table, column),
            }
            for column in table.columns
        ],
    }


def _values(table: ExportTable, column: ExportColumn) -> dict[str, Any]:
    source = {"fileSet": {"@id": f"files-{table.name}"}, "extract": {"column": column.name}}
    if column.name not in table.lists:
        return {"dataType": DATA_TYPES[column.kind], "source": source}
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{column.name}/{field}",
            "name": field,
            "dataType": DATA_TYPES[kind],
            "source": {**source, "transform": {"jsonPath": field}},
        }
        for field, kind in table.lists[column.name].items()
    ]
    return {"repeated": True, "subField": fields}
