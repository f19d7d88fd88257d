import django.db.models.deletion
from django.db import migrations, models

FOREIGN_KEYS = {
    "countingdecision": {"related_name": "counting_decisions"},
    "invitation": {
        "null": True,
        "blank": True,
        "help_text": "The membership without an account that it fills, if any.",
    },
    "practiceanswer": {"related_name": "practice_answers"},
    "recordedname": {"related_name": "recorded_names"},
}


class Migration(migrations.Migration):
    """Renames fields, not columns: workers of the version before read and write the same tables."""

    dependencies = [("annotate", "0017_retired_settings_and_tables")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("practiceanswer", "one_practice_answer_per_attempt"),
                *(
                    migrations.RenameField(model, "place", "membership")
                    for model in (*FOREIGN_KEYS, "outsiderater")
                ),
                *(
                    migrations.AlterField(
                        model,
                        "membership",
                        models.ForeignKey(
                            "annotate.membership",
                            django.db.models.deletion.CASCADE,
                            db_column="place_id",
                            **options,
                        ),
                    )
                    for model, options in FOREIGN_KEYS.items()
                ),
                migrations.AlterField(
                    "outsiderater",
                    "membership",
                    models.OneToOneField(
                        "annotate.membership",
                        django.db.models.deletion.CASCADE,
                        db_column="place_id",
                        related_name="outside",
                    ),
                ),
                migrations.AddConstraint(
                    "practiceanswer",
                    models.UniqueConstraint(
                        "membership", "attempt", "gold_value", name="one_practice_answer_per_attempt"
                    ),
                ),
            ]
        )
    ]
