"""Files of documents, items and ratings for tests of importing."""

import json
from pathlib import Path
from typing import Any

from annotate.core.jobs import run_job
from annotate.core.models import DataImport, Project, UploadPreview
from annotate.material.commands.uploads import start_upload
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mapping_json import mapping_to_json
from annotate.material.reading.mappings import SHIPPED, Mapping
from annotate.material.reading.readers import first_records
from annotate.material.reading.source import Source
from tests.factories import make_dimension
from tests.reference import reference_data

SEVEN = (
    "fluency",
    "coherence",
    "relevance",
    "faithfulness",
    "aspect coverage",
    "sentiment consistency",
    "specificity",
)


def empty_project(slug: str = "empty", *, dimensions: tuple[str, ...] = SEVEN, **fields: Any) -> Project:
    project = Project.objects.create(slug=slug, name=slug, seed=1, **fields)
    for name in dimensions:
        make_dimension(project, name)
    return project


def jsonl(folder: Path, *records: dict[str, Any], name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def item(document: str = "d1", system: Any = "s1", text: str = "A summary.", **fields: Any) -> dict[str, Any]:
    return {
        "document_id": document,
        "article": f"Article {document}",
        "system": system,
        "text": text,
    } | fields


def rating(rater: str = "A1", value: Any = 4, **fields: Any) -> dict[str, Any]:
    unit = {"document_id": "d1", "system": "s1", "rater": rater, "dimension": "fluency"}
    return unit | {"value": value} | fields


def source(
    path: Path, *, items: bool = False, ratings: bool = False, dimensions: tuple[str, ...] = ()
) -> Source[Mapping]:
    mapping = guess_mapping(first_records(path, limit=1), dimensions)
    return Source(path, path.name, mapping, items=items, ratings=ratings)


def released(name: str, file: str, *, items: bool = False, ratings: bool = False) -> Source[Mapping]:
    path = reference_data() / file
    return Source(path, path.name, SHIPPED[name], items=items, ratings=ratings)


def read_uploads() -> None:
    """Read the beginning of each upload that waits, as a worker does."""
    for preview in UploadPreview.objects.filter(status="waiting"):
        run_job("preview", preview.pk)


def start_import(*, data_import: DataImport, mapping: Mapping, what: DataImport.What) -> None:
    start_upload(data_import=data_import, mapping=mapping_to_json(mapping), what=what)
