"""Uploads that SQLite writes in steps: dead workers, early ends, and raters at the same time."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.utils import timezone

from annotate.core import database
from annotate.core.configuration import ProjectHeldError
from annotate.core.errors import NotReadyError
from annotate.core.jobs import run_job
from annotate.core.models import (
    Assignment,
    DataImport,
    Dispute,
    DisputeEvent,
    Document,
    Item,
    ItemPart,
    ItemTag,
    Membership,
    Project,
    Rating,
    RatingChange,
    Role,
    System,
)
from annotate.disputes.commands import recorded
from annotate.items.commands import tag_items
from annotate.material.commands import imports, ratings
from annotate.material.commands.uploads import cancel_import, discard_import, receive_upload
from annotate.material.queries.imports import state_of
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.readers import first_records
from annotate.material.reading.report import ImportReport
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_one
from tests.factories import make_user
from tests.material.files import empty_project, item, jsonl, rating, start_import
from tests.questions.asking import add_question

pytestmark = pytest.mark.django_db(transaction=True)
What = DataImport.What
Status = DataImport.Status
MOST_ROWS = 300  # of one transaction; each file below makes more
ITEMS = [item(f"d{number}", f"s{system}") for number in range(40) for system in range(2)]
VALUES = {"A1": (1, 1, 4), "A2": (4, 1, 4), "A3": (3, 1, 1)}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every step for a long one, so that the next is smaller, and make no pauses."""
    monkeypatch.setattr(database, "TARGET_SECONDS", 0)
    monkeypatch.setattr(database, "sleep", lambda _: None)
    monkeypatch.setattr(imports, "MOST_ROWS", 20)


@pytest.fixture
def rows_written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each transaction of SQLite wrote."""
    found: list[int] = []
    before: list[int] = []
    wrapper: Any = DatabaseWrapper
    begin, commit = wrapper._start_transaction_under_autocommit, wrapper._commit

    def noted_begin(self: Any) -> None:
        begin(self)
        before[:] = [self.connection.total_changes]

    def noted_commit(self: Any) -> None:
        commit(self)
        if before:
            found.append(self.connection.total_changes - before.pop())

    monkeypatch.setattr(DatabaseWrapper, "_start_transaction_under_autocommit", noted_begin)
    monkeypatch.setattr(DatabaseWrapper, "_commit", noted_commit)
    return found


@pytest.fixture
def project() -> Project:
    return empty_project(dimensions=("fluency", "coherence", "relevance"))


@pytest.fixture
def upload(project: Project, tmp_path: Path) -> Callable[..., DataImport]:
    def make(records: list[dict[str, Any]], what: What) -> DataImport:
        path = jsonl(tmp_path, *records)
        file = ContentFile(path.read_bytes(), path.name)
        made = receive_upload(project=project, by=None, file=file, name=path.name)
        start_import(data_import=made, mapping=guess_mapping(first_records(path)), what=what)
        return made

    return make


Upload = Callable[..., DataImport]


def first_ratings() -> list[dict[str, Any]]:
    dimensions = ("fluency", "coherence", "relevance")
    return [
        rating(rater, value, document_id=each["document_id"], system=each["system"], dimension=dimension)
        for each in ITEMS
        for rater, values in VALUES.items()
        for dimension, value in zip(dimensions, values, strict=True)
    ]


def done(made: DataImport) -> ImportReport:
    run_job("import", made.pk)
    made.refresh_from_db()
    assert (made.status, made.written) == (Status.IMPORTED, ""), (made.message, made.report)
    return ImportReport.from_json(made.report or {})


def kill(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, at: int) -> None:
    """Let a worker die at a given call of a function; without steps there is one call."""
    at = at if connection.vendor == "sqlite" else 1
    calls: Iterator[int] = iter(range(1, 1000))
    original = getattr(module, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == at:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, call)


def die(made: DataImport) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_job("import", made.pk)
    for thread in threading.enumerate():  # on a busy machine a heartbeat outlives the job's wait for it
        if thread.name == "heartbeat":
            thread.join()
    DataImport.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    made.refresh_from_db()


def test_no_transaction_of_a_job_writes_many_rows(
    project: Project, upload: Upload, rows_written: list[int]
) -> None:
    assert done(upload(ITEMS, What.ITEMS)).made.items == 80
    assert done(upload(first_ratings(), What.RATINGS)).made.ratings == 720
    close_round_one(project=project, by=None)
    assert Dispute.objects.count() == 160
    second = [{**each, "value": 4} for each in first_ratings() if each["dimension"] != "coherence"]
    done(upload(second, What.ANSWERS))
    assert Rating.objects.filter(assignment__round__number=2).count() == 480
    assert set(Dispute.objects.values_list("status", flat=True)) == {"settled"}
    close_round_two(project=project, by=None)
    if connection.vendor == "sqlite":
        assert max(rows_written) < MOST_ROWS


@pytest.mark.parametrize("at", [1, 2, 4])
def test_ratings_that_a_dead_worker_began_are_finished_by_the_next(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    done(upload(ITEMS, What.ITEMS))
    open_round_one(project=project, by=None)
    made = upload(first_ratings(), What.RATINGS)
    with monkeypatch.context() as patch:
        kill(patch, ratings, "write_recorded", at=at)
        die(made)
    if connection.vendor == "sqlite":
        assert Rating.objects.count() == RatingChange.objects.count() > (0 if at > 1 else -1)
        with pytest.raises(ProjectHeldError):
            close_round_one(project=project, by=None)
        with pytest.raises(NotReadyError):
            discard_import(data_import=made)
    assert done(made).made.ratings == 720
    assert Rating.objects.count() == RatingChange.objects.count() == 720
    assert Assignment.objects.filter(completed_at=None, annotator__isnull=False).count() == 0
    close_round_one(project=project, by=None)


def test_answers_that_a_dead_worker_began_are_finished_by_the_next(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(upload(ITEMS, What.ITEMS))
    done(upload(first_ratings(), What.RATINGS))
    close_round_one(project=project, by=None)
    second = [{**each, "value": 4} for each in first_ratings() if each["dimension"] == "fluency"]
    made = upload(second, What.ANSWERS)
    with monkeypatch.context() as patch:
        kill(patch, recorded, "settle_or_reopen_all", at=2)
        die(made)
    assert done(made).made.ratings == 240
    assert RatingChange.objects.filter(rating__assignment__round__number=2).count() == 240
    assert DisputeEvent.objects.filter(kind="settled").count() == 80


def test_items_of_a_dead_worker_are_removed_and_imported_again(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = upload(ITEMS, What.ITEMS)
    with monkeypatch.context() as patch:
        kill(patch, imports, "write_rows", at=4)
        die(made)
    assert made.written == ("items" if connection.vendor == "sqlite" else "")
    report = done(made)
    assert (report.made.items, Item.objects.count(), Document.objects.count()) == (80, 80, 40)


@pytest.mark.parametrize("end", ["discarded", "cancelled", "failed"])
def test_items_of_an_import_that_ends_early_are_removed(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    made = upload(ITEMS, What.ITEMS)
    real: Callable[..., list[int]] = vars(imports)["write_rows"]

    def end_early(*args: Any) -> list[int]:
        if Item.objects.exists() and end == "failed":
            raise OSError("no room")
        if Item.objects.exists() and end == "cancelled":
            cancel_import(data_import=made)
        return real(*args)

    with monkeypatch.context() as patch:
        if end == "discarded":
            kill(patch, imports, "write_rows", at=4)
            die(made)
        else:
            patch.setattr("annotate.material.commands.uploads.TELL_SECONDS", 0)
            patch.setattr("annotate.material.queries.file_reading.TELL_EVERY", 1)
            patch.setattr(imports, "write_rows", end_early)
            for _attempt in range(3 if end == "failed" else 1):
                run_job("import", made.pk)
    if end == "discarded":
        discard_import(data_import=made)
        assert not DataImport.objects.exists()
    else:
        made.refresh_from_db()
        assert (made.status, made.written) == (Status.STOPPED, "")
    assert [model.objects.count() for model in (Item, Document, System)] == [0, 0, 0]


def test_items_with_parts_assignments_and_tags_are_removed(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_question(project, "parts")
    add_member(project=project, user=make_user(), role=Role.ANNOTATOR)
    done(upload([item("first")], What.ITEMS))
    open_round_one(project=project, by=None)
    made = upload(ITEMS, What.ITEMS)
    with monkeypatch.context() as patch:
        kill(patch, imports, "write_rows", at=4)
        die(made)
    tag_items(project=project, items=Item.objects.all(), tag="check", by=make_user())
    if connection.vendor == "sqlite":
        assert ItemPart.objects.count() > 1
    discard_import(data_import=made)
    counts = [model.objects.count() for model in (Item, ItemPart, ItemTag)]
    assert counts == [1, 1, 1]
    assert {each.item.document.key for each in Assignment.objects.all()} == {"first"}


def test_annotator_with_the_last_slot_during_an_import_keeps_it(
    project: Project, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(upload(ITEMS, What.ITEMS))
    round = open_round_one(project=project, by=None)
    person = add_member(project=project, role=Role.ANNOTATOR, user=make_user())
    made = upload(first_ratings(), What.RATINGS)
    if connection.vendor != "sqlite":
        return  # places are locked there
    real = ratings.RatingImporter.write

    def take_before(self: Any, *args: Any) -> None:
        reserve_items(round=round, annotator=person, how_many=1)
        real(self, *args)

    monkeypatch.setattr(ratings.RatingImporter, "write", take_before)
    run_job("import", made.pk)
    made.refresh_from_db()
    assert (made.status, made.written) == (Status.REFUSED, "")
    assert "one too many" in str(made.report)
    assert (Rating.objects.count(), person.assignments.count()) == (0, 1)
    assert not Assignment.objects.filter(annotator__isnull=False).exclude(annotator=person).exists()
    assert Membership.objects.get(project=project) == person


def test_unfinished_write_offers_neither_discarding_nor_cancelling(
    client: Any, project: Project, upload: Upload
) -> None:
    admin = make_user()
    add_member(project=project, role=Role.ADMIN, user=admin)
    client.force_login(admin)
    made = upload(ITEMS, What.ITEMS)
    page = f"/projects/{project.slug}/imports/{made.pk}/"
    for status in (Status.WRITING, Status.STOPPED):
        DataImport.objects.update(status=status, written="ratings", lease=None)
        shown = client.get(page).content.decode()
        assert "Discard the file" not in shown
        assert "Cancel the import" not in shown
    assert "Start it again" in shown
    assert state_of(made).data_import == made
