from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames a field, not its column: workers of the version before read and write the same table."""

    dependencies = [("judges", "0014_stopped_dimensions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("leaseholder", "places", "calls_in_flight"),
                migrations.AlterField(
                    "leaseholder",
                    "calls_in_flight",
                    models.PositiveIntegerField(db_column="places", default=0),
                ),
                migrations.AlterField(
                    "leaseholder",
                    "turn_began",
                    models.DateTimeField(help_text="When it last began to have any calls.", null=True),
                ),
                migrations.AlterField(
                    "leaseholder",
                    "wanted",
                    models.PositiveIntegerField(
                        default=0, help_text="Calls that it could have in flight."
                    ),
                ),
            ]
        )
    ]
