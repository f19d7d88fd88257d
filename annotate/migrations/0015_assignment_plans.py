import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0014_guideline_images")]

    operations = [
        migrations.AlterField(
            model_name="assignment",
            name="plan",
            field=models.CharField(
                choices=[
                    ("n_of_m", "N of M annotators rate every item"),
                    ("everyone", "every annotator rates every item"),
                    ("balanced", "N of M annotators, dealt out evenly"),
                    ("sharing", "N of M annotators, and a block that everyone rates"),
                    ("listed", "as a file lists it"),
                    ("imported", "recorded elsewhere and imported"),
                    ("disputes", "the Round I raters of a disputed unit"),
                    ("routed", "routed from a model judge"),
                ],
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="AssignmentPlan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("queue", "Shared queue"),
                            ("everyone", "Everyone rates everything"),
                            ("balanced", "N of M, dealt out evenly"),
                            ("sharing", "Every pair shares a set share of items"),
                            ("listed", "Fixed lists from a file"),
                        ],
                        default="queue",
                        max_length=8,
                    ),
                ),
                (
                    "share",
                    models.PositiveSmallIntegerField(
                        default=10, help_text="Percent of the items that every pair of annotators shares."
                    ),
                ),
                (
                    "pairs",
                    models.JSONField(default=list, help_text="The listed pairs of keys: item, membership."),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignment_plan",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("share__lte", 100)), name="share_is_a_percentage"
                    )
                ],
            },
        ),
    ]
