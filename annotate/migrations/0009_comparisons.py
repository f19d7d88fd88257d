"""Comparisons of several outputs for one document, with the outputs as their sides."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0008_question_kinds")]

    operations = [
        migrations.AddField(
            model_name="system",
            name="compares",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether it stands for several systems whose texts are compared.",
            ),
        ),
        migrations.AddField(
            model_name="item",
            name="kind",
            field=models.CharField(
                choices=[("output", "output"), ("pair", "pair"), ("comparison", "comparison")],
                db_default="output",
                default="output",
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="ComparisonSide",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sides", to="annotate.item"
                    ),
                ),
                (
                    "output",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comparisons",
                        to="annotate.item",
                    ),
                ),
            ],
            options={
                "ordering": ["item", "position"],
                "constraints": [
                    models.UniqueConstraint("item", "position", name="side_position_once_in_a_comparison"),
                    models.UniqueConstraint("item", "output", name="output_once_in_a_comparison"),
                    models.CheckConstraint(
                        condition=~models.Q(item=models.F("output")), name="comparison_is_no_side_of_itself"
                    ),
                ],
            },
        ),
    ]
