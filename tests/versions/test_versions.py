"""Versions: what they keep, that they never change, and their content hash."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.files import keep_file
from annotate.core.jobs import run_job
from annotate.core.models import Edition, Item, Project, Rating, Role, Version, VersionRequest
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_file
from annotate.rating.commands.rounds import close_round_one, open_round_one
from annotate.setup.commands import delete_project
from annotate.versions import commands
from annotate.versions.commands import request_version, start_edition
from annotate.versions.queries import content_hash, editions_of, next_version, versions_of
from tests.additions.scenes import make_addition, make_benchmark, make_new_raters, rate_all
from tests.exports.test_snapshots import in_thread
from tests.factories import Cast, make_member
from tests.judges.factories import make_judge, make_judgment

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Cast:
    return make_benchmark()


def make_version(project: Project, changelog: str = "What is new.") -> VersionRequest:
    request = request_version(project=project, changelog=changelog, by=None)
    run_job("version", request.pk)
    request.refresh_from_db()
    return request


def test_a_version_keeps_the_standings_and_never_changes(benchmark: Cast) -> None:
    made = make_version(benchmark.project).version
    assert made is not None
    assert (made.number, made.additions, len(made.content_hash)) == ("1.0", [], 64)
    assert {each["key"] for each in made.leaderboard["boards"]} >= {benchmark.dimensions[0].key}
    assert made.export is not None
    assert (made.export.format, made.export.status) == (Format.JSONL, "ready")
    assert default_storage.exists(str(made.export.file))
    with pytest.raises(DatabaseError), transaction.atomic():
        Version.objects.filter(pk=made.pk).update(changelog="Another story.")
    Version.objects.filter(pk=made.pk).update(export=None)


def test_without_a_change_there_is_no_second_version(benchmark: Cast) -> None:
    first = make_version(benchmark.project).version
    assert make_version(benchmark.project, "Nothing.").version == first
    make_judgment(make_judge(benchmark.project), benchmark.items[0], benchmark.dimensions[0], value=4)
    judged = make_version(benchmark.project, "With a judge.").version
    assert judged is not None
    assert judged.number == "1.1"
    Item.objects.filter(pk=benchmark.items[0].pk).update(text="Another text.")
    again = make_version(benchmark.project, "A corrected text.").version
    assert again is not None
    assert again.number == "1.2"


def test_an_addition_makes_the_next_version(benchmark: Cast) -> None:
    make_version(benchmark.project)
    addition = make_addition(benchmark)
    raters = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=None)
    for rater in raters:
        rate_all(round, rater, lambda *_: 3)
    assert next_version(benchmark.project).additions == []
    close_round_one(project=addition.project, by=None)
    made = make_version(benchmark.project, "One more system.").version
    assert made is not None
    assert (made.number, made.additions) == ("1.1", [addition.number])
    systems = {each["system"] for each in made.leaderboard["boards"][0]["systems"]}
    assert "newcomer" in systems
    export = addition.project.exports.get()
    assert (export.format, export.status) == (Format.JSONL, "ready")
    assert set(made.parts.values_list("project", "export")) == {
        (benchmark.project.pk, made.export_id),
        (addition.project.pk, export.pk),
    }
    values = made.parts.get(project=addition.project).values
    assert {(row[1], row[4]) for row in values["fluency"]} == {("newcomer", 3)}
    shown = versions_of(benchmark.project, benchmark.admin)
    assert [(each.version.number, each.systems, each.raters) for each in shown] == [
        ("1.1", 3, 4),
        ("1.0", 2, 2),
    ]
    assert [each.additions for each in shown] == [[(addition.project, export)], []]
    assert f"version 1.1, SHA-256 {made.content_hash[:12]}" in shown[0].citation
    reader = make_member(benchmark.project, Role.RESEARCHER).user
    assert reader is not None
    assert versions_of(benchmark.project, reader)[0].additions == []
    with pytest.raises(NotReadyError, match="belongs to the versions of its benchmark"):
        request_version(project=addition.project, changelog="Alone.", by=None)


@pytest.mark.django_db(transaction=True)
def test_a_version_is_of_one_moment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    benchmark = make_benchmark()
    before = content_hash([benchmark.project])

    def correct() -> None:
        Rating.objects.filter(assignment__round__project=benchmark.project).update(value=5)
        connection.close()

    def hash_and_correct(projects: list[Project]) -> str:
        found = content_hash(projects)
        in_thread(correct)
        return found

    monkeypatch.setattr(commands, "content_hash", hash_and_correct)
    made = make_version(benchmark.project).version
    assert made is not None
    assert made.export is not None
    assert (made.content_hash, content_hash([benchmark.project]) == before) == (before, False)
    means = {each["system"]: each["mean"] for each in made.leaderboard["boards"][0]["systems"]}
    assert means == {"system-1": 3, "system-2": 3}
    assert {row[4] for row in made.parts.get().values["fluency"]} == {2, 3, 4}
    with zipfile.ZipFile(default_storage.path(str(made.export.file))) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("/ratings.jsonl")]
        exported = [json.loads(line)["value"] for line in archive.read(name).decode().splitlines()]
    assert set(exported) == {2, 3, 4}


def test_a_worker_without_its_lease_keeps_no_file(benchmark: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []

    def keep_and_lose(path: Path, name: str) -> None:
        names.append(name)
        keep_file(path, name)
        VersionRequest.objects.update(lease=uuid4())

    monkeypatch.setattr(commands, "keep_file", keep_and_lose)
    make_version(benchmark.project)
    assert len(names) == 1
    assert not default_storage.exists(names[0])
    assert not Version.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_no_file_remains_of_an_addition_deleted_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = make_benchmark()
    addition = make_addition(benchmark)
    raters = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=None)
    for rater in raters:
        rate_all(round, rater, lambda *_: 3)
    close_round_one(project=addition.project, by=None)
    names = []

    def keep_and_delete(path: Path, name: str) -> None:
        names.append(name)
        keep_file(path, name)
        if len(names) == 2:
            delete_project(project=addition.project, name=addition.project.name, by=benchmark.admin)

    monkeypatch.setattr(commands, "keep_file", keep_and_delete)
    request = make_version(benchmark.project)
    assert (request.status, len(names)) == ("waiting", 2)
    assert not any(default_storage.exists(name) for name in names)


def test_a_restored_project_has_the_same_content_hash(benchmark: Cast, tmp_path: Path) -> None:
    make_judgment(make_judge(benchmark.project), benchmark.items[0], benchmark.dimensions[0], value=4)
    before = content_hash([benchmark.project])
    write_file(benchmark.project, ExportChoice(Format.JSONL), tmp_path / "export.zip")
    delete_project(project=benchmark.project, by=benchmark.admin, name=benchmark.project.name)
    call_command("import_export", tmp_path / "export.zip", stdout=StringIO())
    restored = Project.objects.get()
    assert content_hash([restored]) == before
    rating = Rating.objects.order_by("pk").first()
    assert rating is not None
    Rating.objects.filter(pk=rating.pk).update(value=1 if rating.value != 1 else 2)
    assert content_hash([restored]) != before


def test_a_version_needs_closed_rounds_and_a_changelog(benchmark: Cast) -> None:
    with pytest.raises(InvalidValueError, match="Describe what this version contains"):
        request_version(project=benchmark.project, changelog=" ", by=None)
    benchmark.project.rounds.update(status="open", closed_at=None)
    with pytest.raises(NotReadyError, match="A round is open"):
        request_version(project=benchmark.project, changelog="Early.", by=None)


def test_repeated_requests_create_one_version(benchmark: Cast) -> None:
    first = request_version(project=benchmark.project, changelog="One.", by=None)
    assert request_version(project=benchmark.project, changelog="Two.", by=None) == first
    run_job("version", first.pk)
    run_job("version", first.pk)
    assert Version.objects.count() == 1


def test_edition_rates_the_same_items_again(benchmark: Cast) -> None:
    researcher = make_member(benchmark.project, Role.RESEARCHER)
    edition = start_edition(project=benchmark.project, by=benchmark.admin)
    copied = Item.objects.filter(document__project=edition.project)
    assert sorted(copied.values_list("document__key", "system__name", "digest")) == sorted(
        Item.objects.filter(document__project=benchmark.project).values_list(
            "document__key", "system__name", "digest"
        )
    )
    assert not edition.project.rounds.exists()
    assert edition.project.memberships.filter(user=researcher.user, role=Role.RESEARCHER).exists()
    assert next_version(edition.project).number == "2.0"
    assert start_edition(project=benchmark.project, by=benchmark.admin) == edition
    open_round_one(project=edition.project, by=None)
    third = start_edition(project=benchmark.project, by=benchmark.admin)
    assert (third.number, third.follows) == (3, benchmark.project)
    assert editions_of(third.project, benchmark.admin) == [
        benchmark.project,
        edition.project,
        third.project,
    ]
    rater = benchmark.annotators[0].user
    assert rater is not None
    assert editions_of(benchmark.project, rater) == []


def test_the_page_makes_a_version_and_shows_it(benchmark: Cast, client: Client) -> None:
    client.force_login(benchmark.admin)
    page = reverse("versions", args=[benchmark.project.slug])
    assert "Make version 1.0" in client.get(page).content.decode()
    assert client.post(page, {"changelog": ""}).status_code == 422
    client.post(page, {"changelog": "First <b>release</b>."})
    run_job("version", VersionRequest.objects.get().pk)
    shown = client.get(page).content.decode()
    assert "First &lt;b&gt;release&lt;/b&gt;." in shown
    assert Version.objects.get().content_hash in shown
    assert "Make version 1.1" in shown
    unchanged = "Nothing has changed since version 1.0, so there is no new version."
    assert unchanged not in shown
    client.post(page, {"changelog": "Nothing."})
    run_job("version", VersionRequest.objects.latest("pk").pk)
    assert unchanged in client.get(page).content.decode()
    client.post(reverse("new_edition", args=[benchmark.project.slug]))
    assert Edition.objects.get().project.name in client.get(page).content.decode()
    rater = benchmark.annotators[0].user
    assert rater is not None
    client.force_login(rater)
    assert client.get(page).status_code in (403, 404)


def test_stopped_request_has_a_reason(benchmark: Cast, client: Client) -> None:
    request = request_version(project=benchmark.project, changelog="One.", by=None)
    benchmark.project.rounds.update(status="open", closed_at=None)
    run_job("version", request.pk)
    request.refresh_from_db()
    assert (request.status, Version.objects.exists()) == (VersionRequest.Status.STOPPED, False)
    client.force_login(benchmark.admin)
    shown = client.get(reverse("versions", args=[benchmark.project.slug])).content.decode()
    assert "The version was not made. A round is open." in shown
