"""What was accepted is done once, whatever happens to messages and workers."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.db.models import Count
from django.utils import timezone

from annotate.core.files import scratch
from annotate.core.jobs import SILENT_AFTER, run_job
from annotate.core.models import (
    AuditEntry,
    ComputedResult,
    DataImport,
    Export,
    Item,
    Project,
    Role,
)
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.material.commands.uploads import discard_forgotten, receive_upload, remove_orphans
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.readers import first_records
from annotate.people.commands import ask_for_mail, invite
from annotate.periodic_tasks import find_due_jobs
from annotate.results.commands import ask_for_page
from annotate.results.registry import result_called
from tests.factories import make_project
from tests.judges.workers import empty_broker, wait_until, worker
from tests.material.files import item, jsonl, start_import

CHOICE = ExportChoice(Format.JSONL)


def uploaded(project: Project, folder: Path, count: int) -> DataImport:
    path = jsonl(folder, *(item(f"d{n}", text=f"Text {n}.") for n in range(count)))
    file = ContentFile(path.read_bytes(), path.name)
    upload = receive_upload(project=project, by=None, file=file, name=path.name)
    start_import(data_import=upload, mapping=guess_mapping(first_records(path)), what=DataImport.What.ITEMS)
    return upload


@pytest.mark.django_db
def test_pending_and_abandoned_jobs_are_enqueued(tmp_path: Path) -> None:
    cast = make_project()
    upload = uploaded(cast.project, tmp_path, 1)
    export = start_export(project=cast.project, choice=CHOICE, by=cast.admin)
    result = ask_for_page(project=cast.project, result=result_called(cast.project, "agreement"))
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="a@example.org")
    ask_for_mail(invitation=offer, site="https://concord.example/")
    assert find_due_jobs() == [("invitation", offer.pk)]  # others have a message on its way
    long_ago = timezone.now() - SILENT_AFTER
    DataImport.objects.update(touched_at=long_ago)
    Export.objects.update(status="writing", lease=uuid4(), touched_at=long_ago)
    ComputedResult.objects.update(asked_at=long_ago, heartbeat_at=long_ago)
    due = [("export", export.pk), ("import", upload.pk), ("invitation", offer.pk), ("result", result)]
    assert sorted(find_due_jobs()) == due
    now = timezone.now()
    Export.objects.update(touched_at=now)
    ComputedResult.objects.update(heartbeat_at=now)
    DataImport.objects.update(status="checking", touched_at=now)
    run_job("invitation", offer.pk)
    assert find_due_jobs() == []


@pytest.mark.django_db
def test_next_worker_removes_the_remains_of_a_dead_one() -> None:
    cast = make_project()
    export = start_export(project=cast.project, choice=CHOICE, by=cast.admin)
    dead = uuid4()
    Export.objects.update(status="writing", lease=dead, touched_at=timezone.now() - SILENT_AFTER)
    left = scratch(f"exports/{dead.hex}.zip-half")
    left.mkdir()
    run_job("export", export.pk)
    export.refresh_from_db()
    assert (export.status, left.exists()) == ("ready", False)


@pytest.mark.django_db
def test_uploads_that_no_row_names_are_removed(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    upload = uploaded(make_project().project, tmp_path, 1)
    kept, lost, new = Path(upload.file.path), *(tmp_path / "imports" / uuid4().hex for _ in range(2))
    under_way, forgotten = (tmp_path / "imports" / f"{number}.alive" for number in (upload.pk, upload.pk + 1))
    for each in (lost, new, under_way, forgotten):
        each.touch()
    for each in (lost, kept, under_way, forgotten):
        os.utime(each, (1, 1))
    assert remove_orphans() == 2
    there = [each.exists() for each in (kept, lost, new, under_way, forgotten)]
    assert there == [True, False, True, True, False]


@pytest.mark.django_db
def test_abandoned_uploads_are_discarded_and_work_in_progress_is_not(
    tmp_path: Path, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    project = make_project().project
    old, new, waiting = (uploaded(project, tmp_path, number) for number in (1, 2, 3))
    long_ago = timezone.now() - timedelta(days=settings.UPLOAD_DAYS, minutes=1)
    DataImport.objects.filter(pk__in=(old.pk, new.pk)).update(status=DataImport.Status.REFUSED)
    DataImport.objects.filter(pk__in=(old.pk, waiting.pk)).update(touched_at=long_ago)
    with django_capture_on_commit_callbacks(execute=True):
        assert discard_forgotten() == 1
    assert set(DataImport.objects.values_list("pk", flat=True)) == {new.pk, waiting.pk}
    assert [Path(each.file.path).exists() for each in (old, new, waiting)] == [False, True, True]
    assert AuditEntry.objects.filter(project=project, act="import.discarded").count() == 1
    assert discard_forgotten() == 0


KILLS = int(os.environ.get("KILLS", "3"))
AT_IT = (DataImport.Status.CHECKING, DataImport.Status.WRITING)


@pytest.mark.django_db(transaction=True)
def test_everything_is_done_once_although_workers_are_killed_and_messages_lost(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    casts = [make_project() for _ in range(4)]
    before = Item.objects.count()
    count = 400 * KILLS
    for cast in casts:  # no message is sent for any of it
        uploaded(cast.project, tmp_path, count)
        start_export(project=cast.project, choice=CHOICE, by=cast.admin)
        ask_for_page(project=cast.project, result=result_called(cast.project, "agreement"))
    with worker(tmp_path, lease=1) as running:
        for _ in range(KILLS):
            assert wait_until(lambda: someone_is_at_it() or all_is_done(), every=0.01)
            running.kill()
            empty_broker(tmp_path, "")
            running.start()
        assert wait_until(all_is_done), running.story()
    assert Item.objects.count() - before == len(casts) * count
    made = AuditEntry.objects.filter(act="import.made").values_list("project").annotate(times=Count("pk"))
    assert {times for _, times in made} == {1}
    assert set(DataImport.objects.values_list("status", flat=True)) == {"imported"}
    names = {Path(export.file.name or "").name for export in Export.objects.all()}
    assert {each.name for each in (tmp_path / "uploads/exports").iterdir()} == names
    monkeypatch.setattr("annotate.material.commands.uploads.ORPHANED_AFTER", timedelta(0))
    remove_orphans()  # of workers that were killed between their last two steps
    assert list((tmp_path / "uploads/imports").iterdir()) == []
    assert not ComputedResult.objects.exclude(problem="").exists()


def someone_is_at_it() -> bool:
    exports = Export.objects.filter(status=Export.Status.WRITING)
    results = ComputedResult.objects.filter(asked_at__isnull=False, heartbeat_at__isnull=False)
    return DataImport.objects.filter(status__in=AT_IT).exists() or exports.exists() or results.exists()


def all_is_done() -> bool:
    imports = DataImport.objects.filter(status__in=(DataImport.Status.WAITING, *AT_IT))
    exports = Export.objects.filter(status__in=(Export.Status.WAITING, Export.Status.WRITING))
    return not (
        imports.exists() or exports.exists() or ComputedResult.objects.exclude(asked_at=None).exists()
    )
