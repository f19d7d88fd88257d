"""An answer of its own: the dimension does not apply to the item.

SQLite makes the table of a history anew for a new column, and its guards go with the old one.
"""

from importlib import import_module

from django.db import migrations, models

append_only = import_module("annotate.migrations.0002_histories_are_append_only")
never_deleted = import_module("annotate.migrations.0007_histories_are_never_deleted")
REMADE = "annotate_ratingchange"


def guard_again(apps, schema_editor):
    if schema_editor.connection.vendor != "sqlite":
        return
    guards = [append_only.SQLITE.format(table=REMADE)]
    guards += [never_deleted.SQLITE.format(table=REMADE, guard="never_deleted", event="DELETE")]
    for guard in guards:
        schema_editor.execute(guard.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS"))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0009_assignments_of_some_dimensions")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, guard_again),
        migrations.AddField(
            model_name="dimension",
            name="not_applicable",
            field=models.BooleanField(
                default=False,
                help_text="Whether raters may say that the dimension does not apply to an item.",
            ),
        ),
        migrations.AddField(
            model_name="rating",
            name="not_applicable",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="ratingchange",
            name="not_applicable",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(guard_again, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("not_applicable", False),
                    models.Q(("cannot_rate", False), ("value__isnull", True)),
                    _connector="OR",
                ),
                name="not_applicable_has_no_value",
            ),
        ),
    ]
