"""Indexes of whom disputes wait for and of why values were kept; only open disputes wait for somebody."""

from django.db import migrations, models
from django.db.models import Q


def ask_nobody_in_ended_disputes(apps, schema_editor):
    waiting = apps.get_model("annotate", "DisputeRater").objects.filter(since__isnull=False)
    waiting.exclude(dispute__status="open").update(since=None)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0006_jobs_of_one_kind")]

    operations = [
        migrations.AddIndex(
            model_name="disputerater",
            index=models.Index(
                models.F("rater"), condition=Q(since__isnull=False), name="raters_who_are_waited_for"
            ),
        ),
        migrations.AddIndex(
            model_name="ratingchange",
            index=models.Index(
                models.F("rating"),
                condition=~Q(short_reason="") | Q(cause="differs"),
                name="changes_with_a_reason",
            ),
        ),
        migrations.RunPython(ask_nobody_in_ended_disputes, migrations.RunPython.noop, elidable=True),
    ]
