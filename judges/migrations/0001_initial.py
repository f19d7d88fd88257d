"""Endpoints, judges, runs, judgments, routing and certificates.

The database itself refuses to change a certificate, or a calibration that was computed or withdrawn.
"""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


GUARDED = {"judges_certificate": "", "judges_calibration": "WHEN (OLD.status <> 'drawn')"}
SQLITE = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} {when}"
    " BEGIN SELECT RAISE(ABORT, 'A certificate is never rewritten.'); END"
)
POSTGRESQL = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
    " FOR EACH ROW {when} EXECUTE FUNCTION annotate_refuse_rewriting()"
)


def guard(apps, schema_editor):
    trigger = POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE
    for table, when in GUARDED.items():
        schema_editor.execute(trigger.format(table=table, when=when))


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotate', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='endpoints', to='annotate.project')),
                ('name', models.CharField(max_length=80)),
                ('base_url', models.URLField(max_length=300)),
                ('key_variable', models.CharField(blank=True, help_text='The name of the environment variable that holds the key.', max_length=80)),
                ('requests_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                ('tokens_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                ('input_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million tokens; empty: unknown.', max_digits=12, null=True)),
                ('output_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million tokens; empty: unknown.', max_digits=12, null=True)),
                ('timeout_seconds', models.PositiveIntegerField(default=60)),
                ('calls_in_flight', models.PositiveIntegerField(default=16)),
                ('resting_until', models.DateTimeField(blank=True, help_text='Until when the server asked everyone to wait.', null=True)),
                ('window_began_at', models.DateTimeField(blank=True, null=True)),
                ('window_requests', models.PositiveIntegerField(default=0)),
                ('window_tokens', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='endpoint_name_once_in_project'), models.CheckConstraint(condition=models.Q(('calls_in_flight__gte', 1)), name='endpoint_takes_a_call'), models.CheckConstraint(condition=models.Q(('timeout_seconds__gte', 1)), name='endpoint_timeout_lasts'), models.CheckConstraint(condition=models.Q(models.Q(('input_price__isnull', True), ('input_price__gte', 0), _connector='OR'), models.Q(('output_price__isnull', True), ('output_price__gte', 0), _connector='OR')), name='prices_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('requests_per_minute__isnull', True), ('requests_per_minute__gte', 1), _connector='OR'), models.Q(('tokens_per_minute__isnull', True), ('tokens_per_minute__gte', 1), _connector='OR')), name='limits_allow_something'), models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_variable__endswith', '_API_KEY'), _connector='OR'), name='only_variables_of_keys_are_sent')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='EndpointKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('endpoint', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='entered_key', to='judges.endpoint')),
                ('origin', models.CharField(help_text='Scheme, host and port of the address for which it was entered.', max_length=300)),
                ('encrypted', models.TextField()),
                ('ends_with', models.CharField(blank=True, max_length=4)),
                ('entered_at', models.DateTimeField()),
                ('entered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('encrypted', ''), _negated=True), name='entered_key_is_encrypted')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='PromptTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prompt_templates', to='annotate.project')),
                ('method', models.CharField(help_text='A key of judges.methods.METHODS.', max_length=20)),
                ('name', models.CharField(max_length=80)),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), models.F('version'), name='template_version_once_in_project')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Judge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judges', to='annotate.project')),
                ('name', models.CharField(max_length=80)),
                ('endpoint', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judges', to='judges.endpoint')),
                ('model', models.CharField(max_length=120)),
                ('method', models.CharField(help_text='A key of judges.methods.METHODS.', max_length=20)),
                ('template', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judges', to='judges.prompttemplate')),
                ('temperature', models.FloatField(default=0)),
                ('samples', models.PositiveSmallIntegerField(default=1)),
                ('max_tokens', models.PositiveIntegerField(default=256)),
                ('score_from', models.CharField(choices=[('text', "the reply's text"), ('probabilities', 'the probabilities of the answers (G-Eval)')], default='text', max_length=13)),
                ('structured', models.BooleanField(default=False, help_text='Ask for JSON of a given shape.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='judge_name_once_in_project'), models.CheckConstraint(condition=models.Q(('samples__gte', 1)), name='a_judge_gives_a_sample'), models.CheckConstraint(condition=models.Q(('temperature__gte', 0), ('temperature__lte', 2)), name='temperature_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('endpoint__isnull', False), ('template__isnull', False)), models.Q(('endpoint__isnull', True), ('template__isnull', True)), _connector='OR'), name='only_imported_judges_ask_nobody')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Calibration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calibrations', to='annotate.project')),
                ('name', models.CharField(max_length=80)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judges.judge')),
                ('other', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judges.judge')),
                ('loss', models.CharField(choices=[('another_point', 'another point than people'), ('more_than_one_point', 'more than one point away from people'), ('other_side', 'on the other side of a cut than people')], max_length=19)),
                ('cut', models.FloatField(null=True)),
                ('risk', models.FloatField()),
                ('significance_level', models.FloatField(help_text='Delta, for all certificates of it together.')),
                ('confidence', models.CharField(choices=[('closeness', 'closeness of the two judges'), ('steadiness', 'steadiness over its samples'), ('largest_probability', 'share of its most frequent value over its samples'), ('error_model', 'a model of its errors, fitted on ratings of its own')], max_length=19)),
                ('expected_error', models.FloatField(help_text='Supposed for the plan; no result depends on it.')),
                ('accepted_share', models.FloatField(help_text='Likewise.')),
                ('raters', models.PositiveSmallIntegerField()),
                ('size', models.PositiveIntegerField(help_text='Units of each dimension that calibrate.')),
                ('fitting', models.PositiveIntegerField(default=0, help_text='Units of each dimension that fit the error model.')),
                ('grids', models.JSONField(help_text='By dimension key the thresholds; none where a model gives them.')),
                ('bound', models.JSONField()),
                ('seed', models.BigIntegerField()),
                ('status', models.CharField(choices=[('drawn', 'drawn'), ('certified', 'computed'), ('withdrawn', 'withdrawn')], default='drawn', max_length=9)),
                ('opened_round', models.BooleanField(default=False, help_text='Whether Round I was opened for it.')),
                ('drawn_at', models.DateTimeField()),
                ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('ended_at', models.DateTimeField(help_text='When it was computed or withdrawn.', null=True)),
                ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='calibration_name_once_in_project'), models.UniqueConstraint(models.F('judge'), condition=models.Q(('status', 'drawn')), name='one_sample_at_a_time_of_a_judge'), models.CheckConstraint(condition=models.Q(('risk__gt', 0), ('risk__lt', 1), ('significance_level__gt', 0), ('significance_level__lt', 1), ('size__gte', 1)), name='calibration_levels_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('cut__isnull', False), ('loss', 'other_side')), models.Q(models.Q(('loss', 'other_side'), _negated=True), ('cut__isnull', True)), _connector='OR'), name='only_sides_have_a_cut'), models.CheckConstraint(condition=models.Q(models.Q(('confidence', 'closeness'), _negated=True), ('other__isnull', False), _connector='OR'), name='closeness_needs_two_judges'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status', 'drawn')), models.Q(models.Q(('status', 'drawn'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='calibrations_end_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Certificate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('calibration', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='certificates', to='judges.calibration')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('significance_level', models.FloatField(help_text='Its share of delta.')),
                ('threshold', models.FloatField(null=True)),
                ('reason', models.TextField(blank=True, help_text='Why there is no threshold.')),
                ('units', models.PositiveIntegerField()),
                ('kept', models.PositiveIntegerField(default=0)),
                ('rated', models.PositiveIntegerField()),
                ('missing', models.PositiveIntegerField()),
                ('accepted', models.PositiveIntegerField(null=True)),
                ('errors', models.PositiveIntegerField(null=True)),
                ('upper_bound', models.FloatField(help_text='On the share of errors among the kept units.', null=True)),
                ('risk_of_unrated', models.FloatField(null=True)),
                ('more_ratings', models.PositiveIntegerField(null=True)),
                ('more_reason', models.TextField(blank=True)),
                ('steps', models.JSONField()),
                ('controls', models.JSONField()),
                ('ceiling', models.FloatField(null=True)),
                ('ceiling_units', models.PositiveIntegerField()),
                ('ceiling_reason', models.TextField(blank=True)),
                ('error_model', models.JSONField(help_text='Intercept, slopes, centres, scales by feature.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('calibration'), models.F('dimension'), name='one_certificate_per_dimension'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('threshold__isnull', False), ('upper_bound__isnull', False)), models.Q(('kept', 0), ('reason__gt', ''), ('threshold__isnull', True)), _connector='OR'), name='abstentions_say_why')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='RoutingPolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='routing_policies', to='annotate.project')),
                ('name', models.CharField(max_length=80)),
                ('rule', models.CharField(choices=[('indicator', 'R against r'), ('certificate', 'certificates')], default='indicator', max_length=11)),
                ('calibration', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='policies', to='judges.calibration')),
                ('rts', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judges.judge')),
                ('mcq', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='judges.judge')),
                ('coefficient', models.CharField(choices=[('spearman', "Spearman's rho"), ('pearson', "Pearson's r"), ('kendall_tau_b', "Kendall's tau-b")], default='spearman', max_length=13)),
                ('threshold', models.FloatField(help_text='r, for every dimension that has none of its own; none by certificates.', null=True)),
                ('thresholds', models.JSONField(default=dict, help_text='Dimension keys with an r of their own.')),
                ('decided_by', models.CharField(choices=[('lower_bound', "R's lower bound"), ('estimate', 'R itself')], default='lower_bound', max_length=11)),
                ('confidence_level', models.FloatField(default=0.95)),
                ('audit', models.CharField(choices=[('random', 'at random'), ('active', 'more where errors are expected')], default='random', max_length=6)),
                ('audit_share', models.FloatField(default=0.05)),
                ('raters', models.PositiveSmallIntegerField()),
                ('risk', models.FloatField(default=0.2)),
                ('seed', models.BigIntegerField(help_text="Of the audit and of R's intervals.")),
                ('status', models.CharField(choices=[('draft', 'draft'), ('routed', 'routed'), ('withdrawn', 'withdrawn')], default='draft', max_length=9)),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.round')),
                ('opened_round', models.BooleanField(default=False, help_text='Whether the round was opened for it.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('routed_at', models.DateTimeField(null=True)),
                ('routed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('withdrawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'routing policies',
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='policy_name_once_in_project'), models.UniqueConstraint(models.F('project'), condition=models.Q(('status', 'routed')), name='one_policy_routes_a_project'), models.CheckConstraint(condition=models.Q(('threshold__gte', -1), ('threshold__lte', 1)), name='r_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('calibration__isnull', True), ('mcq__isnull', False), ('rule', 'indicator'), ('threshold__isnull', False)), models.Q(('audit', 'random'), ('calibration__isnull', False), ('rule', 'certificate'), ('threshold__isnull', True)), _connector='OR'), name='a_policy_follows_r_or_certificates'), models.CheckConstraint(condition=models.Q(('audit_share__gt', 0), ('audit_share__lte', 1)), name='nothing_is_never_drawn'), models.CheckConstraint(condition=models.Q(('confidence_level__gt', 0), ('confidence_level__lt', 1), ('risk__gt', 0), ('risk__lt', 1)), name='policy_levels_in_range'), models.CheckConstraint(condition=models.Q(('raters__gte', 1)), name='a_routed_unit_has_a_rater'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'routed'), _negated=True), models.Q(('round__isnull', False), ('routed_at__isnull', False)), _connector='OR'), name='routed_policies_say_where_and_when')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='CalibrationUnit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('policy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='calibration_units', to='judges.routingpolicy')),
                ('calibration', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='units', to='judges.calibration')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.item')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('fits', models.BooleanField(default=False)),
                ('inclusion_probability', models.FloatField(help_text='That a calibration drew it.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('policy'), models.F('item'), models.F('dimension'), name='a_unit_calibrates_a_policy_once'), models.UniqueConstraint(models.F('calibration'), models.F('item'), models.F('dimension'), name='a_calibration_draws_a_unit_once'), models.CheckConstraint(condition=models.Q(models.Q(('calibration__isnull', True), ('fits', False), ('policy__isnull', False)), models.Q(('calibration__isnull', False), ('policy__isnull', True)), _connector='OR'), name='units_calibrate_a_policy_or_a_threshold')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='RoutedUnit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='units', to='judges.routingpolicy')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.item')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('why', models.CharField(choices=[('threshold', 'R is not above r'), ('undefined', 'R cannot be told'), ('no_value', 'the judge has no value'), ('unsure', 'the judge is not sure enough'), ('abstained', 'the dimension has no certificate'), ('fitted', 'it fits the model of errors'), ('audit', 'drawn to audit the judge')], max_length=9)),
                ('reason', models.TextField(help_text='The same in a sentence, with the numbers.')),
                ('indicator', models.FloatField(help_text="R of the item's system on the dimension.", null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('items', models.PositiveIntegerField(help_text='How many items R is over.', null=True)),
                ('confidence', models.FloatField(help_text='How sure the judge is, by certificates.', null=True)),
                ('threshold', models.FloatField(help_text="r, or the certificate's threshold.", null=True)),
                ('inclusion_probability', models.FloatField()),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('policy'), models.F('item'), models.F('dimension'), name='a_policy_routes_a_unit_once'), models.CheckConstraint(condition=models.Q(models.Q(('inclusion_probability__gt', 0), ('inclusion_probability__lte', 1), ('why', 'audit')), models.Q(models.Q(('why', 'audit'), _negated=True), ('inclusion_probability', 1)), _connector='OR'), name='routed_units_are_certain_audited_ones_drawn'), models.CheckConstraint(condition=models.Q(models.Q(('why', 'undefined'), _negated=True), ('reason__gt', ''), _connector='OR'), name='undefined_indicators_say_why')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='annotate.project')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='annotate.guideline')),
                ('status', models.CharField(choices=[('planned', 'planned'), ('running', 'running'), ('paused', 'paused'), ('stopped', 'stopped'), ('cancelled', 'cancelled'), ('finished', 'finished')], default='planned', max_length=9)),
                ('via', models.CharField(choices=[('calls', 'one call a judgment'), ('batch', 'the batch interface')], default='calls', max_length=5)),
                ('reason', models.TextField(blank=True, help_text='Why it stopped, in a sentence.')),
                ('budget', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                ('spent', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'stopped'), _negated=True), ('reason__gt', ''), _connector='OR'), name='stopped_runs_say_why'), models.CheckConstraint(condition=models.Q(('budget__isnull', True), ('budget__gt', 0), _connector='OR'), name='budgets_allow_something')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='judges.run')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='judges.endpoint')),
                ('model', models.CharField(max_length=120)),
                ('status', models.CharField(choices=[('prepared', 'being uploaded'), ('uploaded', 'uploaded'), ('submitting', 'being submitted'), ('in_progress', 'in progress'), ('collecting', 'being collected'), ('collected', 'collected'), ('failed', 'failed')], default='prepared', max_length=11)),
                ('reason', models.TextField(blank=True, help_text='Why it failed, or could not be reached last, in a sentence.')),
                ('input_file', models.CharField(blank=True, max_length=200)),
                ('provider_id', models.CharField(blank=True, max_length=200)),
                ('requests', models.PositiveIntegerField()),
                ('completed', models.PositiveIntegerField(default=0, help_text='As the provider counts.')),
                ('failed', models.PositiveIntegerField(default=0, help_text='As the provider counts.')),
                ('expected_cost', models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('submitted_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(help_text='When it was collected, or failed.', null=True)),
                ('due_at', models.DateTimeField()),
                ('failures', models.PositiveSmallIntegerField(default=0, help_text='Calls without an answer in a row.')),
                ('holder', models.UUIDField(null=True)),
                ('held_until', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'batches',
                'indexes': [models.Index(models.F('run'), models.F('due_at'), condition=models.Q(('status__in', ['collected', 'failed']), _negated=True), name='batches_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('requests__gte', 1)), name='a_batch_has_a_request'), models.CheckConstraint(condition=models.Q(('status__in', ['prepared', 'failed']), ('input_file__gt', ''), _connector='OR'), name='uploaded_batches_name_their_file'), models.CheckConstraint(condition=models.Q(('status__in', ['prepared', 'uploaded', 'submitting', 'failed']), models.Q(('provider_id__gt', ''), ('submitted_at__isnull', False)), _connector='OR'), name='submitted_batches_are_known_to_the_provider'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', False), ('status__in', ['collected', 'failed'])), models.Q(models.Q(('status__in', ['collected', 'failed']), _negated=True), ('closed_at__isnull', True)), _connector='OR'), name='batches_end_once'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), _negated=True), ('reason__gt', ''), _connector='OR'), name='failed_batches_say_why'), models.CheckConstraint(condition=models.Q(models.Q(('held_until__isnull', True), ('holder__isnull', True)), models.Q(('held_until__isnull', False), ('holder__isnull', False)), _connector='OR'), name='holding_a_batch_ends'), models.UniqueConstraint(models.F('endpoint'), models.F('provider_id'), condition=models.Q(('provider_id__gt', '')), name='a_batch_of_the_provider_once')],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='judges.run')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='judges.judge')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotate.item')),
                ('other', models.ForeignKey(help_text='The item shown second.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.item')),
                ('sample', models.PositiveSmallIntegerField(default=0)),
                ('status', models.CharField(choices=[('planned', 'planned'), ('leased', 'in flight'), ('done', 'done'), ('unreadable', 'unreadable'), ('failed', 'failed')], default='planned', max_length=10)),
                ('lease', models.UUIDField(null=True)),
                ('leased_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('value', models.FloatField(null=True)),
                ('rationale', models.TextField(blank=True)),
                ('reply', models.TextField(blank=True)),
                ('reason', models.TextField(blank=True, help_text='Why there is no value, in a sentence.')),
                ('input_tokens', models.PositiveIntegerField(null=True)),
                ('output_tokens', models.PositiveIntegerField(null=True)),
                ('cost', models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ('seconds', models.FloatField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(models.F('run'), models.F('id'), condition=models.Q(('status', 'planned')), name='judgments_planned'), models.Index(models.F('run'), models.F('leased_until'), condition=models.Q(('status', 'leased')), name='judgments_leased'), models.Index(models.F('judge'), condition=models.Q(('status', 'leased')), name='judgments_in_flight'), models.Index(models.F('run'), models.F('answered_at'), name='judgments_answered')],
                'constraints': [models.UniqueConstraint(models.F('judge'), models.F('dimension'), models.F('item'), models.F('sample'), condition=models.Q(('other__isnull', True)), name='one_judgment_per_unit_and_sample'), models.UniqueConstraint(models.F('judge'), models.F('dimension'), models.F('item'), models.F('other'), models.F('sample'), condition=models.Q(('other__isnull', False)), name='one_judgment_per_pair_and_sample'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'done'), ('value__isnull', False)), models.Q(models.Q(('status', 'done'), _negated=True), ('value__isnull', True)), _connector='OR'), name='done_judgments_have_a_value'), models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['unreadable', 'failed']), _negated=True), ('reason__gt', ''), _connector='OR'), name='judgments_without_value_say_why'), models.CheckConstraint(condition=models.Q(models.Q(('lease__isnull', False), ('leased_until__isnull', False), ('status', 'leased')), models.Q(models.Q(('status', 'leased'), _negated=True), ('lease__isnull', True), ('leased_until__isnull', True)), _connector='OR'), name='leases_end')],
            },
        ),
        migrations.CreateModel(
            name='LeaseHolder',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.run')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lease_holders', to='judges.endpoint')),
                ('places', models.PositiveIntegerField(default=0)),
                ('wanted', models.PositiveIntegerField(default=0, help_text='Places that it could use.')),
                ('draining', models.BooleanField(default=False, help_text='It only ends the calls in flight.')),
                ('turn_began', models.DateTimeField(help_text='When it last began to have any places.', null=True)),
                ('alive_until', models.DateTimeField(help_text='Renewed by heartbeats; a holder is dead after it.')),
            ],
            options={
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.RunPython(guard, migrations.RunPython.noop),
    ]
