"""Values revised at a document's end, seals of the audit log, and settings that browsers have, leave the models.

PostgreSQL keeps their columns and tables until a later version drops them.
"""

from django.db import migrations, models

from annotate.core.migrating import RetireField, RetireModel


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0016_version_parts'),
    ]

    operations = [
        RetireModel(
            name='AuditSeal',
        ),
        RetireModel(
            name='ErasedEntry',
        ),
        RetireModel(
            name='LookBack',
        ),
        RetireModel(
            name='RevisedValueChange',
        ),
        RetireModel(
            name='RevisedValue',
        ),
        migrations.RemoveConstraint(
            model_name='assignmentplan',
            name='planned_documents_end_only_by_document',
        ),
        migrations.RemoveConstraint(
            model_name='preferences',
            name='known_text_size',
        ),
        migrations.RemoveConstraint(
            model_name='preferences',
            name='known_line_length',
        ),
        migrations.RemoveConstraint(
            model_name='preferences',
            name='known_font',
        ),
        migrations.RemoveConstraint(
            model_name='preferences',
            name='known_motion',
        ),
        migrations.RemoveConstraint(
            model_name='round',
            name='documents_end_only_where_work_goes_by_document',
        ),
        RetireField(
            model_name='assignmentplan',
            name='revises_documents',
        ),
        RetireField(
            model_name='preferences',
            name='font',
        ),
        RetireField(
            model_name='preferences',
            name='line_length',
        ),
        RetireField(
            model_name='preferences',
            name='motion',
        ),
        RetireField(
            model_name='preferences',
            name='text_size',
        ),
        RetireField(
            model_name='round',
            name='revises_documents',
        ),
        migrations.AlterField(
            model_name='changecount',
            name='source',
            field=models.CharField(choices=[('ratings', 'Ratings'), ('disputes', 'Disputes')], max_length=8),
        ),
    ]
