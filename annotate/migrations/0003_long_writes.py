from django.db import migrations, models


class Migration(migrations.Migration):
    """Mark imports and rounds that are written in steps."""

    dependencies = [("annotate", "0002_initial")]

    operations = [
        migrations.AddField(
            model_name="dataimport",
            name="written",
            field=models.CharField(
                blank=True,
                choices=[("", "Nothing"), ("items", "Items"), ("ratings", "Ratings")],
                db_default="",
                default="",
                help_text="Rows of the unfinished import. The project waits for its end.",
                max_length=7,
            ),
        ),
        migrations.AddField(
            model_name="round",
            name="is_unfinished",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether assignments or disputes are still written after it was opened or closed.",
            ),
        ),
    ]
