"""The database itself refuses to change a certificate, or a calibration that was computed or withdrawn."""

from django.db import migrations

SQLITE = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} {when}
BEGIN SELECT RAISE(ABORT, 'A certificate is never rewritten.'); END
"""

# The function is that of annotate's 0002_histories_are_append_only.
POSTGRESQL = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}
FOR EACH ROW {when} EXECUTE FUNCTION annotate_refuse_rewriting()
"""

GUARDED = {"judges_certificate": "", "judges_calibration": "WHEN (OLD.status <> 'drawn')"}


def guard(apps, schema_editor):
    trigger = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    for table, when in GUARDED.items():
        schema_editor.execute(trigger.format(table=table, when=when))


def unguard(apps, schema_editor):
    on = " ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
    for table in GUARDED:
        schema_editor.execute(f"DROP TRIGGER {table}_append_only" + on.format(table=table))


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0002_histories_are_append_only"),
        ("judges", "0006_calibrations_and_certificates"),
    ]

    operations = [migrations.RunPython(guard, unguard)]
