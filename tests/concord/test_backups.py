"""A backup that is made while people rate, restored elsewhere, and compared row by row."""

import json
import os
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.models import Model

from annotate.core.models import ChangeCount, Rating, RatingChange, Round
from concord.schema import Schema, compare_database
from tests.concord.running import manage
from tests.factories import Cast, make_project
from tests.questions.everything import answer_every_kind, make_every_kind
from tests.rating.rounds import assigned, opened, rate

PASSPHRASE = "four words that nobody guesses"
MOVING = {"annotate_rating", "annotate_ratingchange", "annotate_assignment", "annotate_changecount"}
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def cast(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cast]:
    monkeypatch.setenv("CONCORD_BACKUP_PASSPHRASE", PASSPHRASE)
    cast = make_project(annotators=1, raters_per_item=1)
    assigned(cast, opened(cast), cast.annotators[0], cast.items[0])
    path = Path(settings.MEDIA_ROOT, "exports", "kept.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("an export\n")
    yield cast
    path.unlink(missing_ok=True)


@pytest.fixture
def elsewhere(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Set up another host: an empty database and an empty folder."""
    new = {"CONCORD_DATA": str(tmp_path / "elsewhere"), "CONCORD_BACKUP_PASSPHRASE": PASSPHRASE}
    if connection.vendor == "sqlite":
        yield new
        return
    name = f"{connection.settings_dict['NAME']}_elsewhere"
    with psycopg.connect(address_of("postgres"), autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        server.execute(f'CREATE DATABASE "{name}"')
        yield new | {"DATABASE_URL": address_of(name), "CONCORD_SECRET_KEY": "the key of the other host " * 2}
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def on(host: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    data = Path(host["CONCORD_DATA"])
    return manage(*arguments, data=data, **{name: host[name] for name in host if name != "CONCORD_DATA"})


def connect(host: dict[str, str]) -> Any:
    """Open a host's database without Django, so that values are compared as they are stored."""
    if connection.vendor == "sqlite":
        return closing(sqlite3.connect(Path(host["CONCORD_DATA"], "concord.sqlite3")))
    return psycopg.connect(host["DATABASE_URL"])


def connect_here() -> Any:
    kept = connection.settings_dict
    if connection.vendor == "sqlite":
        return closing(sqlite3.connect(kept["NAME"]))
    return psycopg.connect(address_of(kept["NAME"]))


def address_of(database: str) -> str:
    kept = connection.settings_dict
    return f"postgres://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT'] or 5432}/{database}"


def column_values(model: type[Model], column: str, rows: Rows) -> list[Any]:
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, model._meta.db_table)
    position = [each.name for each in described].index(column)
    return [row[position] for row in rows[model._meta.db_table]]


def rows_of(database: Any) -> Rows:
    """Return all rows of all tables."""
    with database as opened_database:
        cursor = opened_database.cursor()
        found = {}
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = sorted(map(tuple, cursor.fetchall()), key=repr)
        return found


def keep_rating(cast: Cast, over: Event) -> None:
    round = Round.objects.get()
    try:
        for number in count():
            if over.is_set():
                return
            rate(cast, round, cast.annotators[0], cast.items[0], number % 5 + 1)
    finally:
        connections.close_all()


def wait_for_more(saving: "Future[None]") -> int:
    """Wait until three more values were saved; return how many there are."""
    wanted = RatingChange.objects.count() + 3
    while RatingChange.objects.count() < wanted:
        assert not saving.done(), saving.exception()
    return wanted


def test_a_backup_made_under_saves_is_restored_and_the_new_host_continues(
    cast: Cast, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    file, over = tmp_path / "concord.backup", Event()
    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(keep_rating, cast, over)
        try:
            before = wait_for_more(saving)
            call_command("backup", str(file))
            wait_for_more(saving)
        finally:
            over.set()
        saving.result()
    restored = on(elsewhere, "restore", str(file), "--json")
    assert restored.returncode == 0, restored.stderr
    here, there = rows_of(connect_here()), rows_of(connect(elsewhere))
    assert {name: rows for name, rows in there.items() if name not in MOVING} == {
        name: rows for name, rows in here.items() if name not in MOVING
    }
    assert json.loads(restored.stdout)["rows"] >= sum(map(len, there.values()))
    # One moment: every change up to it, none after, and the rating as the last of them left it.
    changes = column_values(RatingChange, "id", there)
    assert before <= len(changes) < len(here["annotate_ratingchange"])
    assert set(there["annotate_ratingchange"]) == {
        row for row in here["annotate_ratingchange"] if row[0] <= max(changes)
    }
    last = RatingChange.objects.get(pk=max(changes))
    assert column_values(Rating, "value", there) == [last.value_after]
    assert sum(column_values(ChangeCount, "number", there)) == len(changes)
    kept = Path(elsewhere["CONCORD_DATA"], "uploads", "exports", "kept.jsonl")
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("an export\n", 0o600)
    expect_secrets_of_the_first_host(elsewhere, restored)
    again = on(elsewhere, "restore", str(file))
    assert again.returncode == 1
    assert again.stderr.startswith("CommandError: The database is not empty")
    assert len(again.stderr.splitlines()) == 1
    assert on(elsewhere, "migrate", "--check").returncode == 0
    # Numbers of new rows go on where those of the first host ended.
    assert on(elsewhere, "load_demonstration").returncode == 0


def expect_secrets_of_the_first_host(
    elsewhere: dict[str, str], restored: subprocess.CompletedProcess[str]
) -> None:
    data = Path(elsewhere["CONCORD_DATA"])
    key = f"CONCORD_SECRET_KEY={settings.SECRET_KEY}\n"
    if connection.vendor == "sqlite":
        assert (data / "secret_key").read_text() == settings.SECRET_KEY
        assert not (data / "restored.env").exists()
    else:
        assert (data / "restored.env").read_text() == key
        assert "restored.env" in restored.stderr
    assert settings.SECRET_KEY not in restored.stdout + restored.stderr


def test_comparisons_parts_and_answers_of_every_kind_are_restored_without_a_fingerprint(
    transactional_db: None,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: dict[str, str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("CONCORD_BACKUP_PASSPHRASE", PASSPHRASE)
    answer_every_kind(make_every_kind(documents=1, annotators=1))
    with monkeypatch.context() as patch:
        patch.setattr(Schema, "fingerprint", lambda *_: None)  # backups of before have none
        call_command("backup", str(tmp_path / "concord.backup"))
    restored = on(elsewhere, "restore", str(tmp_path / "concord.backup"))
    assert restored.returncode == 0, restored.stderr
    here, there = rows_of(connect_here()), rows_of(connect(elsewhere))
    for table in ("comparisonside", "itempart", "item", "system", "dimension", "rating", "ratingchange"):
        assert here[f"annotate_{table}"]
        assert there[f"annotate_{table}"] == here[f"annotate_{table}"], table


def test_a_backup_tells_no_secret_and_opens_with_its_passphrase_only(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one"
    call_command("backup", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    assert not any(settings.SECRET_KEY.encode() in part for part in parts)
    call_command("backup", str(file), "--verify")
    monkeypatch.setenv("CONCORD_BACKUP_PASSPHRASE", "another one of no use")
    with pytest.raises(CommandError, match="passphrase is not the one"):
        call_command("backup", str(file), "--verify")
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(file))
    monkeypatch.delenv("CONCORD_BACKUP_PASSPHRASE")
    with pytest.raises(CommandError, match="set CONCORD_BACKUP_PASSPHRASE"):
        call_command("backup", str(tmp_path / "two"))
    monkeypatch.setenv("CONCORD_BACKUP_PASSPHRASE", "short")
    with pytest.raises(CommandError, match="at least 12"):
        call_command("backup", str(tmp_path / "two"))
    assert sorted(os.listdir(tmp_path)) == ["one"]


@pytest.mark.parametrize("part", ["manifest.json", "uploads/exports/kept.jsonl"])
def test_changed_backup_is_rejected(cast: Cast, tmp_path: Path, part: str) -> None:
    file, changed = tmp_path / "one", tmp_path / "changed"
    call_command("backup", str(file))
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            text = archive.read(name)
            copy.writestr(name, text.replace(b"export", b"EXPORT") if name == part else text)
    with pytest.raises(CommandError, match=r"changed after|damaged"):
        call_command("backup", str(changed), "--verify")
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(CommandError, match="damaged, or no backup"):
        call_command("backup", str(file), "--verify")


@pytest.mark.once  # the first test restores on both databases
def test_restore_refuses_another_fingerprint_of_the_schema(
    cast: Cast, elsewhere: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one"
    call_command("backup", str(file))
    with zipfile.ZipFile(file) as archive:
        written = json.loads(archive.read("manifest.json"))["database"]
    assert written["fingerprint"] == compare_database().fingerprint
    assert (len(written["fingerprint"]), written["mismatch"]) == (64, "")
    monkeypatch.setattr(Schema, "fingerprint", lambda *_: "another fingerprint")
    call_command("backup", str(tmp_path / "two"))
    restored = on(elsewhere, "restore", str(tmp_path / "two"))
    assert restored.returncode == 1, restored.stderr
    assert restored.stderr.startswith("CommandError: The")
