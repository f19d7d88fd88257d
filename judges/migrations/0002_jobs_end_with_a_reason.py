"""Rereadings and searches count attempts and stop with a reason; drafts keep paid replies."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0002_initial"), ("judges", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(  # the version before reads the column by its name
            state_operations=[
                migrations.RenameField("rereading", "heartbeat_at", "touched_at"),
                migrations.AlterField(
                    "rereading",
                    "touched_at",
                    models.DateTimeField(
                        db_column="heartbeat_at", help_text="When its worker last reported progress."
                    ),
                ),
            ]
        ),
        # A rereading may stop before its preview.
        migrations.RemoveConstraint("rereading", "a_preview_comes_before_the_change"),
        migrations.AddField(
            "rereading",
            "attempts",
            models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Number of workers that took this step."),
        ),
        migrations.AddField(
            "rereading", "reason", models.TextField(blank=True, db_default="", help_text="The reason of a stop.")
        ),
        migrations.AlterField(
            "rereading",
            "status",
            models.CharField(
                choices=[
                    ("waiting", "waiting for a worker"),
                    ("reading", "reading replies"),
                    ("previewed", "read; nothing is changed yet"),
                    ("confirmed", "waiting for a worker to change them"),
                    ("applying", "changing judgments"),
                    ("applied", "changed"),
                    ("stopped", "stopped"),
                ],
                default="waiting",
                max_length=9,
            ),
        ),
        migrations.AddField(
            "promptsearch",
            "attempts",
            models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Number of workers that took this stage."),
        ),
        migrations.AddField(
            "promptsearch", "lease", models.UUIDField(help_text="The worker that advances it.", null=True)
        ),
        migrations.AddField(
            "proposal",
            "reply",
            models.TextField(help_text="The reply of the model; null: none yet.", null=True),
        ),
        migrations.AddField(
            "stepswriting",
            "replies",
            models.JSONField(null=True, help_text="The replies of the model, by the dimension's id."),
        ),
    ]
