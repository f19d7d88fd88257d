"""What a migration may do while web servers and workers of the version before still run."""

from collections.abc import Iterator

import pytest
from django.db import models
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

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
    return isinstance(operation, TAKES_AWAY)


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
        (operations.AddIndex("item", models.Index(fields=["text"], name="texts")), False),
    ],
)
def test_what_takes_away_or_asks_for_more_is_found(operation: Operation, broken: bool) -> None:
    assert breaks(operation) == broken
