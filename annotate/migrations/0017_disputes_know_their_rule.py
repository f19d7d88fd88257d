"""Disputes that are there get the threshold and tolerance by which their round's guideline opened them."""

from django.db import migrations


def fill(apps, schema_editor):
    rounds = apps.get_model("annotate", "Round")
    disputes = apps.get_model("annotate", "Dispute")
    for round in rounds.objects.filter(number=1).select_related("guideline"):
        content = round.guideline.content
        for dimension in content["dimensions"]:
            named = dimension["measurement_level"] == "nominal"
            disputes.objects.filter(round=round, dimension=dimension["id"]).update(
                threshold=1 if named else content["dispute_threshold"],
                tolerance=0 if named else content["tolerance"],
            )


class Migration(migrations.Migration):
    dependencies = [("annotate", "0016_rules_of_disputes_and_nudges")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
