"""A worker keeps the beginning of each upload, so that no page opens the file."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0003_long_writes"),
    ]

    operations = [
        migrations.CreateModel(
            name="UploadPreview",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("part", models.CharField(blank=True, help_text="The part that it shows.", max_length=2000)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("reading", "Reading"),
                            ("ready", "Ready"),
                            ("stopped", "Stopped"),
                        ],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("content", models.TextField(blank=True, help_text="See annotate.material.reading.opening.")),
                ("reason", models.TextField(blank=True, help_text="The reason of a stop.")),
                (
                    "lease",
                    models.UUIDField(
                        help_text="The worker that reads; no other writes the content.", null=True
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(default=0, help_text="Number of workers that took it."),
                ),
                (
                    "touched_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="The last sign of its worker."
                    ),
                ),
                (
                    "data_import",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="preview",
                        to="annotate.dataimport",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "stopped"), _negated=True),
                            ("reason__gt", ""),
                            _connector="OR",
                        ),
                        name="stopped_previews_say_why",
                    )
                ],
            },
        ),
    ]
