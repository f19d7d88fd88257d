"""Uploads that would stop the site: limits that hold before decoding, and previews that are made once."""

import json
import signal
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from openpyxl import Workbook
from pyarrow import parquet

from annotate.core.models import DataImport, UploadPreview
from annotate.material.commands import uploads
from annotate.material.reading import columnar, lines, readers, worksheets
from annotate.material.reading.opening import opening_from_json, read_opening
from annotate.material.reading.readers import first_records
from annotate.material.reading.rows import UnreadableFileError
from concord.celery import app
from tests.factories import Cast, make_project
from tests.material.files import item, read_uploads

HTMX = {"HX-Request": "true"}
TOO_MANY = [f"c{number}" for number in range(lines.MOST_COLUMNS + 1)]


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def workbook(*rows: list[Any]) -> bytes:
    book, packed = Workbook(write_only=True), BytesIO()
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    book.save(packed)
    return packed.getvalue()


def parquet_of(**columns: Any) -> bytes:
    packed = BytesIO()
    parquet.write_table(pyarrow.table(columns), packed, compression="zstd")
    return packed.getvalue()


def arrow_of(**columns: Any) -> bytes:
    packed, table = BytesIO(), pyarrow.table(columns)
    with pyarrow.ipc.new_stream(packed, table.schema) as stream:
        stream.write_table(table)
    return packed.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, content)
    return packed.getvalue()


CSV = ",".join(TOO_MANY).encode() + b"\n"
WIDE = {
    "wide.csv": CSV,
    "wide.tsv": CSV.replace(b",", b"\t"),
    "wide.jsonl": json.dumps(dict.fromkeys(TOO_MANY, 1)).encode(),
    "union.jsonl": b"".join(json.dumps({name: 1}).encode() + b"\n" for name in TOO_MANY),
    "wide.xlsx": workbook(TOO_MANY),
    "wide.parquet": parquet_of(**{name: [1] for name in TOO_MANY}),
    "wide.arrow": arrow_of(**{name: [1] for name in TOO_MANY}),
    "wide.zip": zipped("train.csv", CSV),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WIDE)
def test_files_with_too_many_columns_name_the_limit(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, WIDE[name])
    with pytest.raises(UnreadableFileError) as refused:
        first_records(path, limit=1000)
    assert "The file has 501 columns, and the limit is 500. Delete the columns" in refused.value.reason


@pytest.mark.once
def test_files_with_as_many_columns_as_allowed_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", ",".join(TOO_MANY[1:]).encode() + b"\n" + b"1," * 499 + b"1\n")
    (record,) = first_records(path)
    assert len(record.fields) == lines.MOST_COLUMNS  # type: ignore[union-attr]


def fail(*_: object, **__: object) -> None:
    raise AssertionError("this decodes the file")


@pytest.mark.once
def test_a_line_of_200000_headings_is_not_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.csv", ",".join(f"heading{n}" for n in range(200_000)).encode())
    monkeypatch.setattr("csv.reader", fail)
    with pytest.raises(UnreadableFileError, match="200,000 columns, and the limit is 500"):
        first_records(path)


@pytest.mark.once
@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"a": pyarrow.array([[None] * 5_000_000], pyarrow.list_(pyarrow.int8()))}, "100,000 values"),
        ({"a": ["x" * 100_000_000]}, "64 MiB"),
        ({name: [1] for name in TOO_MANY}, "501 columns"),
    ],
)
def test_parquet_bomb_is_rejected_from_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: dict[str, Any], sentence: str
) -> None:
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", fail)
    path = written(tmp_path, "a.parquet", parquet_of(**columns))
    with path.open("rb") as file, pytest.raises(columnar.RefusedFileError, match=sentence):
        next(columnar._parquet(file, lines.MAX_FILE_BYTES))


@pytest.mark.once
def test_oversized_workbook_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.xlsx", workbook(["a", "b"]))
    monkeypatch.setattr(worksheets, "MAX_TEXT_BYTES", 10)
    monkeypatch.setattr(worksheets, "load_workbook", fail)
    with pytest.raises(UnreadableFileError, match="texts unpack to more than"):
        first_records(path)


@pytest.mark.once
def test_reading_that_takes_too_long_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "a.jsonl", b'{"a": 1}\n')
    monkeypatch.setattr(readers, "MOST_SECONDS", -1.0)
    with pytest.raises(UnreadableFileError, match=r"which is the limit\. Split the file"):
        first_records(path)


@pytest.mark.once
@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (signal.SIGXCPU, "take more than 60 seconds to read. Split the file"),
        (signal.SIGKILL, "take more than 2 GiB of memory to read. Split the file"),
        (None, "take more than 60 seconds to read. Split the file"),
    ],
)
def test_preview_beyond_a_limit_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals | None, sentence: str
) -> None:
    def end(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        if ending is None:
            raise subprocess.TimeoutExpired(command, 1)
        return subprocess.CompletedProcess(command, -ending, b"", b"")

    monkeypatch.setattr("subprocess.run", end)
    found = opening_from_json(read_opening(tmp_path / "a.csv", "a.csv", ""), "")
    assert found.problem
    assert sentence in found.problem.reason


@pytest.mark.once
def test_a_preview_keeps_few_bytes_of_long_records(tmp_path: Path) -> None:
    long = json.dumps({"text": "x" * 3 * 1024**2}).encode() + b"\n"
    found = opening_from_json(read_opening(written(tmp_path, "a.jsonl", long * 3), "a.jsonl", ""), "")
    assert (len(found.records), found.is_whole) == (1, False)


@pytest.mark.once
def test_a_preview_keeps_what_no_database_holds(tmp_path: Path) -> None:
    line = json.dumps({"a": "\0 \ud800 é"}).encode()
    text = read_opening(written(tmp_path, "a.jsonl", line), "a.jsonl", "")
    assert text.isascii()
    (record,) = opening_from_json(text, "").records
    assert record.fields == {"a": "\0 \ud800 é"}  # type: ignore[union-attr]


# On pages.

ROW = {"document": "product-1", "system": "system-1", "judge": "J", "method": "RTS", "dimension": "fluency"}
KINDS = {
    "imports": ([item()], "A summary."),
    "judgment_imports": ([{**ROW, "value": 3}], "product-1"),
    "metrics": ([{"document": "product-1", "system": "system-1", "length": 12}], "length"),
}


@pytest.fixture
def cast(client: Client) -> Cast:
    cast = make_project()
    client.force_login(cast.admin)
    return cast


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that workers decode."""
    names: list[str] = []

    def count(path: Path, name: str, part: str) -> str:
        names.append(name)
        return read_opening(path, name, part)

    monkeypatch.setattr(uploads, "read_opening", count)
    return names


def uploaded(client: Client, cast: Cast, pages: str, rows: list[dict[str, Any]]) -> str:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file = SimpleUploadedFile("file.jsonl", content)
    return client.post(reverse(pages, args=[cast.project.slug]), {"file": file})["Location"]


def read_page(client: Client, page: str) -> str:
    return client.get(page).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("pages", KINDS)
def test_pages_never_open_the_upload(
    client: Client, cast: Cast, decoded: list[str], settings: Any, tmp_path: Path, pages: str
) -> None:
    settings.MEDIA_ROOT = tmp_path
    rows, sign = KINDS[pages]
    page = uploaded(client, cast, pages, rows)
    for _ in range(2):
        read_uploads()
    upload = DataImport.objects.get()
    Path(upload.file.path).unlink()
    for _ in range(3):
        assert sign in read_page(client, page)
    assert client.post(page, {"show": "1"}).status_code in (200, 422)
    assert decoded == ["file.jsonl"]


@pytest.mark.django_db
@pytest.mark.parametrize("pages", KINDS)
def test_page_polls_until_the_worker_has_read(client: Client, cast: Cast, pages: str) -> None:
    page = uploaded(client, cast, pages, KINDS[pages][0])
    assert "A worker reads the first rows of the file" in read_page(client, page)
    assert '<a class="button" href="?">Reload</a>' in read_page(client, page), "it works without JavaScript"
    polled = client.get(page, headers=HTMX)
    assert 'hx-trigger="every 1s"' in polled.content.decode()
    assert "<html" not in polled.content.decode()
    read_uploads()
    assert client.get(page, headers=HTMX)["HX-Refresh"] == "true"
    assert "Check and import" in read_page(client, page)


@pytest.mark.django_db
def test_rejected_upload_stays_and_names_the_limit(client: Client, cast: Cast) -> None:
    page = uploaded(client, cast, "imports", [dict.fromkeys(TOO_MANY, 1)])
    read_uploads()
    assert "The file has 501 columns, and the limit is 500." in read_page(client, page)
    assert "Discard the file" in read_page(client, page)
    assert DataImport.objects.get().file.storage.exists(DataImport.objects.get().file.name or "")


@pytest.mark.django_db
def test_a_stopped_preview_is_read_again_on_its_page(client: Client, cast: Cast) -> None:
    page = uploaded(client, cast, "imports", [item()])
    UploadPreview.objects.update(status="stopped", reason="It stopped.")
    assert "It stopped." in read_page(client, page)
    assert "A worker reads" in client.post(page, {"read_again": "1"}).content.decode()
    read_uploads()
    assert "Check and import" in read_page(client, page)


@pytest.mark.django_db
def test_an_upload_without_a_preview_gets_one(client: Client, cast: Cast) -> None:
    page = uploaded(client, cast, "imports", [item()])
    UploadPreview.objects.all().delete()
    assert "A worker reads" in read_page(client, page)
    read_uploads()
    assert "Check and import" in read_page(client, page)


@pytest.mark.django_db(transaction=True)
def test_the_preview_goes_with_the_imported_file(
    client: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    page = uploaded(client, cast, "imports", [item()])
    assert UploadPreview.objects.get().status == "ready"
    meanings = ("document_key", "part", "system", "text")
    client.post(page, {"what": "items"} | {f"meaning_{n}": name for n, name in enumerate(meanings)})
    assert DataImport.objects.get().status == "imported"
    assert not UploadPreview.objects.exists()
