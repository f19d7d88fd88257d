"""Questions of other kinds than scales, and answers that a number cannot hold."""

from django.db import migrations, models

DATA = "What `value` cannot hold of the answer, as its question kind reads it; empty on a scale."


class Migration(migrations.Migration):
    dependencies = [("annotate", "0007_who_is_waited_for")]

    operations = [
        migrations.AddField(
            model_name="dimension",
            name="kind",
            field=models.CharField(
                db_default="scale",
                default="scale",
                help_text="The key of its question kind, see annotate.questions; categories are a scale here.",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="dimension",
            name="options",
            field=models.JSONField(
                blank=True, help_text="As its question kind reads them; empty on a scale.", null=True
            ),
        ),
        migrations.AddField(
            model_name="dimension",
            name="shown_if",
            field=models.JSONField(
                blank=True,
                help_text="{dimension, values}: asked only where an earlier question has one of these answers.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="rating", name="data", field=models.JSONField(blank=True, help_text=DATA, null=True)
        ),
        migrations.AddField(
            model_name="ratingchange", name="data", field=models.JSONField(help_text=DATA, null=True)
        ),
        migrations.AddField(
            model_name="dispute",
            name="adjudicated_data",
            field=models.JSONField(blank=True, help_text=DATA, null=True),
        ),
        migrations.AddField(
            model_name="disputeevent", name="data", field=models.JSONField(help_text=DATA, null=True)
        ),
    ]
