"""The audit log is append-only like the other histories, and all of them let rows go where a project is deleted.

What says so is a row of ProjectDeletion, which the deleting transaction writes and deletes again. That the row is of
this very project is not asked: on SQLite no table that a guard's joins name could be made anew by a later migration.
"""

from django.db import migrations

HISTORIES = ("annotate_auditentry", "annotate_ratingchange", "annotate_disputeevent", "annotate_post")
NEW = "annotate_auditentry"
DELETING = "EXISTS (SELECT 1 FROM annotate_projectdeletion)"

SQLITE = """
CREATE TRIGGER {table}_{guard} BEFORE {event} ON {table} {when}
BEGIN SELECT RAISE(ABORT, 'A history is never rewritten.'); END
"""

# Without a row in the way, a trigger before a deletion has to return the old row to let it go.
POSTGRESQL_FUNCTION = f"""
CREATE OR REPLACE FUNCTION annotate_refuse_deleting() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
IF {DELETING} THEN RETURN OLD; END IF;
RAISE EXCEPTION 'A history is never rewritten.' USING ERRCODE = 'integrity_constraint_violation';
END $$
"""

# The function annotate_refuse_rewriting is that of 0002_histories_are_append_only.
POSTGRESQL = """
CREATE TRIGGER {table}_{guard} BEFORE {event} ON {table}
FOR EACH ROW EXECUTE FUNCTION {function}()
"""


def guard(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION)
    create(schema_editor, NEW, "append_only", "UPDATE")
    for table in HISTORIES:
        if table != NEW:
            drop(schema_editor, table, "never_deleted")
        create(schema_editor, table, "never_deleted", "DELETE", lets_go=True)


def unguard(apps, schema_editor):
    drop(schema_editor, NEW, "append_only")
    for table in HISTORIES:
        drop(schema_editor, table, "never_deleted")
        if table != NEW:
            create(schema_editor, table, "never_deleted", "DELETE")


def create(schema_editor, table, guard, event, lets_go=False):
    if schema_editor.connection.vendor == "postgresql":
        function = "annotate_refuse_deleting" if lets_go else "annotate_refuse_rewriting"
        sql = POSTGRESQL.format(table=table, guard=guard, event=event, function=function)
    else:
        when = f"WHEN NOT {DELETING}" if lets_go else ""
        sql = SQLITE.format(table=table, guard=guard, event=event, when=when)
    schema_editor.execute(sql)


def drop(schema_editor, table, name):
    on = f" ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f"DROP TRIGGER {table}_{name}{on}")


class Migration(migrations.Migration):
    dependencies = [("annotate", "0021_audit_log")]

    operations = [migrations.RunPython(guard, unguard)]
