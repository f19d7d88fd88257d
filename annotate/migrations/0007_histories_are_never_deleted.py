"""The database itself refuses to delete from a history, and to rewrite what people wrote in a thread.

PostgreSQL's TRUNCATE fires no trigger for rows; SQLite has no TRUNCATE, so `manage.py flush` is refused there once a
history has rows.
"""

from django.db import migrations

HISTORIES = ("annotate_ratingchange", "annotate_disputeevent", "annotate_post")
GUARDS = [
    ("annotate_post", "append_only", "UPDATE"),
    *((table, "never_deleted", "DELETE") for table in HISTORIES),
]

SQLITE = """
CREATE TRIGGER {table}_{guard} BEFORE {event} ON {table}
BEGIN SELECT RAISE(ABORT, 'A history is never rewritten.'); END
"""

# The function is that of 0002_histories_are_append_only.
POSTGRESQL = """
CREATE TRIGGER {table}_{guard} BEFORE {event} ON {table}
FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting()
"""


def guard(apps, schema_editor):
    trigger = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    for table, name, event in GUARDS:
        schema_editor.execute(trigger.format(table=table, guard=name, event=event))


def unguard(apps, schema_editor):
    on = " ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
    for table, name, _ in GUARDS:
        schema_editor.execute(f"DROP TRIGGER {table}_{name}" + on.format(table=table))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0006_leases_of_imports")]

    operations = [migrations.RunPython(guard, unguard)]
