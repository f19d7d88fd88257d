"""Until now a round had one version of the guideline, so every rating was given under that one.

Saved states of ratings are never rewritten, so theirs stays empty.
"""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def tell_ratings(apps, schema_editor):
    rounds = apps.get_model("annotate", "Round").objects.filter(assignments=OuterRef("assignment"))
    ratings = apps.get_model("annotate", "Rating").objects.filter(guideline__isnull=True)
    ratings.update(guideline=Subquery(rounds.values("guideline")[:1]))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0019_versions_of_wording")]

    operations = [migrations.RunPython(tell_ratings, migrations.RunPython.noop)]
