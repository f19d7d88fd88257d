"""Compares a database with its recorded migrations.

Missing parts are differences. Additional parts are allowed: during a rolling upgrade, web servers of this
version run on the schema of the next one. An additional column that demands a value is a difference, because
every insert fails.
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.graph import MigrationGraph
from django.db.migrations.loader import MigrationLoader

# Kind (such as "column"), table, name.
Key = tuple[str, str, str]

# Of each column: type, whether it needs a value, whether it lacks a default, and whether it is a key.
SQLITE_COLUMNS = """
SELECT t.name, c.name, lower(c.type), c."notnull" OR c.pk, c.dflt_value IS NULL AND NOT c.pk, c.pk
FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'
"""
SQLITE_KEYS = """
SELECT t.name, i.name, c.name FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
WHERE t.type = 'table' AND i."unique" AND NOT i.partial ORDER BY t.name, i.name, c.seqno
"""
SQLITE_REFERENCES = """
SELECT t.name, r."from", r."table" FROM sqlite_master t, pragma_foreign_key_list(t.name) r
WHERE t.type = 'table'
"""
SQLITE_NAMES = "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL"

HERE = "t.relnamespace = current_schema()::regnamespace"
POSTGRESQL_COLUMNS = f"""
SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  NOT a.atthasdef AND a.attidentity = '', false
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
WHERE {HERE} AND t.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
"""
# `indkey` starts at 0; the columns after the first `indnkeyatts` are stored in the index, but no key.
POSTGRESQL_KEYS = f"""
SELECT t.relname, i.indexrelid::text, a.attname
FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid
CROSS JOIN unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY k (number, position)
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
WHERE {HERE} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
ORDER BY t.relname, i.indexrelid, k.position
"""
POSTGRESQL_REFERENCES = f"""
SELECT t.relname, a.attname, r.relname FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid
JOIN pg_class r ON r.oid = c.confrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
WHERE {HERE} AND c.contype = 'f'
"""
POSTGRESQL_NAMES = f"""
SELECT 'table', t.relname, t.relname, '' FROM pg_class t WHERE {HERE} AND t.relkind IN ('r', 'p')
UNION ALL SELECT 'index', t.relname, c.conname, ''
  FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid WHERE {HERE}
UNION ALL SELECT 'index', t.relname, x.relname, ''
  FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class x ON x.oid = i.indexrelid
  WHERE {HERE} AND i.indisvalid
UNION ALL SELECT 'trigger', t.relname, g.tgname, ''
  FROM pg_class t JOIN pg_trigger g ON g.tgrelid = t.oid
  WHERE {HERE} AND NOT g.tgisinternal AND g.tgenabled <> 'D'
"""
QUERIES = {
    "sqlite": (SQLITE_COLUMNS, SQLITE_KEYS, SQLITE_REFERENCES, SQLITE_NAMES),
    "postgresql": (POSTGRESQL_COLUMNS, POSTGRESQL_KEYS, POSTGRESQL_REFERENCES, POSTGRESQL_NAMES),
}


@dataclass
class Schema:
    """The facts of a database. `demanding`: columns that need a value in every new row."""

    facts: dict[Key, str] = field(default_factory=dict)
    demanding: set[Key] = field(default_factory=set)

    def fingerprint(self, wanted: Iterable[Key]) -> str:
        """Return a digest of the wanted facts, as this database has them."""
        lines = [[*key, self.facts.get(key)] for key in sorted(wanted)]
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()


def column_fact(kind: str, *, is_needed: bool) -> str:
    """Return the type of a column, and whether it may be empty."""
    return f"{kind} not null" if is_needed else kind


def read_schema(cursor: Any) -> Schema:
    """Return the schema of a database of the kind that this installation uses, in four queries."""
    columns, keys, references, names = QUERIES[connection.vendor]
    schema = Schema()
    for table, column, kind, is_needed, is_bare, is_key in _rows(cursor, columns):
        schema.facts["column", table, column] = column_fact(kind, is_needed=bool(is_needed))
        if is_needed and is_bare:
            schema.demanding.add(("column", table, column))
        if is_key:  # SQLite has no index for a number that is a primary key
            schema.facts["unique key", table, column] = ""
    columns_of: dict[tuple[str, str], list[str]] = {}
    for table, index, column in _rows(cursor, keys):
        columns_of.setdefault((table, index), []).append(column or "an expression")
    for (table, _index), listed in columns_of.items():
        schema.facts["unique key", table, ", ".join(listed)] = ""
    for table, column, target in _rows(cursor, references):
        schema.facts["foreign key", table, f"{column} to {target}"] = ""
    for kind, table, name, written in _rows(cursor, names):
        if kind == "table":
            schema.facts["table", table, ""] = ""
            # SQLite has the names of constraints only in the statement that created the table.
            for each in re.findall(r'CONSTRAINT "([^"]+)"', written):
                schema.facts["constraint or index", table, each] = ""
        elif kind == "index":
            schema.facts["constraint or index", table, name] = ""
        elif kind == "trigger":
            schema.facts["trigger", table, name.lower()] = ""
    return schema


def _rows(cursor: Any, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


Migrations = set[tuple[str, str]]
Expected = dict[Key, str | None]  # None: it exists, whatever it is like

POSTGRESQL_TYPES = {"varchar": "character varying", "char": "character", "bool": "boolean"}
# Triggers come from plain SQL in migrations, so no model lists them.
GUARDED = [
    "annotate_auditentry",
    "annotate_ratingchange",
    "annotate_disputeevent",
    "annotate_post",
    "annotate_formername",
]
TRIGGERS = [
    *((table, f"{table}_{guard}") for table in GUARDED for guard in ("append_only", "never_deleted")),
    *(
        (f"judges_{name}", f"judges_{name}_append_only")
        for name in ("certificate", "judgmentchange", "calibration")
    ),
    ("annotate_version", "annotate_version_append_only"),
    *(
        (f"annotate_{name}", f"annotate_{name}_counted_{act}")
        for name in ("rating", "dispute")
        for act in ("insert", "update", "delete")
    ),
]
POSTGRESQL_TRIGGERS = [(table, f"{table}_never_emptied") for table in GUARDED]


def known_migrations() -> Migrations:
    """Return the migrations of this version by their names, without loading them."""
    found = set()
    for app in apps.get_app_configs():
        module, _explicit = MigrationLoader.migrations_module(app.label)
        try:
            folder = import_module(module or "")
        except (ModuleNotFoundError, ValueError):  # an app without tables
            continue
        names = (each.name for each in iter_modules(folder.__path__) if not each.ispkg)
        # Django's loader skips modules with these first characters, too.
        found |= {(app.label, name) for name in names if name[0] not in "_~"}
    return found


def expected_triggers() -> Expected:
    """Return the triggers of a database that has all migrations."""
    more = POSTGRESQL_TRIGGERS if connection.vendor == "postgresql" else []
    return {("trigger", table, name): "" for table, name in TRIGGERS + more}


def expected_facts(recorded: Migrations) -> Expected:
    """Return the facts of all models at these migrations.

    An app with unknown migrations was upgraded by a later version, which may loosen a column or replace a
    constraint: only its tables and columns are expected.
    """
    known = known_migrations()
    later = {app for app, _name in recorded - known}
    if known <= recorded:
        return facts_of_models(apps, later)
    loader = MigrationLoader(connection)
    return facts_of_models(loader.project_state(last_of(loader.graph, recorded)).apps, later)


def last_of(graph: MigrationGraph, applied: Migrations) -> list[tuple[str, str]]:
    """Return the applied migrations without applied children."""
    wanted = applied & graph.nodes.keys()
    return sorted(
        each for each in wanted if not any(child.key in wanted for child in graph.node_map[each].children)
    )


def facts_of_models(registry: Any, later: set[str]) -> Expected:
    """Return the facts of a registry of models; for the apps in `later`, only tables and columns."""
    facts: Expected = {}
    for model in registry.get_models(include_auto_created=True):
        meta = model._meta
        if not meta.managed or meta.proxy or meta.swapped:
            continue
        table = meta.db_table
        facts["table", table, ""] = ""
        if meta.app_label in later:
            facts |= {("column", table, each.column): None for each in meta.local_concrete_fields}
            continue
        for each in meta.local_concrete_fields:
            facts |= _facts_of_field(table, each)
        for each in [*meta.constraints, *meta.indexes]:
            facts["constraint or index", table, each.name] = ""
        for together in meta.unique_together:
            facts["unique key", table, ", ".join(meta.get_field(name).column for name in together)] = ""
    return facts


def _facts_of_field(table: str, of: "models.Field[Any, Any]") -> Expected:
    column = str(of.column)
    # Of an automatic key Django itself takes another type in a migration than in a model.
    is_automatic = isinstance(of, models.AutoField)
    value = None if is_automatic else column_fact(_type(of), is_needed=not of.null)
    facts: Expected = {("column", table, column): value}
    if of.unique:
        facts["unique key", table, column] = ""
    if of.remote_field and getattr(of, "db_constraint", False):
        facts["foreign key", table, f"{column} to {of.remote_field.model._meta.db_table}"] = ""
    return facts


def _type(of: "models.Field[Any, Any]") -> str:
    written = (of.db_type(connection) or "").lower()
    if connection.vendor == "sqlite":
        return written
    # PostgreSQL reports some types by other names than Django writes.
    name, bracket, rest = written.partition("(")
    return POSTGRESQL_TYPES.get(name, name) + bracket + rest.replace(" ", "")


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
        # A database that does not answer must not delay the start for long.
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
    recorded: Migrations = set()
    if ("table", "django_migrations", "") in found.facts:
        labels = {app.label for app in apps.get_app_configs()}
        applied = _rows(cursor, "SELECT app, name FROM django_migrations")
        recorded = {(app, name) for app, name in applied if app in labels}
    known = known_migrations()
    unapplied, unknown = known - recorded, recorded - known
    # A later version keeps all migrations of this one.
    others = {app for app, _ in unknown} & {app for app, _ in unapplied} & OWN_APPS
    if others:
        differences = [f"{app} has migrations of another history" for app in sorted(others)]
        return Comparison(differences, is_unapplied=True, fingerprint=None)
    expected = expected_facts(recorded)
    # The list of triggers holds for all migrations of this version and for no others.
    triggers = {} if unapplied or unknown else expected_triggers()
    return Comparison(
        differences=list(_differences(expected | triggers, found)),
        is_unapplied=bool(unapplied),
        fingerprint=None if unknown else found.fingerprint(expected),
    )


def _differences(expected: Expected, found: Schema) -> Iterator[str]:
    tables = {table for _kind, table, _name in expected}
    lacking = {table for table in tables if ("table", table, "") not in found.facts}
    yield from (f"table {table} is missing" for table in sorted(lacking))
    for (kind, table, name), value in sorted(expected.items(), key=lambda each: each[0]):
        real = found.facts.get((kind, table, name))
        # A missing table is one difference, without one more for each of its parts.
        if table in lacking:
            continue
        if real is None:
            yield f"{kind} {name} of {table} is missing"
        elif value not in (None, real):
            yield f"{kind} {name} of {table} is {real}, not {value}"
    # Additional columns are allowed unless every insert would fail without a value for them.
    for kind, table, name in sorted(found.demanding - expected.keys()):
        if table in tables:
            yield f"{kind} {name} of {table} is unknown and demands a value"
