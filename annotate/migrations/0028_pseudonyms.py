from django.db import migrations, models

import annotate.models.people


class Migration(migrations.Migration):

    dependencies = [
        ("annotate", "0027_preferences"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="pseudonym",
            field=models.CharField(default=annotate.models.people.new_pseudonym, help_text="What exports call this person in this project.", max_length=20),
        ),
    ]
