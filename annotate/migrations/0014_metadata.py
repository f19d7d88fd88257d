"""Columns of imported files that have no other meaning."""

from django.db import migrations, models


def other_columns():
    return models.JSONField(
        blank=True, db_default={}, default=dict, help_text="Other columns of its file, by name."
    )


class Migration(migrations.Migration):
    dependencies = [("annotate", "0013_item_format")]

    operations = [
        migrations.AddField(model_name="document", name="metadata", field=other_columns()),
        migrations.AddField(model_name="item", name="metadata", field=other_columns()),
    ]
