"""Calibration sessions: projects in which the raters of another project calibrate themselves."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0010_item_parts")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="calibrates",
            field=models.ForeignKey(
                blank=True,
                help_text="The project whose raters calibrate themselves in this one; empty: it is a benchmark.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="calibration_sessions",
                to="annotate.project",
            ),
        ),
    ]
