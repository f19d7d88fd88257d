import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotate.models.images


class Migration(migrations.Migration):
    dependencies = [("annotate", "0013_signs_of_workers")]

    operations = [
        migrations.CreateModel(
            name="GuidelineImage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        help_text="From its content, with the ending of its format.", max_length=24
                    ),
                ),
                ("name", models.CharField(help_text="Of the file that was uploaded.", max_length=150)),
                (
                    "file",
                    models.FileField(max_length=150, upload_to=annotate.models.images.stored_name),
                ),
                ("added_at", models.DateTimeField(auto_now_add=True)),
                (
                    "added_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="images",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "ordering": ["added_at", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("project"), models.F("key"), name="image_once_in_project"
                    )
                ],
            },
        )
    ]
