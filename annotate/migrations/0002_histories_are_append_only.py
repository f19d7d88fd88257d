"""The database itself refuses to rewrite a history: its rows are never updated.

Deleting is prevented by the protected foreign keys; a trigger against it would also stop a test from emptying
its database.
"""

from django.db import migrations

HISTORIES = ("annotate_ratingchange", "annotate_disputeevent")

SQLITE = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'A history is never rewritten.'); END
"""

POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'A history is never rewritten.' USING ERRCODE = 'integrity_constraint_violation'; END $$
"""

POSTGRESQL = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}
FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting()
"""


def make_append_only(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION)
    trigger = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    for table in HISTORIES:
        schema_editor.execute(trigger.format(table=table))


def allow_rewriting(apps, schema_editor):
    on = " ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
    for table in HISTORIES:
        schema_editor.execute(f"DROP TRIGGER {table}_append_only" + on.format(table=table))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0001_accounts_projects_rounds_ratings_disputes")]

    operations = [migrations.RunPython(make_append_only, allow_rewriting)]
