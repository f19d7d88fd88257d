"""Tables of raters from outside."""

import annotate.core.models.outside
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0011_calibration_sessions'),
    ]

    operations = [
        migrations.CreateModel(
            name='OutsideStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=annotate.core.models.outside.new_join_token, max_length=64, unique=True)),
                ('is_open', models.BooleanField(default=False, help_text='Whether new raters may join.')),
                ('consent', models.TextField(blank=True, help_text='Markdown, shown before anything else.')),
                ('questions', models.JSONField(blank=True, default=list, help_text='Questions about the rater: objects with `question` and `choices` (empty: free text).')),
                ('most_raters', models.PositiveIntegerField(default=100, validators=[django.core.validators.MinValueValidator(1)])),
                ('items_per_rater', models.PositiveIntegerField(blank=True, help_text='Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('completion_code', models.CharField(blank=True, max_length=100)),
                ('completion_url', models.CharField(blank=True, max_length=500)),
                ('screened_code', models.CharField(blank=True, max_length=100)),
                ('screened_url', models.CharField(blank=True, max_length=500)),
                ('pay_rule', models.CharField(choices=[('none', 'nothing, or the platform pays'), ('fixed', 'a fixed sum for who completes the study'), ('item', 'each item rated'), ('hour', 'each hour of active time')], default='none', max_length=5)),
                ('pay_rate', models.DecimalField(blank=True, decimal_places=4, max_digits=10, null=True)),
                ('currency', models.CharField(blank=True, max_length=3)),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='outside_study', to='annotate.project')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('is_open', False), models.Q(('consent', ''), _negated=True), _connector='OR'), name='open_study_has_a_consent_text'),
                    models.CheckConstraint(condition=models.Q(('most_raters__gte', 1)), name='study_takes_a_rater'),
                    models.CheckConstraint(condition=models.Q(('items_per_rater__isnull', True), ('items_per_rater__gte', 1), _connector='OR'), name='study_has_an_item_per_rater'),
                    models.CheckConstraint(condition=models.Q(models.Q(('completion_url', ''), ('completion_url__startswith', 'https://'), _connector='OR'), models.Q(('screened_url', ''), ('screened_url__startswith', 'https://'), _connector='OR')), name='study_redirects_by_https'),
                    models.CheckConstraint(condition=models.Q(models.Q(('pay_rate__isnull', True), ('pay_rule', 'none')), models.Q(models.Q(('pay_rule', 'none'), _negated=True), ('pay_rate__gte', 0), ('pay_rate__isnull', False)), _connector='OR'), name='study_pays_by_a_rule'),
                ],
            },
        ),
        migrations.CreateModel(
            name='OutsideRater',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform_id', models.CharField(blank=True, help_text='ID of the person on the platform: PROLIFIC_PID of the link.', max_length=200)),
                ('parameters', models.JSONField(blank=True, default=dict, help_text='All parameters of the link.')),
                ('consented_at', models.DateTimeField()),
                ('consent_digest', models.CharField(help_text='SHA-256 of the consent text.', max_length=64)),
                ('answers', models.JSONField(blank=True, default=list, help_text='Objects with `question` and `answer`, in order.')),
                ('outcome', models.CharField(blank=True, choices=[('', 'at work'), ('completed', 'completed'), ('screened_out', 'screened out')], default='', max_length=12)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('place', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='outside', to='annotate.membership')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='raters', to='annotate.outsidestudy')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(models.F('study'), models.F('platform_id'), condition=models.Q(('platform_id', ''), _negated=True), name='platform_id_once_in_study'),
                    models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('outcome', '')), models.Q(('outcome__in', ['completed', 'screened_out']), ('ended_at__isnull', False)), _connector='OR'), name='outside_rater_ended_with_an_outcome'),
                ],
            },
        ),
    ]
