"""Recorded answers to disputes, by `manage.py import_ratings --round 2` and in the browser."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client

from annotate.core.models import (
    DataImport,
    Dispute,
    DisputeEvent,
    DisputeRater,
    Project,
    Rating,
    RatingChange,
    Role,
)
from annotate.disputes.commands.disputes import adjudicate
from annotate.exports.formats.datasheet import facts_of
from annotate.exports.registry import TABLES
from annotate.material.commands.imports import import_file
from annotate.people.commands import add_member
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from concord.celery import app
from tests.factories import make_user
from tests.material.files import empty_project, item, jsonl, rating, read_uploads, source
from tests.material.test_import_command_line import run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project in which three recorded raters differ about the first of two texts; Round I is closed."""
    project = rated(tmp_path)
    close_round_one(project=project, by=None)
    return project


def rated(folder: Path) -> Project:
    project = empty_project(dimensions=("fluency",))
    items = jsonl(folder, item(system="s1"), item(system="s2"), name="items.jsonl")
    import_file(project=project, source=source(items, items=True), by=None)
    first = jsonl(folder, *answers(1, 3, 5), *answers(4, 4, 4, system="s2"), name="first.jsonl")
    import_file(project=project, source=source(first, ratings=True), by=None)
    return project


def answers(*values: float, system: str = "s1") -> list[dict[str, object]]:
    return [rating(f"A{number}", value, system=system) for number, value in enumerate(values, start=1)]


def load(folder: Path, *rows: dict[str, object]) -> tuple[int, str, str]:
    return run("import_ratings", "empty", jsonl(folder, *rows), "--round", 2)


CHOICES = {"mapping_name": "", "what": "answers"} | {
    f"meaning_{n}": name for n, name in enumerate(("document_key", "system", "rater", "dimension", "value"))
}


def upload(client: Client, folder: Path, *rows: dict[str, object]) -> str:
    file = SimpleUploadedFile("second.jsonl", jsonl(folder, *rows).read_bytes())
    page = client.post("/projects/empty/imports/", {"file": file})["Location"]
    read_uploads()
    return page


def given() -> list[tuple[str, float | None]]:
    ratings = Rating.objects.filter(assignment__round__number=2)
    return sorted(ratings.values_list("assignment__annotator__label", "value"))


def test_recorded_answers_settle_a_dispute_and_open_round_two(project: Project, tmp_path: Path) -> None:
    code, out, _ = load(tmp_path, *answers(3, 3, 4), *answers(4, 4, 4, system="s2"))
    assert code == 0, out
    assert "Imported 3 ratings.\nAlready there: 3 ratings." in out
    assert given() == [("A1", 3), ("A2", 3), ("A3", 4)]
    dispute = Dispute.objects.get()
    assert dispute.status == "settled"
    assert list(dispute.events.values_list("kind", flat=True)) == ["opened", "settled"]
    changes = RatingChange.objects.filter(rating__assignment__round__number=2).order_by("pk")
    assert list(changes.values_list("cause", "value_before", "value_after")) == [
        ("imported", 1, 3),
        ("imported", 3, 3),
        ("imported", 5, 4),
    ]
    code, out, _ = load(tmp_path, *answers(3, 3, 4))
    assert (code, "Nothing is new" in out) == (0, True)
    assert changes.count() == 3
    assert DisputeEvent.objects.count() == 2


def test_the_browser_takes_them_too(
    client: Client,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    add_member(project=project, role=Role.ADMIN, user=(admin := make_user()))
    client.force_login(admin)
    refused = upload(client, tmp_path, *answers(3, 3, 4), rating("A1", 3, system="s2"))
    shown = client.post(refused, {**CHOICES, "show": "1"}).content.decode()
    assert "is not disputed, so “A1” holds the 4 of Round I." in shown
    page = upload(client, tmp_path, *answers(3, 3, 4))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(page, CHOICES)
    assert DataImport.objects.first().status == "imported"  # type: ignore[union-attr]
    assert given() == [("A1", 3), ("A2", 3), ("A3", 4)]
    assert Dispute.objects.get().status == "settled"
    assert "history of a rating is never deleted" in client.get(page).content.decode()


def test_diverging_values_leave_the_dispute_to_an_adjudicator(project: Project, tmp_path: Path) -> None:
    assert load(tmp_path, *answers(1, 3, 5))[0] == 0
    assert Dispute.objects.get().status == "irresolvable"


def test_whose_answer_is_not_in_the_file_is_waited_for(project: Project, tmp_path: Path) -> None:
    assert load(tmp_path, rating("A1", 2))[0] == 0
    assert Dispute.objects.get().status == "open"
    waits = DisputeRater.objects.filter(since__isnull=False)
    assert list(waits.values_list("rater__label", flat=True)) == ["A3"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (rating("A4", 3), "The project has no rater “A4”"),
        (rating("A1", 3, system="s2"), "is not disputed, so “A1” holds the 4 of Round I."),
        (rating("A1", 7), "Fluency is rated from 1 to 5; 7 is not on this scale."),
        (rating("A1", 2), "“A1” has given 3 for Fluency of “s1” on document “d1” already"),
    ],
)
def test_impossible_answer_is_rejected(
    project: Project, tmp_path: Path, row: dict[str, object], reason: str
) -> None:
    assert load(tmp_path, rating("A1", 3))[0] == 0
    code, _, err = load(tmp_path, rating("A2", 3), row)
    assert code == 1
    assert reason in err
    assert given() == [("A1", 3)], "nothing of the file was imported"


def test_rater_without_round_one_value_has_none_in_round_two(project: Project, tmp_path: Path) -> None:
    Rating.objects.filter(assignment__annotator__label="A1").update(value=None, cannot_rate=True)
    _, _, err = load(tmp_path, rating("A1", 3))
    assert "“A1” gave no value in Round I for Fluency of “s1” on document “d1”" in err


def test_decided_disputes_take_no_recorded_answers(project: Project, tmp_path: Path) -> None:
    open_round_two(project=project, by=None)
    adjudicate(dispute=Dispute.objects.get(), value=3, note="Read again.", by=make_user())
    _, _, err = load(tmp_path, rating("A1", 3))
    assert "is adjudicated and takes no more values." in err


def test_rounds_that_accept_no_answers_are_rejected(tmp_path: Path) -> None:
    project = rated(tmp_path)
    assert "Close Round I before ratings of Round II" in load(tmp_path, rating("A1", 3))[2]
    close_round_one(project=project, by=None)
    open_round_two(project=project, by=None)
    close_round_two(project=project, by=None)
    _, _, err = load(tmp_path, rating("A1", 3))
    assert "is left open and takes no more values." in err
    with pytest.raises(CommandError, match="Items come in with Round I"):
        run("import_ratings", "empty", tmp_path / "file.jsonl", "--round", 2, "--with-items")


def test_recorded_ratings_have_no_known_time(project: Project, tmp_path: Path) -> None:
    load(tmp_path, *answers(4, 4, 4))
    rows = list(TABLES["ratings"].rows(project))
    assert {row["round"] for row in rows} == {1, 2}
    assert {(row["first_saved_at"], row["last_saved_at"]) for row in rows} == {(None, None)}
    days = [each.days for each in facts_of(project).rounds]
    assert days == ["recorded elsewhere, on days that are not known"] * 2
    changed = Rating.objects.filter(assignment__round__number=1).order_by("pk")[0]
    Rating.objects.filter(pk=changed.pk).update(revision=2)
    later = [row for row in TABLES["ratings"].rows(project) if row["last_saved_at"] is not None]
    assert [(row["first_saved_at"], row["last_saved_at"]) for row in later] == [(None, changed.updated_at)]


def test_one_file_gives_both_rounds(tmp_path: Path) -> None:
    project = empty_project(dimensions=("fluency",))
    items = jsonl(tmp_path, item(system="s1"), item(system="s2"), name="items.jsonl")
    import_file(project=project, source=source(items, items=True), by=None)
    first = [*answers(1, 3, 5), *answers(4, 4, 4, system="s2")]
    both = jsonl(
        tmp_path,
        *({**row, "round": "Round I"} for row in first),
        *({**row, "round": 2} for row in answers(3, 3, 4)),
        name="both.jsonl",
    )
    _, out, _ = run("import_ratings", "empty", both)
    assert "6 ratings." in out
    assert "the other round were left out: 3; import them as that." in out
    close_round_one(project=project, by=None)
    _, out, _ = run("import_ratings", "empty", both, "--round", 2)
    assert "Imported 3 ratings." in out
    assert "the other round were left out: 6; import them as that." in out
    assert given() == [("A1", 3), ("A2", 3), ("A3", 4)]


def test_invalid_round_is_rejected_if_a_column_contains_rounds(project: Project, tmp_path: Path) -> None:
    file = jsonl(tmp_path, {**rating("A1", 3), "batch": "third"})
    fields = (
        "document_key=document_id",
        "system=system",
        "rater=rater",
        "dimension=dimension",
        "value=value",
    )
    chosen = [part for field in (*fields, "round=batch") for part in ("--map", field)]
    _, _, err = run("import_ratings", "empty", file, "--round", 2, *chosen)
    assert "Line 1, batch: “third” is not a round; a rating is of round 1 or 2." in err
    assert given() == []
