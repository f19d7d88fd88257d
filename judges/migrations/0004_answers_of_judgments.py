"""Judges' answers to questions that a number cannot hold."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add what an answer holds besides its value."""

    dependencies = [
        ("judges", "0003_stop_mails_are_jobs"),
        ("annotate", "0010_item_parts"),
    ]

    operations = [
        migrations.AddField(
            model_name="judgment",
            name="data",
            field=models.JSONField(
                help_text="What an answer holds besides its value, see annotate.questions; empty on scales.",
                null=True,
            ),
        ),
    ]
