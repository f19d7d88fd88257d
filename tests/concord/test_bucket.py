"""Files in a bucket: what is kept, read, listed and lost, and hosts that share no disk."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotate.core.files import JobNotes, StorageAwayError, changed_at, iter_file_names, local_path
from annotate.core.jobs import run_job
from annotate.core.models import DataImport, Export, Item
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.material.commands.uploads import receive_upload, remove_orphans
from annotate.material.queries.imports import refused_file_of
from concord.backups.archive import (
    BackupError,
    dump_files,
    hold_files,
    loaded_files,
    reading,
    refuse_used_folder,
    writing,
)
from concord.environment import file_storage
from tests.concord.serving import make_bucket, s3_server
from tests.factories import Cast, make_project
from tests.judges.workers import wait_until, worker
from tests.material.files import read_uploads

LINE = {"document_id": "d1", "article": "A source.", "system": "s1", "text": "A summary."}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as running:
        yield running


@pytest.fixture
def bucket(server: str, request: pytest.FixtureRequest, settings: Any, monkeypatch: Any) -> Iterator[str]:
    """Keep files in a new bucket; give its address."""
    address = make_bucket(server, request.node.name.replace("_", "-"))
    keep_in(address, settings, monkeypatch)
    yield address
    keep_in(address, settings, monkeypatch)
    for each in iter_file_names():
        default_storage.delete(each)


def keep_in(address: str, settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("CONCORD_FILES_URL", address)
    settings.STORAGES = {**settings.STORAGES, "default": file_storage()}


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return make_project()


def test_notes_and_copies(bucket: str, cast: Cast) -> None:
    notes = JobNotes("imports", 7)
    assert (notes.lines, notes.noted_at, notes.is_cancelled) == (0, 0, False)
    notes.note_lines(1)
    notes.note_lines(2)
    notes.cancel()
    assert (notes.lines, notes.noted_at > 0, notes.is_cancelled) == (2, True, True)
    notes.clear()
    assert (notes.lines, notes.noted_at, notes.is_cancelled) == (0, 0, False)
    upload = receive_upload(project=cast.project, by=cast.admin, file=ContentFile(b"{}", "a"), name="a.jsonl")
    assert local_path(upload.file).read_bytes() == b"{}"
    assert list(iter_file_names()) == [upload.file.name]
    assert changed_at(str(upload.file.name)) > 0


def test_missing_file_and_unreachable_bucket_raise_errors(
    bucket: str, settings: Any, monkeypatch: pytest.MonkeyPatch, cast: Cast
) -> None:
    with pytest.raises(FileNotFoundError):
        default_storage.open("exports/none.zip")
    assert changed_at("exports/none.zip") == 0
    default_storage.delete("exports/none.zip")
    export = start_export(project=cast.project, choice=ExportChoice(Format.JSONL), by=cast.admin)
    run_job("export", export.pk)
    nowhere = bucket.replace(bucket.rpartition("@")[2], "127.0.0.1:9/none?region=us-east-1")
    keep_in(nowhere, settings, monkeypatch)
    with pytest.raises(StorageAwayError, match="did not answer"):
        default_storage.exists("x")
    client = Client(raise_request_exception=False)
    assert client.get("/health/ready").json()["files"] == "away"
    client.force_login(cast.admin)
    page = client.get(reverse("export_file", args=[cast.project.slug, export.pk]))
    assert (page.status_code, "The file storage does not answer" in page.content.decode()) == (503, True)


def test_uploads_that_no_row_names_are_removed(bucket: str, cast: Cast, monkeypatch: Any) -> None:
    upload = receive_upload(project=cast.project, by=None, file=ContentFile(b"{}", "a"), name="a.jsonl")
    default_storage.save(f"imports/{'0' * 32}", ContentFile(b"lost"))
    monkeypatch.setattr("annotate.material.commands.uploads.ORPHANED_AFTER", timedelta(hours=-1))
    assert remove_orphans() == 1
    assert list(iter_file_names()) == [upload.file.name]


def test_backup_contains_the_bucket_files(bucket: str, tmp_path: Path) -> None:
    default_storage.save("exports/a.zip", ContentFile(b"an export"))
    with writing(tmp_path / "backup") as writer:
        held = tmp_path / "held"
        hold_files(held)
        default_storage.delete("exports/a.zip")  # held already
        hold_files(held)
        assert dump_files(writer, held) == 1
        writer.close_with({})
        writer.archive.writestr("secrets.json", "{}")
    refuse_used_folder()
    with reading(tmp_path / "backup") as reader, loaded_files(reader):
        pass
    with default_storage.open("exports/a.zip") as restored:
        assert restored.read() == b"an export"
    with pytest.raises(BackupError, match="The bucket is not empty"):
        refuse_used_folder()


def test_a_web_server_and_a_worker_share_no_disk(bucket: str, cast: Cast, tmp_path: Path) -> None:
    client, slug, before = Client(), cast.project.slug, Item.objects.count()
    client.force_login(cast.admin)
    lines = "\n".join(map(json.dumps, [LINE, LINE | {"system": "s2", "text": ""}]))
    file = SimpleUploadedFile("items.jsonl", lines.encode())
    assert client.post(reverse("imports", args=[slug]), {"file": file}).status_code == 302
    read_uploads()
    upload = DataImport.objects.get()
    page = reverse("data_import", args=[slug, upload.pk])
    shown = client.get(page)
    assert b"A summary." in shown.content
    (tmp_path / "other host").mkdir()
    with worker(tmp_path / "other host", files=bucket) as other:
        form = shown.context["form"]
        asked = {name: field.value() or "" for name, field in ((each.html_name, each) for each in form)}
        client.post(page, asked | {"what": "items"})
        assert wait_until(lambda: ended(upload)), other.log.read_text()
        assert upload.status == "refused"
        assert default_storage.exists(refused_file_of(upload))
        assert b"refused_line" in b"".join(client.get(f"{page}refused.jsonl"))
        client.post(f"{page}again/", {"only_good": "1"})
        assert wait_until(lambda: ended(upload)), other.log.read_text()
        assert (upload.status, Item.objects.count() - before) == ("imported", 1)
        client.post(reverse("exports", args=[slug]), {"format": "csv"})
        export = Export.objects.get()
        assert wait_until(lambda: ended(export)), other.log.read_text()
    answer = client.get(reverse("export_file", args=[slug, export.pk]))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert b"A summary." in archive.read(f"{slug}/items.csv")
    assert [each for each in iter_file_names() if not each.endswith(".refused")] == [export.file.name]
    assert not list((tmp_path / "other host/scratch/exports").iterdir())


def ended(job: Any) -> bool:
    job.refresh_from_db()
    return job.status in ("refused", "imported", "ready", "stopped")
