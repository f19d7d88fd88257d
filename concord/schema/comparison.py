"""Compares a database with its recorded migrations.

Missing parts are differences. Additional parts are allowed: during a rolling upgrade, web servers of this
version run on the schema of the next one. An additional column that demands a value is a difference, because
every insert fails.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from concord.schema.expected import Expected, Migrations, expected_facts, expected_triggers, known_migrations
from concord.schema.reading import Schema, read_schema

logger = logging.getLogger(__name__)
OWN_APPS = {"annotate", "judges"}
SHOWN = 3  # differences in a message
CONNECT_SECONDS = 3
MOVE = (
    "export each project with the version that made it, and import the exports into a new database "
    '(docs/how-to/deployment.md, "A database that does not match").'
)
UNAPPLIED = "The database lacks migrations of this version: run `manage.py migrate`."


@dataclass(frozen=True)
class Comparison:
    """A database and its recorded migrations. Without a fingerprint, a later version made the database."""

    differences: list[str]
    is_unapplied: bool
    fingerprint: str | None

    def mismatch(self, subject: str = "The database") -> str:
        """Return the differences and the remedy in one message, or "" without differences."""
        if not self.differences:
            return ""
        more = f"; {len(self.differences) - SHOWN} more" if len(self.differences) > SHOWN else ""
        shown = "; ".join(self.differences[:SHOWN])
        return f"{subject} does not match its recorded migrations ({shown}{more}): {MOVE}"


def compare_database() -> Comparison:
    """Compare the database in use; it takes a tenth of a second."""
    with connection.cursor() as cursor:
        return compare(cursor)


def log_problem_at_start() -> None:
    """Log why a program that starts cannot use the database.

    The connection is closed again, because the web server forks. A database that is away is no problem of
    the schema.
    """
    database: BaseDatabaseWrapper = connection.copy()
    if database.vendor == "postgresql":
        options = database.settings_dict["OPTIONS"]
        database.settings_dict["OPTIONS"] = {**options, "connect_timeout": CONNECT_SECONDS}
    try:
        with database.cursor() as cursor:
            compared = compare(cursor)
    except DatabaseError:
        return
    finally:
        database.close()
    if problem := compared.mismatch() or (UNAPPLIED if compared.is_unapplied else ""):
        logger.critical(problem)


def compare(cursor: Any) -> Comparison:
    found = read_schema(cursor)
    recorded = _recorded(cursor) if ("table", "django_migrations", "") in found.facts else set()
    known = known_migrations()
    unapplied, unknown = known - recorded, recorded - known
    # A later version keeps all migrations of this one.
    others = {app for app, _ in unknown} & {app for app, _ in unapplied} & OWN_APPS
    if others:
        differences = [f"{app} has migrations of another history" for app in sorted(others)]
        return Comparison(differences, is_unapplied=True, fingerprint=None)
    expected = expected_facts(recorded)
    triggers = {} if unapplied or unknown else expected_triggers()
    return Comparison(
        differences=list(_differences(expected | triggers, found)),
        is_unapplied=bool(unapplied),
        fingerprint=None if unknown else found.fingerprint(expected),
    )


def _recorded(cursor: Any) -> Migrations:
    labels = {app.label for app in apps.get_app_configs()}
    cursor.execute("SELECT app, name FROM django_migrations")
    return {(app, name) for app, name in cursor.fetchall() if app in labels}


def _differences(expected: Expected, found: Schema) -> Iterator[str]:
    tables = {table for _kind, table, _name in expected}
    lacking = {table for table in tables if ("table", table, "") not in found.facts}
    yield from (f"table {table} is missing" for table in sorted(lacking))
    for (kind, table, name), value in sorted(expected.items(), key=lambda each: each[0]):
        real = found.facts.get((kind, table, name))
        if table in lacking:
            continue
        if real is None:
            yield f"{kind} {name} of {table} is missing"
        elif value not in (None, real):
            yield f"{kind} {name} of {table} is {real}, not {value}"
    for kind, table, name in sorted(found.demanding - expected.keys()):
        if table in tables:
            yield f"{kind} {name} of {table} is unknown and demands a value"
