"""Queued mails about accounts, and erasing a person's names from histories.

Two guards let more happen while a row of Erasure says that this transaction erases a person: an audit entry
may get other names, and the person's former names may go.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


REFUSED = "A history is never rewritten."
DELETING = "EXISTS (SELECT 1 FROM annotate_projectdeletion)"
RENAMING = (
    "EXISTS (SELECT 1 FROM annotate_erasure) AND NEW.id = OLD.id AND NEW.at = OLD.at AND NEW.act = OLD.act"
    " AND {project} AND {actor}"
)
FORGETTING = f"{DELETING} OR EXISTS (SELECT 1 FROM annotate_erasure WHERE user_id = OLD.user_id)"
RAISE = f"RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'integrity_constraint_violation';"
ENTRY, NAME, ERASED = "annotate_auditentry", "annotate_formername", "annotate_erasedentry"


def on_sqlite():
    same = RENAMING.format(project="NEW.project_id IS OLD.project_id", actor="NEW.actor_id IS OLD.actor_id")
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    yield f"DROP TRIGGER {ENTRY}_append_only"
    yield f"CREATE TRIGGER {ENTRY}_append_only BEFORE UPDATE ON {ENTRY} WHEN NOT ({same}) {refuse}"
    yield f"DROP TRIGGER {NAME}_never_deleted"
    yield f"CREATE TRIGGER {NAME}_never_deleted BEFORE DELETE ON {NAME} WHEN NOT ({FORGETTING}) {refuse}"
    yield f"CREATE TRIGGER {ERASED}_append_only BEFORE UPDATE ON {ERASED} {refuse}"
    yield f"CREATE TRIGGER {ERASED}_never_deleted BEFORE DELETE ON {ERASED} {refuse}"


def on_postgresql():
    same = RENAMING.format(
        project="NEW.project_id IS NOT DISTINCT FROM OLD.project_id",
        actor="NEW.actor_id IS NOT DISTINCT FROM OLD.actor_id",
    )
    for name, allowed, row in (("renaming", same, "NEW"), ("forgetting", FORGETTING, "OLD")):
        yield (
            f"CREATE FUNCTION annotate_refuse_all_but_{name}() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN IF {allowed} THEN RETURN {row}; END IF; {RAISE} END $$"
        )
    for table, guard, when, function in (
        (ENTRY, "append_only", "UPDATE", "annotate_refuse_all_but_renaming"),
        (NAME, "never_deleted", "DELETE", "annotate_refuse_all_but_forgetting"),
        (ERASED, "append_only", "UPDATE", "annotate_refuse_rewriting"),
        (ERASED, "never_deleted", "DELETE", "annotate_refuse_rewriting"),
    ):
        if table != ERASED:
            yield f"DROP TRIGGER {table}_{guard} ON {table}"
        yield (
            f"CREATE TRIGGER {table}_{guard} BEFORE {when} ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {function}()"
        )
    yield (
        f"CREATE TRIGGER {ERASED}_never_emptied BEFORE TRUNCATE ON {ERASED}"
        " FOR EACH STATEMENT EXECUTE FUNCTION annotate_refuse_rewriting()"
    )


def guard(apps, schema_editor):
    statements = on_postgresql() if schema_editor.connection.vendor == "postgresql" else on_sqlite()
    for statement in statements:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0004_upload_previews'),
    ]

    operations = [
        migrations.CreateModel(
            name='ErasedEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.BigIntegerField(db_index=True)),
                ('content', models.CharField(help_text='SHA-256 of what the entry says since then.', max_length=64)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='AccountMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sealed', models.TextField(help_text='Receiver, subject and text, encrypted.')),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('mail_due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When a worker sends it.')),
                ('user', models.ForeignKey(help_text='The account that it is about, if any.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunPython(guard, migrations.RunPython.noop),
    ]
