"""An index by which judges take turns."""

from django.db import migrations, models


class AddIndexWhileInUse(migrations.AddIndex):
    """Add an index of a large table without stopping those who write to it, where the database can."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        """Build it concurrently on PostgreSQL."""
        if schema_editor.connection.vendor != "postgresql" or schema_editor.connection.in_atomic_block:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            model = to_state.apps.get_model(app_label, self.model_name)
            schema_editor.execute(self.index.create_sql(model, schema_editor, concurrently=True))


class Migration(migrations.Migration):
    """Outside a transaction, as PostgreSQL requires for it."""

    atomic = False
    dependencies = [("judges", "0008_reading")]
    operations = [
        AddIndexWhileInUse(
            model_name="judgment",
            index=models.Index(
                models.F("run"),
                models.F("judge"),
                models.F("id"),
                condition=models.Q(("status", "planned")),
                name="judgments_in_turn",
            ),
        ),
    ]
