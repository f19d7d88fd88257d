"""A database that does not match its recorded migrations is found before it does harm."""

import logging
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from concord import health, schema
from concord.schema import (
    Schema,
    compare_database,
    expected_facts,
    expected_triggers,
    facts_of_models,
    known_migrations,
    last_of,
    log_problem_at_start,
    read_schema,
)
from tests.concord.running import ROOT, environment, eventually, manage
from tests.ports import free_port
from tests.upgrades.bases import bases, new_database, read_base
from tests.upgrades.connecting import connected_to_base, url_of

PASSPHRASE = "four words for this test"
KEY = "the key of a host that is set up by a test " * 2
LATEST = bases("sqlite")[-1]
# The migration was edited in place after this database had applied it.
EDIT = "ALTER TABLE annotate_preferences DROP COLUMN notices"
NAMED = "column notices of annotate_preferences is missing"
DO = "export each project with the version that made it"


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.django_db
def test_migrated_database_matches() -> None:
    compared = compare_database()
    assert (compared.differences, compared.is_unapplied) == ([], False)
    with connection.cursor() as cursor:
        tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
        triggers = {key for key in read_schema(cursor).facts if key[0] == "trigger" and key[1] in tables}
    assert triggers == set(expected_triggers()), "list the changed triggers in concord/schema.py"


@pytest.mark.django_db
def test_models_and_migrations_expect_the_same() -> None:
    loader = MigrationLoader(None)
    assert known_migrations() == set(loader.disk_migrations)
    state = loader.project_state(last_of(loader.graph, known_migrations()))
    assert facts_of_models(state.apps, set()) == facts_of_models(apps, set())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (EDIT, NAMED),
        ("DROP TABLE annotate_notice", "table annotate_notice is missing"),
        ("DROP INDEX one_account_per_email", "constraint or index one_account_per_email of annotate_user"),
        ("ALTER TABLE annotate_post RENAME COLUMN text TO words", "column words of annotate_post is unknown"),
    ],
)
def test_error_names_the_missing_part(statement: str, named: str) -> None:
    execute(statement)
    sentence = compare_database().mismatch()
    assert named in sentence
    assert DO in sentence


@pytest.mark.django_db
@pytest.mark.parametrize(
    "kind", ["column", "unique key", "foreign key", "constraint or index", "trigger", "type"]
)
def test_every_kind_of_difference_is_detected(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(cursor: Any) -> Schema:
        found, wanted = read_schema(cursor), expected_facts(known_migrations()) | expected_triggers()
        del found.facts[next(key for key in sorted(wanted) if key[:2] == (kind, "annotate_rating"))]
        return found

    def with_another_type(cursor: Any) -> Schema:
        found = read_schema(cursor)
        found.facts["column", "annotate_rating", "value"] = "text"
        return found

    monkeypatch.setattr(schema, "read_schema", with_another_type if kind == "type" else reading)
    (difference,) = compare_database().differences
    assert "annotate_rating" in difference


LATER = (
    "INSERT INTO django_migrations (app, name, applied) VALUES ('annotate', '9999_later', CURRENT_TIMESTAMP)"
)


@pytest.mark.django_db
def test_later_schema_serves_this_version() -> None:
    execute(
        LATER,
        "CREATE TABLE annotate_shelf (id integer NOT NULL)",
        "ALTER TABLE annotate_project ADD COLUMN shelf integer",
        "ALTER TABLE annotate_project ADD COLUMN mark integer DEFAULT 0 NOT NULL",
        "DROP INDEX one_account_per_email",
    )
    compared = compare_database()
    assert (compared.differences, compared.is_unapplied, compared.fingerprint) == ([], False, None)
    execute(EDIT)
    assert compare_database().differences == [NAMED]


@pytest.mark.django_db
def test_migrations_of_another_history_do_not_match() -> None:
    execute(LATER, "DELETE FROM django_migrations WHERE app = 'annotate' AND name = '0002_initial'")
    assert compare_database().differences == ["annotate has migrations of another history"]


@pytest.mark.django_db
def test_unapplied_migrations_are_reported_separately(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    execute("DELETE FROM django_migrations WHERE app = 'judges'")
    compared = compare_database()
    assert (compared.differences, compared.is_unapplied) == ([], True)
    answer = client.get(health.READY)
    assert (answer.status_code, answer.json()["schema"]) == (503, "not migrated")
    assert "run `manage.py migrate`" in caplog.text


@pytest.mark.django_db
def test_empty_database_is_not_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "read_schema", lambda _cursor: Schema())
    compared = compare_database()
    assert (compared.differences, compared.is_unapplied) == ([], True)
    assert expected_facts(set()) == {}


@pytest.mark.django_db
def test_probes_compare_once_in_a_while(
    client: Client, django_assert_num_queries: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert client.get(health.READY).json()["schema"] == "ok"
    with django_assert_num_queries(1):
        assert client.get(health.READY).status_code == 200
    caches["process"].clear()
    execute(EDIT)
    answer = client.get(health.READY)
    assert (answer.status_code, answer.json()["schema"]) == (503, "does not match")
    assert (NAMED in caplog.text, DO in caplog.text) == (True, True)
    with django_assert_num_queries(1):
        assert client.get(health.READY).status_code == 503


@pytest.fixture
def edited(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """Connect to a database with data whose initial migration was edited after it had been applied."""
    monkeypatch.setenv("CONCORD_SECRET_KEY", KEY)
    monkeypatch.setenv("CONCORD_BACKUP_PASSPHRASE", PASSPHRASE)
    with django_db_blocker.unblock(), connected_to_base(LATEST, tmp_path):
        call_command("migrate", verbosity=0, interactive=False)
        execute(EDIT)
        yield


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Set up another host: an empty database and an empty folder."""
    new = {"data": tmp_path / "elsewhere", "CONCORD_BACKUP_PASSPHRASE": PASSPHRASE, "CONCORD_SECRET_KEY": KEY}
    if connection.vendor == "sqlite":
        yield new
        return
    with new_database(url_of("postgres"), f"{connection.settings_dict['NAME']}_elsewhere") as url:
        yield new | {"DATABASE_URL": url}


@pytest.mark.usefixtures("edited")
def test_database_that_does_not_match_neither_starts_nor_is_restored(
    client: Client,
    caplog: pytest.LogCaptureFixture,
    elsewhere: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in (["start", "--empty", "--port", str(free_port())], ["migrate"]):
        with pytest.raises((CommandError, SystemCheckError)) as refused:
            call_command(*command, skip_checks=False)
        assert (NAMED in str(refused.value), DO in str(refused.value)) == (True, True)
    answer = client.get(health.READY)
    assert (answer.status_code, answer.json()["schema"]) == (503, "does not match")
    caplog.clear()
    log_problem_at_start()
    (logged,) = caplog.records
    assert (logged.levelno, NAMED in logged.getMessage()) == (logging.CRITICAL, True)

    call_command("backup", str(tmp_path / "one"))
    assert NAMED in capsys.readouterr().err
    restored = manage("restore", str(tmp_path / "one"), **elsewhere)
    assert restored.returncode == 1
    assert restored.stderr.startswith("CommandError: The backup does not match its recorded migrations (")
    assert ("notices" in restored.stderr, DO in restored.stderr) == (True, True)
    assert len(restored.stderr.splitlines()) == 1
    assert tables_of(elsewhere) == 0


def tables_of(host: dict[str, Any]) -> int:
    """Return the number of tables in the database of a host."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(host["data"] / "concord.sqlite3")) as database:
            found: int = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    else:
        with psycopg.connect(host["DATABASE_URL"]) as database:
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            found = len(database.execute(names).fetchall())
    return found


@pytest.mark.parametrize(
    ("module", "options"),
    [("concord.web", ["--port", "{port}"]), ("celery", ["-A", "concord", "worker", "--pool", "threads"])],
)
def test_program_that_starts_logs_the_problem(module: str, options: list[str], tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "concord.sqlite3")) as database:
        database.executescript(read_base(LATEST, "sqlite"))
        database.execute(EDIT)
    command = [sys.executable, "-m", module, *(each.format(port=free_port()) for each in options)]
    with (tmp_path / "log").open("w") as log:
        program = subprocess.Popen(
            command, cwd=ROOT, env=environment(tmp_path), stdout=log, stderr=log, start_new_session=True
        )
    try:
        assert eventually(lambda: NAMED in (tmp_path / "log").read_text())
    finally:
        os.killpg(program.pid, signal.SIGKILL)  # a server that is still starting may miss a SIGTERM
        program.wait()
