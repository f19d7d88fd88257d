"""Uploaded files on their way through the worker."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from annotate.core.errors import NotReadyError
from annotate.core.jobs import SILENT_AFTER, run_job
from annotate.core.models import DataImport, Item, RatingChange
from annotate.material.commands import uploads
from annotate.material.commands.imports import import_file
from annotate.material.commands.uploads import discard_import, receive_upload
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import first_records
from annotate.material.reading.report import ImportReport
from annotate.material.reading.rows import Record
from tests.factories import make_user
from tests.material.files import empty_project, item, jsonl, rating, start_import

pytestmark = pytest.mark.django_db
Status = DataImport.Status
What = DataImport.What
Waiting = Callable[..., DataImport]


@pytest.fixture
def waiting(tmp_path: Path) -> Waiting:
    """Upload records and start their import."""

    def make(*records: dict[str, Any], what: What = What.ITEMS) -> DataImport:
        path = jsonl(tmp_path, *records)
        file = ContentFile(path.read_bytes(), path.name)
        upload = receive_upload(project=empty_project(), by=make_user(), file=file, name=path.name)
        start_import(data_import=upload, mapping=guess_mapping(first_records(path)), what=what)
        upload.refresh_from_db()
        return upload

    return make


def kept(upload: DataImport) -> bool:
    return upload.file.storage.exists(upload.file.name or "")


def test_a_worker_imports_a_waiting_file_and_deletes_it(waiting: Waiting) -> None:
    upload = waiting(item() | rating(), what=What.BOTH)
    assert (upload.status, kept(upload)) == (Status.WAITING, True)
    run_job("import", upload.pk)
    assert not kept(upload)
    upload.refresh_from_db()
    assert (upload.status, upload.file.name) == (Status.IMPORTED, "")
    assert ImportReport.from_json(upload.report or {}).made.items == 1
    assert RatingChange.objects.get().actor == upload.created_by


def test_rejected_file_stays_until_discarded(waiting: Waiting) -> None:
    upload = waiting(item(text=""))
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert (upload.status, kept(upload)) == (Status.REFUSED, True)
    assert ImportReport.from_json(upload.report or {}).refused[0].field == "text"


def test_discarding_deletes_the_file(
    waiting: Waiting, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    upload = waiting(item(text=""))
    with django_capture_on_commit_callbacks(execute=True):
        discard_import(data_import=upload)
    assert not kept(upload)
    assert not DataImport.objects.exists()
    discard_import(data_import=upload)
    run_job("import", upload.pk)


def test_a_message_that_comes_twice_imports_once(waiting: Waiting) -> None:
    upload = waiting(item())
    run_job("import", upload.pk)
    run_job("import", upload.pk)
    assert Item.objects.count() == 1


def test_an_import_that_a_worker_is_at_is_not_started_or_discarded(waiting: Waiting) -> None:
    upload = waiting(item())
    mapping = guess_mapping([])
    for status in (Status.CHECKING, Status.WRITING, Status.IMPORTED):
        DataImport.objects.update(status=status)
        with pytest.raises(NotReadyError):
            start_import(data_import=upload, mapping=mapping, what=What.ITEMS)
        with pytest.raises(NotReadyError):
            discard_import(data_import=upload)


@pytest.mark.parametrize(
    ("status", "silence"),
    [
        (Status.WAITING, timedelta(0)),
        (Status.CHECKING, SILENT_AFTER),
        (Status.WRITING, SILENT_AFTER),
    ],
)
def test_an_import_whose_worker_has_gone_silent_is_started_again(
    waiting: Waiting, status: str, silence: timedelta
) -> None:
    upload = waiting(item())
    DataImport.objects.update(status=status, touched_at=timezone.now() - silence)
    start_import(data_import=upload, mapping=guess_mapping([]), what=What.ITEMS)
    upload.refresh_from_db()
    assert upload.status == Status.WAITING


def test_file_unavailable_to_the_worker_is_reported_with_a_remedy(waiting: Waiting) -> None:
    upload = waiting(item())
    upload.file.storage.delete(upload.file.name or "")
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert upload.status == Status.STOPPED
    assert "CONCORD_DATA" in upload.message


def start_again(upload: DataImport) -> None:
    DataImport.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    start_import(data_import=upload, mapping=guess_mapping([Record(1, item())]), what=What.ITEMS)


def start_again_and_import(upload: DataImport) -> None:
    start_again(upload)
    run_job("import", upload.pk)


def discard(upload: DataImport) -> None:
    DataImport.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    discard_import(data_import=upload)


@pytest.fixture(params=["checking", "writing"])
def silent_worker(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[DataImport, Callable[[DataImport], None]], None]:
    """A worker that falls silent at a stage, and comes back after something has happened meanwhile."""

    def run(upload: DataImport, meanwhile: Callable[[DataImport], None]) -> None:
        def import_slowly(*, on_progress: OnProgress, **arguments: Any) -> ImportReport:
            def report_and_fall_silent(
                stage: str, fraction: float, lines: int = 0, report: Any = None
            ) -> None:
                on_progress(stage, fraction, lines, report)
                if stage == request.param:
                    monkeypatch.undo()
                    meanwhile(upload)

            return import_file(on_progress=report_and_fall_silent, **arguments)

        monkeypatch.setattr(uploads, "import_file", import_slowly)
        run_job("import", upload.pk)

    return run


Silent = Callable[[DataImport, Callable[[DataImport], None]], None]


def test_a_worker_that_comes_back_leaves_a_waiting_import_to_its_successor(
    waiting: Waiting, silent_worker: Silent
) -> None:
    upload = waiting(item())
    silent_worker(upload, start_again)
    upload.refresh_from_db()
    assert (upload.status, kept(upload), Item.objects.count()) == (Status.WAITING, True, 0)
    run_job("import", upload.pk)
    upload.refresh_from_db()
    assert (upload.status, Item.objects.count()) == (Status.IMPORTED, 1)


def test_a_worker_that_comes_back_does_not_report_over_its_successor(
    waiting: Waiting, silent_worker: Silent
) -> None:
    upload = waiting(item())
    silent_worker(upload, start_again_and_import)
    upload.refresh_from_db()
    assert (upload.status, Item.objects.count()) == (Status.IMPORTED, 1)
    assert ImportReport.from_json(upload.report or {}).made.items == 1


def test_returning_worker_imports_nothing_of_a_discarded_upload(
    waiting: Waiting, silent_worker: Silent
) -> None:
    silent_worker(waiting(item()), discard)
    assert not Item.objects.exists()
