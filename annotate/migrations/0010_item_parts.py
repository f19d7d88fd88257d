"""Parts of items, such as sentences and facts, that are judged one by one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0009_comparisons")]

    operations = [
        migrations.CreateModel(
            name="ItemPart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("text", models.TextField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="annotate.item"
                    ),
                ),
            ],
            options={
                "ordering": ["item", "position"],
                "constraints": [
                    models.UniqueConstraint("item", "position", name="part_position_once_in_an_item")
                ],
            },
        ),
    ]
