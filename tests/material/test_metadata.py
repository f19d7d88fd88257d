"""Metadata: columns of files without another meaning, and whose they are."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotate.core.metadata import metadata_names
from annotate.core.models import Document, Item, Project
from annotate.items.queries import ItemFilter, items_of
from annotate.material.commands.imports import import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.columns import ColumnMapping, PartColumn
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mapping_json import (
    mapping_from_json,
    mapping_from_options,
    mapping_to_json,
    mapping_to_options,
)
from annotate.material.reading.progress import silent
from annotate.material.reading.readers import first_records
from annotate.material.reading.report import ImportReport
from annotate.material.reading.source import Source
from tests.material.files import empty_project, jsonl

pytestmark = pytest.mark.django_db

COLUMNS = ("genre", "temperature", "2024", "is_new")
MAPPING = ColumnMapping(
    document_key="doc_id",
    parts=(PartColumn("source", "Source"),),
    system="model",
    text="summary",
    metadata=COLUMNS,
)


def row(document: str, system: str, **metadata: object) -> dict[str, object]:
    return {
        "doc_id": document,
        "source": f"The text of {document}.",
        "model": system,
        "summary": f"{system} of {document}.",
        **metadata,
    }


ROWS = [
    row("d1", "A", genre="news", temperature=0.5, is_new=True),
    row("d1", "B", genre="news", temperature=1, is_new=True),
    row("d2", "A", genre="blog", temperature=0.5, **{"2024": "yes"}),
    row("d2", "B", genre="blog", temperature=0.5, **{"2024": "yes"}),
]


def load(project: Project, path: Path, mapping: ColumnMapping = MAPPING) -> ImportReport:
    return import_file(project=project, source=Source(path, path.name, mapping, items=True), by=None)


def test_other_columns_are_guessed_to_be_metadata(tmp_path: Path) -> None:
    guess = guess_mapping(first_records(jsonl(tmp_path, *ROWS)))
    assert isinstance(guess, ColumnMapping)
    assert (guess.system, guess.text, guess.document_key) == ("model", "summary", "doc_id")
    assert set(guess.metadata) == set(COLUMNS)


def test_a_mapping_with_metadata_is_written_and_read() -> None:
    assert mapping_from_json(mapping_to_json(MAPPING)) == MAPPING
    assert mapping_from_options(mapping_to_options(MAPPING)) == MAPPING


def test_a_column_constant_within_documents_is_the_documents(tmp_path: Path) -> None:
    report = load(empty_project(), jsonl(tmp_path, *ROWS))
    assert report.made.items == 4
    documents = dict(Document.objects.values_list("key", "metadata"))
    assert documents == {"d1": {"genre": "news", "is_new": True}, "d2": {"2024": "yes", "genre": "blog"}}
    items = {(item.document.key, item.system.name): item.metadata for item in Item.objects.all()}
    assert items["d1", "A"] == {"temperature": 0.5}
    assert items["d1", "B"] == {"temperature": 1}
    assert items["d2", "B"] == {"temperature": 0.5}


def test_a_column_that_differs_late_in_the_file_is_the_items(tmp_path: Path) -> None:
    rows = [row(f"d{n}", system, genre="news") for n in range(150) for system in "AB"]
    rows[-1]["genre"] = "blog"
    load(empty_project(), jsonl(tmp_path, *rows))
    assert {str(each) for each in Document.objects.values_list("metadata", flat=True)} == {"{}"}
    assert Item.objects.get(document__key="d0", system__name="A").metadata == {"genre": "news"}
    assert Item.objects.get(document__key="d149", system__name="B").metadata == {"genre": "blog"}


def test_a_column_that_differs_within_an_item_is_reported(tmp_path: Path) -> None:
    rows = [row("d1", "A", genre="news"), row("d1", "A", genre="blog"), row("d1", "B", genre="blog")]
    report = load(empty_project(), jsonl(tmp_path, *rows))
    assert report.dropped_columns == ("genre",)
    assert report.remarks == ["Columns that differ between rows of one item were not kept: genre."]
    assert ImportReport.from_json(json.loads(json.dumps(report.to_json()))).remarks == report.remarks
    assert list(Item.objects.values_list("metadata", flat=True)) == [{}, {}]


def test_a_check_names_the_columns_of_documents_and_items(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *ROWS)
    check = FileCheck(empty_project(), Source(path, path.name, MAPPING, items=True))
    check.check(None, silent)
    of_documents, of_items = check.owners.names
    assert (set(of_documents), of_items) == ({"genre", "is_new", "2024"}, ["temperature"])


def test_items_of_earlier_documents_keep_all_metadata(tmp_path: Path) -> None:
    project = empty_project()
    load(project, jsonl(tmp_path, row("d1", "A", genre="news"), row("d1", "B", genre="news")))
    load(project, jsonl(tmp_path, row("d1", "C", genre="blog"), row("d1", "D", genre="blog")))
    assert Document.objects.get().metadata == {"genre": "news"}
    assert Item.objects.get(system__name="A").metadata == {}
    assert Item.objects.get(system__name="C").metadata == {"genre": "blog"}


def test_with_one_item_per_document_metadata_are_the_items(tmp_path: Path) -> None:
    rows = [row("d1", "A", version="A-1"), row("d2", "B", version="B-2")]
    load(empty_project(), jsonl(tmp_path, *rows), replace(MAPPING, metadata=("version",)))
    assert list(Document.objects.values_list("metadata", flat=True)) == [{}, {}]
    assert Item.objects.get(system__name="B").metadata == {"version": "B-2"}


def test_documents_without_items_keep_their_metadata(tmp_path: Path) -> None:
    documents = ColumnMapping("doc_id", parts=MAPPING.parts, metadata=("genre", "length"))
    rows = [{"doc_id": "d1", "source": "A text.", "genre": "news", "length": 1}]
    rows.append({**rows[0], "length": 2})
    report = load(empty_project(), jsonl(tmp_path, *rows), documents)
    assert Document.objects.get().metadata == {"genre": "news"}
    assert report.dropped_columns == ("length",)


def test_character_unsupported_by_databases_is_rejected(tmp_path: Path) -> None:
    project = empty_project()
    for value in ("a\0b", ["a\0b"], {"a": "\ud800"}):
        path = jsonl(tmp_path, row("d1", "A", genre=value))
        report = FileCheck(project, Source(path, path.name, MAPPING, items=True)).check(None, silent)
        assert [cause.field for cause in report.refused] == ["genre"], value


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("genre", "news", ["d1 A", "d1 B"]),
        ("genre", "", ["d1 A", "d1 B", "d2 A", "d2 B"]),
        ("temperature", "0.5", ["d1 A", "d2 A", "d2 B"]),
        ("temperature", "1", ["d1 B"]),
        ("2024", "yes", ["d2 A", "d2 B"]),
        ("is_new", "true", ["d1 A", "d1 B"]),
        ("unknown", "", []),
    ],
)
def test_items_are_searchable_by_metadata(tmp_path: Path, name: str, value: str, found: list[str]) -> None:
    project = empty_project()
    load(project, jsonl(tmp_path, *ROWS))
    items = items_of(project, ItemFilter(metadata=name, metadata_value=value)).order_by("pk")
    assert [f"{item.document.key} {item.system.name}" for item in items] == found


def test_metadata_names_belong_to_the_project(tmp_path: Path) -> None:
    project = empty_project()
    load(project, jsonl(tmp_path, *ROWS))
    assert metadata_names(project) == ["2024", "genre", "is_new", "temperature"]
    other = Project.objects.create(name="Other", slug="other", seed=1)
    assert metadata_names(other) == []
