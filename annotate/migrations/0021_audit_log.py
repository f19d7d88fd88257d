import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0020_ratings_know_their_guideline"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "act",
                    models.CharField(
                        help_text="What it was done to and what was done: round.opened.", max_length=60
                    ),
                ),
                ("subject", models.CharField(help_text="The name of what it was done to.", max_length=300)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("note", models.TextField(blank=True)),
                (
                    "actor",
                    models.ForeignKey(
                        help_text="Empty: the command line.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="audit_entries",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "indexes": [models.Index(models.F("project"), models.F("at"), name="audit_of_a_project")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("project__isnull", False), ("act", "project.deleted"), _connector="OR"
                        ),
                        name="acts_are_in_a_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProjectDeletion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deletion",
                        to="annotate.project",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="disputeevent",
            index=models.Index(models.F("at"), name="events_of_disputes_by_time"),
        ),
        migrations.AddIndex(
            model_name="ratingchange",
            index=models.Index(models.F("at"), name="changes_of_ratings_by_time"),
        ),
    ]
