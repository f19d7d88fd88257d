"""Judges may follow up an unreadable reply."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the setting, off for judges that exist."""

    dependencies = [("judges", "0007_prices")]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="asks_again",
            field=models.BooleanField(
                default=False,
                db_default=False,
                help_text="Whether a reply without a readable score is followed up by one more call.",
            ),
        ),
    ]
