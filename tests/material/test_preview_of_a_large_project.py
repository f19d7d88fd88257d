"""The preview of a file says of its first records what the import will, without reading the whole project."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from annotate.core.models import Project
from annotate.material.commands.imports import import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.progress import silent
from annotate.material.reading.source import Source
from tests.material.files import empty_project, item, jsonl, rating, source

pytestmark = pytest.mark.django_db
ITEM = {"document_id": "d0", "system": "s1"}


def filled(folder: Path, slug: str, *, documents: int) -> Project:
    """A project whose items A1 has all rated with 4, and the first one A2 as well."""
    project = empty_project(slug, dimensions=("fluency",), raters_per_item=2)
    records = [item(f"d{n}") | rating("A1", 4, document_id=f"d{n}") for n in range(documents)]
    for file in (records, [rating("A2", 3, **ITEM)]):
        path = jsonl(folder, *file, name=f"{slug}.jsonl")
        report = import_file(
            project=project, source=source(path, items="text" in file[0], ratings=True), by=None
        )
        assert not report.is_refused
    return project


def peak_of_preview(project: Project, file: Source[Any]) -> int:
    FileCheck(project, file).check(100, silent)  # what is made once is made
    tracemalloc.start()
    FileCheck(project, file).check(100, silent)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_preview_takes_no_more_memory_in_a_large_project(tmp_path: Path) -> None:
    small, large = (filled(tmp_path, f"of-{size}", documents=size) for size in (20, 500))
    records = [item("d0") | rating("A1", 4, **ITEM), item("d1") | rating("A3", document_id="d1")]
    file = source(jsonl(tmp_path, *records), items=True, ratings=True)
    assert peak_of_preview(large, file) < peak_of_preview(small, file) + 20_000


def test_preview_matches_the_whole_check_for_every_record(tmp_path: Path) -> None:
    project = filled(tmp_path, "rated", documents=3)
    ratings = [
        rating("A1", 4, **ITEM),  # there already
        rating("A1", 5, **ITEM),  # there with another value
        rating("A3", 5, **ITEM),  # one rater too many
        rating("A3", 5, document_id="d1"),  # takes a place
        rating("A2", 5, document_id="d2"),  # takes a place
        rating("A2", 9, document_id="d2"),  # off the scale
        rating("A2", 5, document_id="none"),
        rating("A2", 5, system="none"),
    ]
    file = source(jsonl(tmp_path, *ratings), ratings=True)
    preview = FileCheck(project, file).check(100, silent)
    assert preview == FileCheck(project, file).check(None, silent)
    assert (preview.made.ratings, preview.made.raters, preview.already_there.ratings) == (2, 1, 1)
    assert [refused.line for refused in preview.refused_lines] == [2, 3, 6, 7, 8]


def test_item_preview_separates_existing_from_new(tmp_path: Path) -> None:
    project = filled(tmp_path, "rated", documents=3)
    file = source(
        jsonl(tmp_path, item("d0"), item("d0", text="Another."), item("d1", "s2"), item("new")), items=True
    )
    preview = FileCheck(project, file).check(100, silent)
    assert preview == FileCheck(project, file).check(None, silent)
    assert (preview.already_there.documents, preview.already_there.items) == (2, 1)
    assert (preview.made.documents, preview.made.systems, preview.made.items) == (1, 1, 2)
    assert [refused.line for refused in preview.refused_lines] == [2]
