"""What a migration may do while web servers and workers of the version before still run."""

from collections.abc import Iterator

import pytest
from django.db import connection, models
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from annotate.core.migrating import RetireField, RetireModel
from annotate.core.models import AssignmentPlan, Preferences, Rating
from annotate.core.version import VERSION
from annotate.setup.commands import delete_project
from tests.factories import make_project
from tests.rating.rounds import opened, rate

TAKES_AWAY = (
    operations.RemoveField,
    operations.DeleteModel,
    operations.RenameField,
    operations.RenameModel,
    operations.AlterModelTable,
    operations.AddConstraint,
)
OURS = ("annotate", "judges")


def breaks(operation: Operation) -> bool:
    """Return whether the version before asks for what is gone then, or leaves out what is new."""
    if isinstance(operation, operations.AddField):
        field = operation.field
        return not (field.null or field.has_db_default() or field.many_to_many)
    return isinstance(operation, TAKES_AWAY) and not isinstance(operation, RetireField | RetireModel)


def breaking() -> Iterator[str]:
    """Yield what the version before cannot live with in later migrations than those that make a database.

    What nothing has used since an earlier version is taken away by a migration with `unused_since`.
    """
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        is_later = app in OURS and not migration.initial and not hasattr(migration, "unused_since")
        yield from (f"{app}.{name}: {each}" for each in migration.operations if is_later and breaks(each))


def test_the_version_before_can_live_with_every_migration() -> None:
    assert list(breaking()) == []


@pytest.mark.parametrize(
    ("operation", "broken"),
    [
        (operations.AddField("item", "mark", models.IntegerField(null=True)), False),
        (operations.AddField("item", "mark", models.IntegerField(db_default=0)), False),
        (operations.AddField("item", "mark", models.IntegerField(default=0)), True),
        (operations.RemoveField("item", "text"), True),
        (operations.RenameField("item", "text", "body"), True),
        (operations.DeleteModel("item"), True),
        (RetireField("item", "text"), False),
        (RetireModel("item"), False),
        (operations.AddIndex("item", models.Index(fields=["text"], name="texts")), False),
    ],
)
def test_removing_or_stricter_migration_is_detected(operation: Operation, broken: bool) -> None:
    assert breaks(operation) == broken


def test_retired_tables_are_dropped_in_the_next_version() -> None:
    """`annotate.0017` retired them in 0.1.0; the version after it drops them on PostgreSQL."""
    migrations = MigrationLoader(None).disk_migrations.values()
    assert VERSION == "0.1.0" or any(getattr(each, "unused_since", "") == "0.1.0" for each in migrations)


def ask(sql: str, *values: int) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


@pytest.mark.postgresql
@pytest.mark.django_db
def test_retired_columns_have_a_default_for_new_rows() -> None:
    cast = make_project()
    AssignmentPlan.objects.create(project=cast.project)
    Preferences.objects.create(user=cast.admin)
    assert ask("SELECT revises_documents FROM annotate_assignmentplan") == [(False,)]
    assert ask("SELECT text_size, line_length, font, motion FROM annotate_preferences") == [
        ("normal", "full", "sans", "system")
    ]


@pytest.mark.postgresql
@pytest.mark.django_db
def test_rows_of_retired_tables_go_with_their_project() -> None:
    cast = make_project()
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], 3)
    saved = "(rating_id, value, comment, revision, client, sequence, updated_at)"
    ask(
        f"INSERT INTO annotate_revisedvalue {saved} VALUES (%s, 4, '', 1, '', 0, now())",
        Rating.objects.get().pk,
    )
    ask(
        "INSERT INTO annotate_revisedvaluechange"
        " (revised_id, revision, at, value_before, value_after, comment)"
        " SELECT id, 1, now(), 3, 4, '' FROM annotate_revisedvalue"
    )
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    ask("SET CONSTRAINTS ALL IMMEDIATE")
    for table in ("revisedvalue", "revisedvaluechange"):
        assert ask(f"SELECT COUNT(*) FROM annotate_{table}") == [(0,)]
