"""The schema of the recorded migrations as facts, without reading the database."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.db.migrations.graph import MigrationGraph
from django.db.migrations.loader import MigrationLoader

from concord.schema.reading import Key, column_fact

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
    name, bracket, rest = written.partition("(")
    return POSTGRESQL_TYPES.get(name, name) + bracket + rest.replace(" ", "")
