"""MQM's tables: segments and translations are imported without the marked errors."""

from pathlib import Path

import pytest

from annotate.core.models import Document, Item
from annotate.material.commands.imports import import_file
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mqm import MqmSegments
from annotate.material.reading.readers import first_records
from annotate.material.reading.rows import Record, RefusedLine
from tests.material.files import empty_project, source

HEADER = "system doc docSegId globalSegId rater source target category severity"
# One rater marks “größe” and leaves out a word; the other finds nothing. Quotation marks are no quotes.
ROWS = [
    [
        "A",
        "news-1",
        "1",
        "17",
        "r1",
        '"A size," he said',
        '"Eine <v>größe</v>", sagte er',
        "Spelling",
        "Minor",
    ],
    [
        "A",
        "news-1",
        "1",
        "17",
        "r1",
        '"A <v>size</v>," he said',
        '"Eine größe", sagte er',
        "Omission",
        "Major",
    ],
    ["A", "news-1", "1", "17", "r2", '"A size," he said', '"Eine größe", sagte er', "No-error", "no-error"],
    ["B", "news-1", "1", "17", "r1", '"A size," he said', "Blau.", "Non-translation!", "Major"],
]


def table(folder: Path) -> Path:
    path = folder / "mqm.tsv"
    path.write_text("\n".join("\t".join(cells) for cells in [HEADER.split(), *ROWS]) + "\n")
    return path


@pytest.mark.parametrize("target", ["<v>open", "closed</v>", "<v>a<v>b</v></v>", "</v>a<v>"])
def test_unpaired_tags_are_rejected(target: str) -> None:
    cells = [*ROWS[0][:6], target, *ROWS[0][7:]]
    record = Record(1, dict(zip(HEADER.split(), cells, strict=True)))
    (refused,) = MqmSegments().item_rows(record)
    assert isinstance(refused, RefusedLine)
    assert (refused.field, "not in pairs" in refused.reason) == ("target", True)


@pytest.mark.django_db
def test_translations_are_imported_once_without_tags(tmp_path: Path) -> None:
    path = table(tmp_path)
    assert guess_mapping(first_records(path)).name == "mqm"
    report = import_file(project=empty_project(), source=source(path, items=True), by=None)
    assert (report.made.documents, report.made.items, report.refused_count) == (1, 2, 0)
    document = Document.objects.get()
    assert (document.key, document.metadata) == ("news-1:17", {"doc": "news-1"})
    assert document.parts == [{"label": "Source", "text": '"A size," he said'}]
    texts = dict(Item.objects.values_list("system__name", "text"))
    assert texts == {"A": '"Eine größe", sagte er', "B": "Blau."}
