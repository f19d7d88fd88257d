"""Documents for selecting apart from those for teaching; searches in rounds; candidates that are no judges."""

import django.db.models.deletion
from django.db import migrations, models


def keep_what_there_is(apps, schema_editor):
    """Select on development documents that no prompt quotes; go on with searches that hold documents out."""
    documents = apps.get_model("judges", "DevelopmentDocument")
    quoted = apps.get_model("judges", "Proposal").objects.values("items__document")
    in_prompts = {pk for (pk,) in quoted.values_list("items__document").order_by().distinct() if pk}
    documents.objects.exclude(document__in=in_prompts).update(part="select")
    for search in apps.get_model("judges", "PromptSearch").objects.order_by("pk").iterator():
        if search.stage and search.stage >= len(search.stages):
            search.step = "held_out"
            search.save(update_fields=["step"])


class Migration(migrations.Migration):

    dependencies = [
        ('judges', '0009_turns'),
    ]

    operations = [
        migrations.AddField(
            model_name='developmentdocument',
            name='part',
            field=models.CharField(choices=[('teach', 'teach'), ('select', 'select')], db_default='teach', default='teach', help_text='Teach: examples and errors come from it. Select: candidates are ranked on it.', max_length=6),
        ),
        migrations.AddField(
            model_name='drafting',
            name='search',
            field=models.ForeignKey(help_text='Whose errors it is about; null: a person planned it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='draftings', to='judges.promptsearch'),
        ),
        migrations.AddField(
            model_name='judge',
            name='tried_by',
            field=models.ForeignKey(help_text='The search that tries it; null: a judge of the project.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.promptsearch'),
        ),
        migrations.AddField(
            model_name='promptsearch',
            name='drafter',
            field=models.ForeignKey(help_text='Whose model drafts from errors between rounds.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='judges.judge'),
        ),
        migrations.AddField(
            model_name='promptsearch',
            name='round',
            field=models.PositiveSmallIntegerField(db_default=1, default=1, help_text='The round under way.'),
        ),
        migrations.AddField(
            model_name='promptsearch',
            name='rounds',
            field=models.PositiveSmallIntegerField(db_default=1, default=1, help_text='At the most.'),
        ),
        migrations.AddField(
            model_name='promptsearch',
            name='step',
            field=models.CharField(choices=[('select', 'ranking candidates'), ('repeat', 'asking again where calls failed'), ('teach', 'looking for errors of the best candidate'), ('draft', 'drafting from its errors'), ('held_out', 'asking the chosen candidate about documents held out')], db_default='select', default='select', max_length=8),
        ),
        migrations.AddField(
            model_name='prompttemplate',
            name='tried_by',
            field=models.ForeignKey(help_text='The search that tries it; null: a version of the project.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.promptsearch'),
        ),
        migrations.AddField(
            model_name='proposal',
            name='ranks',
            field=models.JSONField(help_text='Of each stage: its alpha, that of the judge as it is, and the items of both.', null=True),
        ),
        migrations.AlterField(
            model_name='promptsearch',
            name='documents',
            field=models.JSONField(default=list, help_text='Ids of its documents for selecting as drawn.'),
        ),
        migrations.AlterField(
            model_name='promptsearch',
            name='stage',
            field=models.PositiveSmallIntegerField(default=0, help_text='The stage under way.'),
        ),
        migrations.AlterField(
            model_name='promptsearch',
            name='stages',
            field=models.JSONField(default=list, help_text='How many candidates each stage asks about how many documents.'),
        ),
        migrations.AddField(
            model_name='panel',
            name='learns_from_parts',
            field=models.BooleanField(db_default=False, default=False, help_text="Whether these documents are the project's for teaching, not a sample of its own."),
        ),
        migrations.RunPython(keep_what_there_is, migrations.RunPython.noop),
    ]
