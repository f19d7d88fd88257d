from django.db import migrations

from annotate.models.people import new_pseudonym


def draw_pseudonyms(apps, schema_editor):
    """Adding the field gave every place the same one."""
    places = apps.get_model("annotate", "Membership").objects
    for pk in list(places.values_list("pk", flat=True)):
        places.filter(pk=pk).update(pseudonym=new_pseudonym())


class Migration(migrations.Migration):

    dependencies = [
        ("annotate", "0028_pseudonyms"),
    ]

    operations = [migrations.RunPython(draw_pseudonyms, migrations.RunPython.noop)]
