"""Tables that a migration makes together are those that Django makes one by one."""

import pytest
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState

from annotate.core.migrating import TablesTogether


class Shelves(TablesTogether):
    operations = [
        migrations.CreateModel("Shelf", [("id", models.AutoField(primary_key=True))]),
        migrations.CreateModel(
            "Book",
            [
                ("id", models.AutoField(primary_key=True)),
                ("shelf", models.ForeignKey("library.Shelf", models.CASCADE)),
                ("others", models.ManyToManyField("library.Book")),
            ],
        ),
        migrations.AddField("Shelf", "room", models.IntegerField(null=True)),
    ]


@pytest.mark.django_db(transaction=True)
def test_tables_and_dependent_tables_are_created_and_removed():
    migration = Shelves("0001_initial", "library")
    with connection.schema_editor() as editor:
        state = migration.apply(ProjectState(), editor)
    try:
        assert columns("library_book") == {"id", "shelf_id"}
        assert columns("library_shelf") == {"id", "room"}
        assert columns("library_book_others") == {"id", "from_book_id", "to_book_id"}
        assert {model.__name__ for model in state.apps.get_models()} == {"Shelf", "Book"}
    finally:
        with connection.schema_editor() as editor:
            migration.unapply(ProjectState(), editor)
    with connection.cursor() as cursor:
        assert not [table for table in connection.introspection.table_names(cursor) if "library" in table]


def columns(table):
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, table)}
