"""Imports that are undone, cancelled, or made without their refused lines."""

import csv
import json
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from pyarrow import parquet

from annotate.core.errors import NotReadyError
from annotate.core.files import keep_text
from annotate.core.jobs import run_job
from annotate.core.models import (
    Assignment,
    DataImport,
    Document,
    Item,
    ItemPart,
    ItemTag,
    Project,
    Role,
    System,
)
from annotate.items.commands import tag_items
from annotate.material.commands import uploads
from annotate.material.commands.imports import import_file
from annotate.material.commands.parts import split_items
from annotate.material.commands.uploads import cancel_import, receive_upload, undo_import
from annotate.material.queries.imports import notes_of, refused_file_of, state_of
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.readers import first_records
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, open_round_one
from judges.core.models import Judge, Judgment
from tests.factories import make_member, make_user
from tests.material.files import empty_project, item, jsonl, rating, read_uploads, source, start_import
from tests.questions.asking import add_question

pytestmark = pytest.mark.django_db
Status = DataImport.Status
What = DataImport.What


@pytest.fixture
def project() -> Project:
    return empty_project(dimensions=("fluency",))


def brought(project: Project, folder: Path, *records: dict[str, Any], ratings: bool = False) -> DataImport:
    path = jsonl(folder, *records, name=f"{DataImport.objects.count()}.jsonl")
    report = import_file(project=project, source=source(path, items=True, ratings=ratings), by=None)
    assert not report.is_refused
    return DataImport.objects.latest("pk")


def uploaded(project: Project, folder: Path, *records: dict[str, Any]) -> DataImport:
    path = jsonl(folder, *records)
    file = ContentFile(path.read_bytes(), path.name)
    upload = receive_upload(project=project, by=make_user(), file=file, name=path.name)
    start_import(data_import=upload, mapping=guess_mapping(first_records(path)), what=What.ITEMS)
    upload.refresh_from_db()
    return upload


def material() -> list[int]:
    return [model.objects.count() for model in (Document, System, Item, Assignment)]


def test_import_is_undone_as_a_whole_with_its_unstarted_assignments(project: Project, tmp_path: Path) -> None:
    brought(project, tmp_path, item("d1"))
    before = material()
    open_round_one(project=project, by=None)
    second = brought(project, tmp_path, item("d1"), item("d2"), item("d2", system="s2"))
    assert material() == [2, 2, 3, 9]
    admin = make_user()
    for _ in range(2):
        undone = undo_import(data_import=second, by=admin)
    assert (undone.status, undone.undone_by) == (Status.UNDONE, admin)
    assert material() == [*before[:3], 3]
    assert Item.objects.get().document.key == "d1"


def test_parts_and_tags_of_an_undone_import_go_with_its_items(project: Project, tmp_path: Path) -> None:
    add_question(project, "parts")
    made = brought(project, tmp_path, item("d1"), item("d2"))
    assert split_items(project=project) == 2
    tag_items(project=project, items=Item.objects.all(), tag="check", by=make_user())
    undo_import(data_import=made, by=None)
    assert [model.objects.count() for model in (Item, ItemPart, ItemTag)] == [0, 0, 0]
    connection.check_constraints()


def begun(project: Project, _folder: Path) -> None:
    round = open_round_one(project=project, by=None)
    reserve_items(round=round, annotator=make_member(project), how_many=1)


def judged(project: Project, _folder: Path) -> None:
    judge = Judge.objects.create(project=project, name="J", model="m", method="rts")
    dimension = project.dimensions.get()
    Judgment.objects.create(judge=judge, dimension=dimension, item=Item.objects.get())


def built_upon(project: Project, folder: Path) -> None:
    brought(project, folder, {"document_id": "d1", "system": "s2", "text": "Another."})


def closed(project: Project, _folder: Path) -> None:
    open_round_one(project=project, by=None)
    close_round_one(project=project, by=None)


@pytest.mark.parametrize(
    ("happens", "sentence"),
    [
        (begun, "there are already 1 started assignments"),
        (judged, "there are already 1 judgments"),
        (built_upon, "undo that first: 1.jsonl"),
        (closed, "Round I was closed"),
    ],
)
def test_an_import_that_something_depends_on_stays(
    project: Project, tmp_path: Path, happens: Callable[[Project, Path], None], sentence: str
) -> None:
    first = brought(project, tmp_path, item("d1"))
    happens(project, tmp_path)
    before = material()
    with pytest.raises(NotReadyError, match=sentence):
        undo_import(data_import=first, by=None)
    assert material() == before


def test_recorded_ratings_are_history_and_stay(project: Project, tmp_path: Path) -> None:
    made = brought(project, tmp_path, item() | rating(), ratings=True)
    with pytest.raises(NotReadyError, match="1 recorded ratings, and the history of a rating is never"):
        undo_import(data_import=made, by=None)


@pytest.mark.parametrize("stage", ["checking", "writing", "writing items", "written"])
def test_a_cancelled_import_imports_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    upload = uploaded(project, tmp_path, *(item(f"d{n}") for n in range(3)))

    def import_slowly(*, on_progress: Callable[..., None], **arguments: Any) -> Any:
        def report_and_cancel(now: str, fraction: float, lines: int = 0, report: Any = None) -> None:
            if now == stage:
                notes_of(upload).cancel()
            on_progress(now, fraction, lines, report)

        return import_file(on_progress=report_and_cancel, **arguments)

    monkeypatch.setattr(uploads, "import_file", import_slowly)
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert (upload.status, upload.message) == (Status.STOPPED, str(uploads.CANCELLED))
    assert not Item.objects.exists()
    assert not notes_of(upload).is_cancelled


def test_unclaimed_import_is_cancelled_at_once_and_an_ended_one_never(
    project: Project, tmp_path: Path
) -> None:
    upload = uploaded(project, tmp_path, item())
    cancel_import(data_import=upload)
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert (upload.status, Item.objects.count()) == (Status.STOPPED, 0)
    with pytest.raises(NotReadyError, match="not running"):
        cancel_import(data_import=upload)


def test_progress_counts_lines_while_they_are_checked_and_written(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "TELL_SECONDS", 0)
    upload = uploaded(project, tmp_path, *(item(f"d{n}") for n in range(401)))
    seen = []

    def import_watched(*, on_progress: Callable[..., None], **arguments: Any) -> Any:
        def report_and_look(stage: str, fraction: float, lines: int = 0, report: Any = None) -> None:
            on_progress(stage, fraction, lines, report)
            upload.refresh_from_db()
            state = state_of(upload)
            seen.append((stage, upload.lines, state.lines_written, state.percent_written))

        return import_file(on_progress=report_and_look, **arguments)

    monkeypatch.setattr(uploads, "import_file", import_watched)
    run_job("import", upload.pk)
    assert ("checking", 400, 0, 0) in seen
    assert ("writing items", 401, 400, 100) in seen


GOOD = item("d1")
BAD = [item("d2", text=""), {"document_id": "d2", "system": "s2", "text": "Without its article."}]


@pytest.mark.django_db(transaction=True)
def test_only_the_good_lines_are_imported_when_that_is_chosen(
    client: Client, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = make_user()
    add_member(project=project, role=Role.ADMIN, user=admin)
    client.force_login(admin)
    upload = uploaded(project, tmp_path, GOOD, *BAD)
    run_job("import", upload.pk)
    assert not Item.objects.exists()
    page = f"/projects/{project.slug}/imports/{upload.pk}/"
    client.get(page)
    read_uploads()
    assert "Import only the good lines" in client.get(page).content.decode()
    monkeypatch.setattr(run_job, "delay", run_job)
    client.post(f"{page}again/", {"only_good": "1"})
    assert Item.objects.get().document.key == "d1"
    assert "left out: 2." in client.get(page).content.decode()

    lines = b"".join(client.get(f"{page}refused.jsonl")).decode().splitlines()
    refused = [json.loads(line) for line in lines]
    assert [line["refused_line"] for line in refused] == [2, 3]
    assert refused[0]["document_id"] == "d2"
    assert "is empty" in refused[0]["refused_reason"]
    rows = csv.DictReader(StringIO(b"".join(client.get(f"{page}refused.csv")).decode()))
    assert [(row["system"], row["refused_field"]) for row in rows] == [("s1", "text"), ("s2", "article")]
    assert client.get(f"{page}refused.pdf").status_code == 404
    default_storage.delete(refused_file_of(upload))
    assert client.get(f"{page}refused.csv").status_code == 404


def test_undo_and_its_reason_are_on_the_page(client: Client, project: Project, tmp_path: Path) -> None:
    admin = make_user()
    add_member(project=project, role=Role.ADMIN, user=admin)
    client.force_login(admin)
    made = brought(project, tmp_path, item("d1"))
    page = f"/projects/{project.slug}/imports/{made.pk}/"
    assert "Undo this import" in client.get(page).content.decode()
    client.post(f"{page}undo/")
    assert "undid this import" in " ".join(client.get(page).content.decode().split())
    assert not Item.objects.exists()
    stays = brought(project, tmp_path, item() | rating(), ratings=True)
    shown = client.get(f"/projects/{project.slug}/imports/{stays.pk}/").content.decode()
    assert "never deleted" in " ".join(shown.split())
    assert "Undo this import" not in shown


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ANNOTATOR, None])
def test_only_admins_do_anything_with_an_import(
    client: Client, project: Project, tmp_path: Path, role: Role | None
) -> None:
    made = brought(project, tmp_path, item("d1"))
    keep_text(refused_file_of(made), "{}")
    other = make_user()
    if role:
        make_member(project, role, user=other)
    client.force_login(other)
    page = f"/projects/{project.slug}/imports/{made.pk}/"
    for step in ("part/", "again/", "cancel/", "discard/", "undo/"):
        assert client.post(f"{page}{step}").status_code == 404
    assert client.get(f"{page}refused.csv").status_code == 404
    made.refresh_from_db()
    assert made.status == Status.IMPORTED


@pytest.mark.django_db(transaction=True)
def test_a_data_set_is_imported_in_the_browser_split_by_split(
    client: Client, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job, "delay", run_job)
    admin = make_user()
    add_member(project=project, role=Role.ADMIN, user=admin)
    client.force_login(admin)
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for split, record in (("train", item("d1")), ("test", item("d2"))):
            table = BytesIO()
            parquet.write_table(pyarrow.Table.from_pylist([record]), table)
            archive.writestr(f"set/{split}-00000-of-00001.parquet", table.getvalue())
    file = SimpleUploadedFile("set.zip", packed.getvalue())
    page = str(client.post(f"/projects/{project.slug}/imports/", {"file": file})["Location"])
    read_uploads()
    assert "default/test (1 file)" in client.get(page).content.decode()
    client.post(f"{page}part/", {"part": "default/test"})
    read_uploads()
    meanings = ("document_key", "part", "system", "text")
    columns = {f"meaning_{number}": meaning for number, meaning in enumerate(meanings)}
    client.post(page, {"mapping_name": "", "what": "items", **columns})
    assert Item.objects.get().document.key == "d2"
