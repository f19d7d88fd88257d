"""Exports as snapshots: what is in them, in every format, and that the same state gives the same bytes."""

import csv
import hashlib
import json
import threading
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from openpyxl import load_workbook
from pyarrow import parquet

from annotate.core.database import snapshot
from annotate.core.models import Item, Project
from annotate.disputes.commands.disputes import answer_dispute, post_message
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_file, write_folder
from annotate.exports.formats import workbook
from annotate.exports.registry import TABLES, ExportPart
from tests.factories import Cast, make_outside_rater, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.rating.rounds import discussed


@pytest.fixture
def cast(db: None) -> Cast:
    """A project with comments, a thread, a judgment and texts, each with a word of its own."""
    cast = make_project(documents=1)
    dispute = discussed(cast, 1, 3, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3, comment="MY-COMMENT")
    post_message(dispute=dispute, author=cast.annotators[1], text="MY-THREAD")
    make_outside_rater(cast.annotators[0])
    make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[0], reply="MY-REPLY 4", value=4)
    return cast


def written(cast: Cast, folder: Path, choice: ExportChoice) -> Path:
    folder.mkdir()
    write_folder(cast.project, choice, folder)
    return folder


@pytest.mark.parametrize("format", list(Format))
def test_the_same_state_gives_the_same_bytes(cast: Cast, tmp_path: Path, format: Format) -> None:
    files = [tmp_path / name for name in ("first", "second")]
    manifests = [write_file(cast.project, ExportChoice(format), file) for file in files]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert manifests[0] == manifests[1]
    Item.objects.filter(pk=cast.items[0].pk).update(text="Another text.")
    third = write_file(cast.project, ExportChoice(format), tmp_path / "third")
    has_texts = format not in (
        Format.PAPER,
        Format.PREFERENCES,
    )  # only one item is rated, so there is no pair
    assert (third.content_hash != manifests[0].content_hash) == has_texts


def test_the_manifest_names_every_file_with_its_hash_and_the_time_of_the_state(
    cast: Cast, tmp_path: Path
) -> None:
    folder = written(
        cast, tmp_path / "made", ExportChoice(Format.JSONL, frozenset({ExportPart.THREADS}), "cc0-1.0")
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["filters"] == {"format": "jsonl", "without": ["threads"], "licence": "cc0-1.0"}
    assert set(manifest["files"]) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert manifest["tables"]["ratings"] == 4
    last = max(
        datetime.fromisoformat(json.loads(line)["answered_at"])
        for line in (folder / "judgments.jsonl").read_text().splitlines()
    )
    assert datetime.fromisoformat(manifest["state_at"]) == last


WORDS = {
    ExportPart.COMMENTS: "MY-COMMENT",
    ExportPart.THREADS: "MY-THREAD",
    ExportPart.REPLIES: "MY-REPLY",
    ExportPart.SOURCES: "Review 1 of product 1.",
    ExportPart.RATERS: "PROLIFIC_PID",
}


@pytest.mark.parametrize("part", list(ExportPart))
def test_excluded_part_is_in_no_file_and_the_rest_is(cast: Cast, tmp_path: Path, part: ExportPart) -> None:
    folder = written(cast, tmp_path / "made", ExportChoice(Format.CSV, frozenset({part})))
    everything = "".join(path.read_text() for path in folder.iterdir())
    assert {each for each, word in WORDS.items() if word not in everything} == {part}


def test_parquet_holds_typed_columns_with_the_values_of_jsonl(cast: Cast, tmp_path: Path) -> None:
    lines = written(cast, tmp_path / "lines", ExportChoice(Format.JSONL))
    columns = written(cast, tmp_path / "columns", ExportChoice(Format.PARQUET))
    for table in ExportChoice(Format.PARQUET).tables_of(cast.project):
        rows = [json.loads(line) for line in (lines / f"{table.name}.jsonl").read_text().split("\n") if line]
        found = parquet.read_table(columns / f"{table.name}.parquet")
        assert found.column_names == table.names
        assert [{name: plain(value) for name, value in row.items()} for row in found.to_pylist()] == [
            {name: value if name in table.lists else as_json(value) for name, value in row.items()}
            for row in rows
        ]
    types = parquet.read_schema(columns / "ratings.parquet")
    assert [str(types.field(name).type) for name in ("value", "unsure", "first_saved_at")] == [
        "int64", "bool", "timestamp[us, tz=UTC]"
    ]  # fmt: skip


def plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def as_json(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def test_workbook_has_a_sheet_for_each_table_and_reports_overflow(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "ROWS_OF_SHEET", 4)
    Item.objects.filter(pk=cast.items[0].pk).update(text="=1+1")
    Item.objects.filter(pk=cast.items[1].pk).update(text="x" * 40_000)
    folder = written(cast, tmp_path / "made", ExportChoice(Format.XLSX))
    book = load_workbook(folder / f"{cast.project.slug}.xlsx")
    assert {*TABLES, "ratings 2", "about"} <= set(book.sheetnames)
    assert [book["items"].cell(2, 4).value, book["items"].cell(2, 4).data_type] == ["=1+1", "s"]
    assert len(str(book["items"].cell(3, 4).value)) == 32_767
    assert [book["ratings"].max_row, book["ratings 2"].max_row] == [4, 2]
    said = [row[0] for row in book["about"].values]
    assert "ratings has more rows than the 4 of a worksheet and takes 2 sheets." in said
    assert any(str(line).startswith("1 texts of items are longer") for line in said)


def test_csv_in_the_zip_file_equals_the_single_table(cast: Cast, tmp_path: Path) -> None:
    write_file(cast.project, ExportChoice(Format.CSV), tmp_path / "all.zip")
    call_command("export", cast.project.slug, table="ratings", format="csv", to=tmp_path / "alone.csv")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        inside = archive.read(f"{cast.project.slug}/ratings.csv")
    assert inside == (tmp_path / "alone.csv").read_bytes()
    assert len(list(csv.DictReader(inside.decode().splitlines()))) == 4


def test_command_writes_one_file_or_a_folder_and_reports_it_as_json(
    cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = cast.project.slug
    call_command("export", slug, "--folder", str(tmp_path / "made"), "--without", "replies", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["filters"]["without"] == ["replies"]
    assert (tmp_path / "made" / "ratings.jsonl").exists()
    call_command("export", slug, "--to", str(tmp_path / "made.zip"), "--without", "replies")
    assert told["content_hash"] in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"made", "made.zip"}
    with pytest.raises(CommandError, match="jsonl or csv"):
        call_command("export", slug, table="ratings", format="parquet")


@pytest.mark.django_db(transaction=True)
def test_a_snapshot_shows_one_moment_and_lets_others_write() -> None:
    project = make_project().project

    def rename() -> None:
        Project.objects.filter(pk=project.pk).update(name="Renamed meanwhile")
        connection.close()

    with snapshot():
        before = Project.objects.get(pk=project.pk).name
        in_thread(rename)
        assert Project.objects.get(pk=project.pk).name == before
    assert Project.objects.get(pk=project.pk).name == "Renamed meanwhile"
    Project.objects.filter(pk=project.pk).update(name="Written after")


def in_thread(act: Callable[[], None]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
