"""Exports that people ask for: written by a worker, kept, started again, deleted."""

import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import NotReadyError
from annotate.core.jobs import MAX_ATTEMPTS, run_job
from annotate.core.models import AuditEntry, Export
from annotate.exports import commands
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import delete_export, restart_export, start_export
from annotate.exports.files import write_file
from annotate.exports.manifest import Manifest
from annotate.exports.queries import notes_of, state_of
from annotate.setup.commands import delete_project
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db
Status = Export.Status
JSONL = ExportChoice(Format.JSONL)
Committed = Callable[..., Any]


def started(cast: Cast) -> Export:
    return start_export(project=cast.project, choice=JSONL, by=cast.admin)


def files() -> list[str]:
    return default_storage.listdir("exports")[1] if default_storage.exists("exports") else []


def asked(client: Client, cast: Cast, **entered: Any) -> Export:
    page = reverse("exports", args=[cast.project.slug])
    reply = client.post(page, {"format": "csv", "parts": ["comments"], **entered})
    export = Export.objects.latest("pk")
    assert reply["Location"] == reverse("export", args=[cast.project.slug, export.pk])
    return export


def test_a_researcher_asks_waits_and_takes_the_file_away(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.researcher)
    export = asked(client, cast, licence="cc-by-4.0")
    page = reverse("export", args=[cast.project.slug, export.pk])
    assert "Waiting for a worker" in client.get(page).content.decode()
    file = reverse("export_file", args=[cast.project.slug, export.pk])
    assert client.get(file).status_code == 404
    run_job("export", export.pk)
    export.refresh_from_db()
    shown = client.get(page).content.decode()
    assert export.content_hash in shown
    assert "Without raters, replies, sources, threads." in shown
    fragment = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert fragment.strip().startswith("<section")
    assert fragment.strip() in shown
    reply = client.get(file)
    body = b"".join(reply.streaming_content)  # type: ignore[attr-defined]
    assert len(body) == export.size
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert f"{cast.project.slug}/ratings.csv" in archive.namelist()
        assert f"{cast.project.slug}/posts.csv" not in archive.namelist()
    assert page in client.get(reverse("exports", args=[cast.project.slug])).content.decode()


def test_unknown_format_is_rejected_with_the_form(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    reply = client.post(reverse("exports", args=[cast.project.slug]), {"format": "doc"})
    assert (reply.status_code, Export.objects.count()) == (422, 0)


@pytest.mark.parametrize("who", ["annotator", "outsider"])
def test_user_without_results_access_gets_no_export(client: Client, who: str) -> None:
    cast = make_project()
    export = started(cast)
    run_job("export", export.pk)
    user = cast.annotators[0].user if who == "annotator" else cast.outsider
    assert user is not None
    client.force_login(user)
    for name in ("export", "export_file"):
        assert client.get(reverse(name, args=[cast.project.slug, export.pk])).status_code == 404
    for name in ("export_again", "export_delete"):
        assert client.post(reverse(name, args=[cast.project.slug, export.pk])).status_code == 404
    client.force_login(cast.admin)
    other = make_project()
    assert client.get(reverse("export_file", args=[other.project.slug, export.pk])).status_code == 404


def test_a_message_that_comes_twice_writes_once() -> None:
    export = started(make_project())
    before = set(files())
    run_job("export", export.pk)
    export.refresh_from_db()
    written = export.file.name
    run_job("export", export.pk)
    export.refresh_from_db()
    assert (export.status, export.file.name) == (Status.READY, written)
    assert len(set(files()) - before) == 1


def test_a_file_is_the_snapshot_that_the_command_line_writes(tmp_path: Path) -> None:
    cast = make_project()
    export = started(cast)
    run_job("export", export.pk)
    export.refresh_from_db()
    manifest = write_file(cast.project, JSONL, tmp_path / "file")
    assert export.content_hash == manifest.content_hash
    assert Path(export.file.path).read_bytes() == (tmp_path / "file").read_bytes()


def test_a_worker_that_comes_back_leaves_the_export_to_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    export = started(make_project())
    before = set(files())

    def write_slowly(*arguments: Any) -> Manifest:
        monkeypatch.undo()
        Export.objects.update(touched_at=timezone.now() - timedelta(hours=1))
        restart_export(export=export)
        run_job("export", export.pk)
        return write_file(*arguments)

    monkeypatch.setattr(commands, "write_file", write_slowly)
    run_job("export", export.pk)
    export.refresh_from_db()
    assert export.status == Status.READY
    assert {f"exports/{name}" for name in set(files()) - before} == {export.file.name}


def test_only_an_unclaimed_export_restarts() -> None:
    export = started(make_project())
    Export.objects.update(status=Status.WRITING, lease="11111111-1111-1111-1111-111111111111")
    with pytest.raises(NotReadyError):
        restart_export(export=export)
    notes_of(export).note_lines(5)
    export.refresh_from_db()
    assert (state_of(export).rows, state_of(export).is_silent) == (5, False)
    notes_of(export).clear()
    Export.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    export.refresh_from_db()
    assert state_of(export).is_silent
    restart_export(export=export)
    export.refresh_from_db()
    assert (export.status, export.lease) == (Status.WAITING, None)


def test_an_export_that_breaks_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    export = started(make_project())
    before = files()

    def break_off(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(commands, "write_file", break_off)
    for _ in range(MAX_ATTEMPTS):
        run_job("export", export.pk)
    export.refresh_from_db()
    assert (export.status, export.lease) == (Status.STOPPED, None)
    assert files() == before


def test_deleting_deletes_the_file_and_stops_the_worker(
    client: Client, django_capture_on_commit_callbacks: Committed
) -> None:
    cast = make_project()
    export = started(cast)
    run_job("export", export.pk)
    export.refresh_from_db()
    client.force_login(cast.admin)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("export_delete", args=[cast.project.slug, export.pk]))
    assert not default_storage.exists(export.file.name or "")
    assert AuditEntry.objects.filter(act="export.deleted").exists()


def test_a_worker_stops_when_its_export_is_deleted(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Committed
) -> None:
    export = started(make_project())
    before = files()

    def delete_meanwhile(*arguments: Any) -> Manifest:
        with django_capture_on_commit_callbacks(execute=True):
            delete_export(export=export)
        return write_file(*arguments)

    monkeypatch.setattr(commands, "write_file", delete_meanwhile)
    run_job("export", export.pk)
    assert files() == before
    assert not Export.objects.exists()


def test_files_go_with_their_project(django_capture_on_commit_callbacks: Committed) -> None:
    cast = make_project()
    export = started(cast)
    run_job("export", export.pk)
    export.refresh_from_db()
    with django_capture_on_commit_callbacks(execute=True):
        delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not default_storage.exists(export.file.name or "")
