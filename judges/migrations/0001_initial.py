"""Endpoints, judges, runs, judgments, routing and certificates.

The database itself refuses to change a certificate, or a calibration that was computed or withdrawn.
"""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotate.core.migrating import TablesTogether


GUARDED = {"judges_certificate": "", "judges_judgmentchange": None, "judges_calibration": "WHEN (OLD.status <> 'drawn')"}
# What a model wrote word by word goes from a history by retention; nothing else of it ever changes.
WORDS = ("reply", "refusal", "messages", "steps")
SAME = ("id", "judgment_id", "at", "actor_id", "kind", "status_before", "value_before", "reason_before", "problem_before")
SAME += ("status_after", "value_after", "note")



def without_words_on_sqlite(row):
    paths = ", ".join(f"'$.{word}'" for word in WORDS)
    return f"json_remove({row}.answer_before, {paths})"


def without_words_on_postgresql(row):
    words = ", ".join(f"'{word}'" for word in WORDS)
    return f"({row}.answer_before - ARRAY[{words}])"


FORGETS_ON_SQLITE = (
    " AND ".join(f"OLD.{name} IS NEW.{name}" for name in SAME)
    + " AND json_extract(NEW.answer_before, '$.reply') IS ''"
    + f" AND {without_words_on_sqlite('OLD')} IS {without_words_on_sqlite('NEW')}"
)
FORGETS_ON_POSTGRESQL = (
    "to_jsonb(OLD) - 'answer_before' = to_jsonb(NEW) - 'answer_before'"
    " AND NEW.answer_before ->> 'reply' IS NOT DISTINCT FROM ''"
    f" AND {without_words_on_postgresql('OLD')} = {without_words_on_postgresql('NEW')}"
)
SQLITE = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table} {when}"
    " BEGIN SELECT RAISE(ABORT, 'A certificate is never rewritten.'); END"
)
POSTGRESQL = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
    " FOR EACH ROW {when} EXECUTE FUNCTION annotate_refuse_rewriting()"
)


def guard(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    trigger, forgets = (POSTGRESQL, FORGETS_ON_POSTGRESQL) if postgresql else (SQLITE, FORGETS_ON_SQLITE)
    for table, when in GUARDED.items():
        when = f"WHEN (NOT ({forgets}))" if when is None else when
        schema_editor.execute(trigger.format(table=table, when=when))


class Migration(TablesTogether):

    initial = True

    dependencies = [
        ('annotate', '0002_initial'),
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
                ('cached_price', models.DecimalField(blank=True, decimal_places=6, help_text='Per million input tokens that the server had cached; empty: as other input tokens.', max_digits=12, null=True)),
                ('moved_at', models.DateTimeField(help_text='When it was last given another address; answers before are of another server.', null=True)),
                ('timeout_seconds', models.PositiveIntegerField(default=60)),
                ('calls_in_flight', models.PositiveIntegerField(default=16)),
                ('samples_in_one_call', models.BooleanField(default=False, help_text='Whether all samples of a judgment are asked for in one call (n).')),
                ('patience_minutes', models.PositiveSmallIntegerField(default=15, help_text='Minutes without an answer after which its runs stop.')),
                ('resume_hours', models.PositiveSmallIntegerField(default=24, help_text='Hours in which runs that stopped for it resume by themselves; 0: never.')),
                ('unanswered_since', models.DateTimeField(help_text='The first failed call since its last answer; empty while it answers.', null=True)),
                ('tried_at', models.DateTimeField(help_text='The last failed call.', null=True)),
                ('failure', models.TextField(blank=True, help_text='Why that call failed, in a sentence.')),
                ('patience_until', models.DateTimeField(help_text='When its runs stop if nothing is answered.', null=True)),
                ('next_probe_at', models.DateTimeField(help_text='When one call tries it again; until one is answered no other begins.', null=True)),
                ('failed_probes', models.PositiveSmallIntegerField(default=0)),
                ('resting_until', models.DateTimeField(blank=True, help_text='Until when the server asked everyone to wait.', null=True)),
                ('window_began_at', models.DateTimeField(blank=True, null=True)),
                ('window_requests', models.PositiveIntegerField(default=0)),
                ('window_tokens', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='endpoint_name_once_in_project'), models.CheckConstraint(condition=models.Q(('calls_in_flight__gte', 1)), name='endpoint_takes_a_call'), models.CheckConstraint(condition=models.Q(('timeout_seconds__gte', 1)), name='endpoint_timeout_lasts'), models.CheckConstraint(condition=models.Q(('patience_minutes__gte', 1)), name='patience_lasts'), models.CheckConstraint(condition=models.Q(models.Q(('next_probe_at__isnull', True), ('patience_until__isnull', True), ('unanswered_since__isnull', True)), models.Q(('patience_until__isnull', False), ('tried_at__isnull', False), ('unanswered_since__isnull', False)), _connector='OR'), name='a_silence_has_a_beginning_and_an_end'), models.CheckConstraint(condition=models.Q(models.Q(('input_price__isnull', True), ('input_price__gte', 0), _connector='OR'), models.Q(('output_price__isnull', True), ('output_price__gte', 0), _connector='OR'), models.Q(('cached_price__isnull', True), ('cached_price__gte', 0), _connector='OR')), name='prices_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('requests_per_minute__isnull', True), ('requests_per_minute__gte', 1), _connector='OR'), models.Q(('tokens_per_minute__isnull', True), ('tokens_per_minute__gte', 1), _connector='OR')), name='limits_allow_something'), models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_variable__endswith', '_API_KEY'), _connector='OR'), name='only_variables_of_keys_are_sent')],
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
                ('text', models.TextField(help_text='For all dimensions without a wording of their own.')),
                ('wordings', models.JSONField(default=dict, help_text="Texts of dimensions with a wording of their own, by the dimension's id.")),
                ('pattern', models.TextField(blank=True, help_text="A regular expression whose last match holds the answer; empty: Concord's own rules.")),
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
                ('temperature', models.FloatField(default=0, help_text='Empty: not sent.', null=True)),
                ('top_p', models.FloatField(null=True)),
                ('seed', models.BigIntegerField(help_text='Of the first sample; each further one adds 1.', null=True)),
                ('stop', models.JSONField(default=list, help_text='Up to four texts at which a reply ends.')),
                ('reasoning_effort', models.CharField(blank=True, max_length=20)),
                ('system_message', models.TextField(blank=True)),
                ('extra_body', models.JSONField(default=dict, help_text='Sent with each request as it is.')),
                ('samples', models.PositiveSmallIntegerField(default=1)),
                ('max_tokens', models.PositiveIntegerField(default=256)),
                ('max_tokens_name', models.CharField(blank=True, choices=[('', 'found out before the first run'), ('max_tokens', 'max_tokens'), ('max_completion_tokens', 'max_completion_tokens')], default='', max_length=21)),
                ('score_from', models.CharField(choices=[('text', "the reply's text"), ('probabilities', 'the probabilities of the answers (G-Eval)')], default='text', max_length=13)),
                ('structured', models.BooleanField(default=False, help_text='Ask for JSON of a given shape.')),
                ('scale_minimum', models.SmallIntegerField(help_text='Of a scale of its own; empty: that of the dimension.', null=True)),
                ('scale_maximum', models.SmallIntegerField(null=True)),
                ('scale_modifiers', models.BooleanField(default=False, help_text='Whether weak takes a third of a point from a score and strong adds one.')),
                ('scale_thirds', models.BooleanField(default=False, help_text='Whether its scores go in steps of a third: 3, 3.33, 3.67.')),
                ('scale_table', models.JSONField(default=list, help_text="The dimension's value for each point of its own scale; empty: linear.")),
                ('asked_together', models.JSONField(default=list, help_text='Ids of the dimensions of one call in their order, where its method asks about several; empty: all, as they are listed.')),
                ('reference', models.ForeignKey(help_text='Whose text of the same document its prompt shows as reference.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotate.system')),
                ('call_order', models.CharField(choices=[('fixed', 'the same for all items'), ('rotated', 'rotated: which one is first is drawn for each item')], default='fixed', max_length=7)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='judge_name_once_in_project'), models.CheckConstraint(condition=models.Q(('samples__gte', 1)), name='a_judge_gives_a_sample'), models.CheckConstraint(condition=models.Q(('temperature__isnull', True), models.Q(('temperature__gte', 0), ('temperature__lte', 2)), _connector='OR'), name='temperature_in_range'), models.CheckConstraint(condition=models.Q(('top_p__isnull', True), models.Q(('top_p__gt', 0), ('top_p__lte', 1)), _connector='OR'), name='top_p_in_range'), models.CheckConstraint(condition=models.Q(('endpoint__isnull', True), ('template__isnull', False), _connector='OR'), name='a_judge_that_asks_has_a_prompt'), models.CheckConstraint(condition=models.Q(models.Q(('scale_maximum__isnull', True), ('scale_minimum__isnull', True), ('scale_modifiers', False), ('scale_thirds', False)), ('scale_minimum__lt', models.F('scale_maximum')), _connector='OR'), name='an_own_scale_has_two_ends')],
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
                ('audit_least', models.PositiveIntegerField(default=20, help_text='Audited units of each system on a dimension at least, or all that stay; 0: by share only.')),
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
                ('why', models.CharField(choices=[('threshold', 'R is not above r'), ('undefined', 'R is undefined'), ('no_value', 'the judge has no value'), ('unsure', 'the judge is not sure enough'), ('abstained', 'the dimension has no certificate'), ('fitted', 'it fits the model of errors'), ('audit', 'drawn to audit the judge')], max_length=9)),
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
                ('reason', models.TextField(blank=True, help_text='Why it stopped, or paused by itself, in sentences.')),
                ('waits_for', models.ForeignKey(help_text='The endpoint without whose answer it stopped.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='judges.endpoint')),
                ('resumes_until', models.DateTimeField(help_text='Until when it resumes by itself once that endpoint answers.', null=True)),
                ('told_at', models.DateTimeField(help_text='When it was mailed that it stopped.', null=True)),
                ('accepts_unreadable', models.BooleanField(default=False, help_text='Whether someone lets it go on however many replies are unreadable.')),
                ('keeps_messages', models.BooleanField(default=False, help_text='Whether its judgments keep the messages that were sent, not only their hash.')),
                ('reuses_answers', models.BooleanField(default=False, help_text='Whether identical calls are answered from what the project has stored.')),
                ('looked_up_to', models.BigIntegerField(help_text='The last judgment for which a stored answer was looked up; empty: none has to be.', null=True)),
                ('budget', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                ('spent', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('reused', models.PositiveIntegerField(default=0, help_text='Judgments that took over a stored answer.')),
                ('reused_cost', models.DecimalField(decimal_places=8, default=0, help_text='What the calls behind these answers had cost.', max_digits=14)),
                ('reused_cost_unknown', models.PositiveIntegerField(default=0, help_text='How many of these answers had a cost that is unknown.')),
                ('cached_tokens', models.BigIntegerField(help_text='Input tokens that servers had cached; empty: none said how many.', null=True)),
                ('cached_tokens_unpriced', models.BigIntegerField(default=0, help_text='Those of endpoints without a price for them.')),
                ('cache_savings', models.DecimalField(decimal_places=8, default=0, help_text='What the other ones cost less for it.', max_digits=14)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('replies_removed_at', models.DateTimeField(help_text='When what the models wrote was removed, kept for some time only.', null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'stopped'), _negated=True), ('reason__gt', ''), _connector='OR'), name='stopped_runs_say_why'), models.CheckConstraint(condition=models.Q(('status', 'stopped'), models.Q(('resumes_until__isnull', True), ('waits_for__isnull', True)), _connector='OR'), name='only_stopped_runs_wait_for_an_answer'), models.CheckConstraint(condition=models.Q(('budget__isnull', True), ('budget__gt', 0), _connector='OR'), name='budgets_allow_something')],
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
                ('failing_since', models.DateTimeField(help_text='The first of these calls.', null=True)),
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
                ('status', models.CharField(choices=[('planned', 'planned'), ('leased', 'in flight'), ('done', 'done'), ('unreadable', 'unreadable'), ('failed', 'failed'), ('excluded', 'excluded')], default='planned', max_length=10)),
                ('lease', models.UUIDField(null=True)),
                ('leased_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('value', models.FloatField(null=True)),
                ('rationale', models.TextField(blank=True)),
                ('reply', models.TextField(blank=True)),
                ('reason', models.TextField(blank=True, help_text='Why there is no value, in a sentence.')),
                ('problem', models.CharField(blank=True, choices=[('refused', 'refused by the model'), ('filtered', 'held back by a content filter'), ('truncated', 'cut off'), ('too_long', 'too long for the model')], help_text='What kind of reason that is, if known.', max_length=9)),
                ('parameters', models.JSONField(default=dict, help_text='The request as sent, without its messages.')),
                ('messages_hash', models.CharField(blank=True, help_text='SHA-256 of the messages, see judges.runs.asking.', max_length=64)),
                ('messages', models.JSONField(help_text='As sent, where the run keeps them.', null=True)),
                ('steps', models.JSONField(default=list, help_text="Where its method takes several calls: those that are answered but the last, each with name, reply, tokens, calls and the messages' hash.")),
                ('steps_done', models.PositiveSmallIntegerField(default=0, help_text='How many these are.')),
                ('asked_dimensions', models.JSONField(default=list, help_text='Ids of all dimensions of its call, in the order of the prompt; empty: its own alone.')),
                ('finish_reason', models.CharField(blank=True, help_text="In the server's words.", max_length=40)),
                ('refusal', models.TextField(blank=True, help_text="The model's words, where it says that it refuses.")),
                ('returned_model', models.CharField(blank=True, help_text='As the server names it.', max_length=200)),
                ('system_fingerprint', models.CharField(blank=True, max_length=200)),
                ('input_tokens', models.PositiveIntegerField(null=True)),
                ('output_tokens', models.PositiveIntegerField(null=True)),
                ('cached_tokens', models.PositiveIntegerField(help_text='Of the input tokens.', null=True)),
                ('reasoning_tokens', models.PositiveIntegerField(help_text='Of the output tokens.', null=True)),
                ('cost', models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ('seconds', models.FloatField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('is_corrected', models.BooleanField(default=False, help_text='Whether a person set or excluded what came of this answer.')),
                ('reused_from', models.ForeignKey(help_text='The judgment whose stored answer it took over; no call was made for it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='judges.judgment')),
            ],
            options={
                'indexes': [models.Index(models.F('run'), models.F('id'), condition=models.Q(('status', 'planned')), name='judgments_planned'), models.Index(models.F('run'), models.F('leased_until'), condition=models.Q(('status', 'leased')), name='judgments_leased'), models.Index(models.F('judge'), condition=models.Q(('status', 'leased')), name='judgments_in_flight'), models.Index(models.F('run'), models.F('answered_at'), name='judgments_answered'), models.Index(models.F('run'), models.F('judge'), models.F('status'), name='judgments_counted'), models.Index(models.F('judge'), models.F('status'), include=('value', 'item', 'dimension', 'answered_at', 'is_corrected', 'id', 'input_tokens', 'output_tokens'), name='judgments_of_judges'), models.Index(models.F('run'), condition=models.Q(('answered_at__isnull', False), ('cost__isnull', True)), name='judgments_of_unknown_cost'), models.Index(models.F('run'), models.F('status'), models.F('id'), condition=models.Q(('status__in', ['unreadable', 'failed'])), name='judgments_without_value'), models.Index(models.F('messages_hash'), condition=models.Q(('reused_from__isnull', True), ('status', 'done')), name='judgments_reusable')],
                'constraints': [models.UniqueConstraint(models.F('judge'), models.F('dimension'), models.F('item'), models.F('sample'), condition=models.Q(('other__isnull', True)), name='one_judgment_per_unit_and_sample'), models.UniqueConstraint(models.F('judge'), models.F('dimension'), models.F('item'), models.F('other'), models.F('sample'), condition=models.Q(('other__isnull', False)), name='one_judgment_per_pair_and_sample'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'done'), ('value__isnull', False)), models.Q(models.Q(('status', 'done'), _negated=True), ('value__isnull', True)), _connector='OR'), name='done_judgments_have_a_value'), models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['unreadable', 'failed', 'excluded']), _negated=True), ('reason__gt', ''), _connector='OR'), name='judgments_without_value_say_why'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'done'), _negated=True), ('problem', ''), _connector='OR'), name='values_have_no_problem'), models.CheckConstraint(condition=models.Q(models.Q(('lease__isnull', False), ('leased_until__isnull', False), ('status', 'leased')), models.Q(models.Q(('status', 'leased'), _negated=True), ('lease__isnull', True), ('leased_until__isnull', True)), _connector='OR'), name='leases_end')],
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
        migrations.CreateModel(
            name='JudgmentChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(choices=[('set', 'value set'), ('excluded', 'excluded'), ('included', 'included again'), ('read_again', 'read again'), ('asked_again', 'asked again'), ('given_back', 'the earlier answer is restored')], max_length=11)),
                ('status_before', models.CharField(choices=[('planned', 'planned'), ('leased', 'in flight'), ('done', 'done'), ('unreadable', 'unreadable'), ('failed', 'failed'), ('excluded', 'excluded')], max_length=10)),
                ('value_before', models.FloatField(null=True)),
                ('reason_before', models.TextField(blank=True)),
                ('problem_before', models.CharField(blank=True, choices=[('refused', 'refused by the model'), ('filtered', 'held back by a content filter'), ('truncated', 'cut off'), ('too_long', 'too long for the model')], max_length=9)),
                ('status_after', models.CharField(choices=[('planned', 'planned'), ('leased', 'in flight'), ('done', 'done'), ('unreadable', 'unreadable'), ('failed', 'failed'), ('excluded', 'excluded')], max_length=10)),
                ('value_after', models.FloatField(null=True)),
                ('answer_before', models.JSONField(default=dict, help_text='The reply and all that was kept of its call, where it was asked again.')),
                ('note', models.TextField(blank=True, help_text='Why, in a sentence; empty where the rules read it.')),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('judgment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='judges.judgment')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['read_again', 'asked_again', 'given_back']), ('note__gt', ''), _connector='OR'), name='corrections_say_why')],
            },
        ),
        migrations.CreateModel(
            name='Rereading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('reading', 'reading replies'), ('previewed', 'read; nothing is changed yet'), ('confirmed', 'waiting for a worker to change them'), ('applying', 'changing judgments'), ('applied', 'changed')], default='waiting', max_length=9)),
                ('lease', models.UUIDField(help_text='Of its worker: no other may write to the row.', null=True)),
                ('heartbeat_at', models.DateTimeField(help_text='When its worker last reported progress.')),
                ('would_change', models.PositiveIntegerField(null=True)),
                ('first_changes', models.JSONField(default=list, help_text='The first hundred, for the page.')),
                ('changed', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('confirmed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('judge', models.ForeignKey(help_text='Empty: all judges.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.judge')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rereadings', to='annotate.project')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['waiting', 'reading']), ('would_change__isnull', False), _connector='OR'), name='a_preview_comes_before_the_change')],
            },
        ),
        migrations.CreateModel(
            name='DocumentUnits',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('units', models.JSONField(help_text='A list of objects of text and weight, which is above 0.')),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='content_units', to='annotate.document')),
            ],
        ),
        migrations.CreateModel(
            name='ModelPace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='paces', to='judges.endpoint')),
                ('model', models.CharField(max_length=120)),
                ('slowed_at', models.DateTimeField()),
                ('resumes_at', models.DateTimeField()),
                ('rate', models.FloatField(help_text='Calls a second that it answered before; empty: none.', null=True)),
                ('climb_seconds', models.FloatField(help_text='In which calls come back to that rate.')),
            ],
            options={
                'indexes': [],
                'constraints': [models.UniqueConstraint(models.F('endpoint'), models.F('model'), name='one_pace_of_a_model')],
            },
        ),
        migrations.CreateModel(
            name='Metric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('source', models.TextField(help_text='The file it was imported from, or how it was computed here.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metrics', to='annotate.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='metric_name_once_in_project')],
            },
        ),
        migrations.CreateModel(
            name='MetricValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.FloatField()),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.item')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='values', to='judges.metric')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('metric'), models.F('item'), name='one_value_of_a_metric_for_an_item')],
            },
        ),
        migrations.CreateModel(
            name='Panel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(choices=[('mean', 'mean'), ('median', 'median'), ('majority', 'majority'), ('weights', 'weights learned on a development sample')], max_length=8)),
                ('development_share', models.FloatField(help_text='The share of documents that weights are learned from, and that have no values.', null=True)),
                ('weights', models.JSONField(default=dict, help_text='By key of a dimension: weights in the order of members, intercept, units.')),
                ('based_on', models.CharField(blank=True, help_text='Digest of what it was computed from.', max_length=64)),
                ('computed_at', models.DateTimeField(null=True)),
                ('judge', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='judges.judge')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('development_share__gt', 0), ('development_share__lt', 1), ('rule', 'weights')), models.Q(models.Q(('rule', 'weights'), _negated=True), ('development_share__isnull', True)), _connector='OR'), name='only_weights_have_a_development_sample')],
            },
        ),
        migrations.CreateModel(
            name='PanelMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='panels', to='judges.judge')),
                ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='judges.panel')),
            ],
            options={
                'ordering': ('position',),
                'constraints': [models.UniqueConstraint(models.F('panel'), models.F('judge'), name='judge_once_in_panel')],
            },
        ),
        migrations.CreateModel(
            name='DevelopmentDocument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('drawn_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='development', to='annotate.document')),
            ],
        ),
        migrations.CreateModel(
            name='StepsWriting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('asking', 'a model is asked'), ('finished', 'finished'), ('stopped', 'stopped')], default='waiting', max_length=8)),
                ('reason', models.TextField(blank=True, help_text='Why it stopped, in sentences.')),
                ('spent', models.DecimalField(decimal_places=8, default=0, help_text='Null: unknown.', max_digits=14, null=True)),
                ('lease', models.UUIDField(help_text='The worker that is at it; no other notes what came.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was last heard of.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.judge')),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps_writings', to='judges.prompttemplate')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'stopped'), _negated=True), ('reason__gt', ''), _connector='OR'), name='stopped_steps_writings_say_why')],
            },
        ),
        migrations.CreateModel(
            name='Drafting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('planned', 'planned'), ('waiting', 'waiting for a worker'), ('asking', 'a model is asked'), ('finished', 'finished'), ('stopped', 'stopped')], default='planned', max_length=8)),
                ('reason', models.TextField(blank=True, help_text='Why it stopped, in a sentence.')),
                ('budget', models.DecimalField(decimal_places=4, max_digits=12, null=True)),
                ('spent', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('lease', models.UUIDField(help_text='The worker that is at it; no other writes what came.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was last heard of.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.dimension')),
                ('drafter', models.ForeignKey(help_text='The judge whose model is asked.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='judges.judge')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='draftings', to='judges.judge')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'stopped'), _negated=True), ('reason__gt', ''), _connector='OR'), name='stopped_draftings_say_why'), models.CheckConstraint(condition=models.Q(('budget__isnull', True), ('budget__gt', 0), _connector='OR'), name='budgets_of_draftings_allow_a_call')],
            },
        ),
        migrations.CreateModel(
            name='PromptSearch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('planned', 'planned'), ('running', 'running'), ('stopped', 'stopped'), ('cancelled', 'cancelled'), ('finished', 'finished')], default='planned', max_length=9)),
                ('reason', models.TextField(blank=True, help_text='Why it stopped, or chose nothing, in a sentence.')),
                ('stages', models.JSONField(default=list, help_text='How many candidates each stage asks about how many development documents.')),
                ('stage', models.PositiveSmallIntegerField(default=0, help_text='Under way; after the last: held out.')),
                ('documents', models.JSONField(default=list, help_text='Ids of its development documents as drawn.')),
                ('most_calls', models.PositiveIntegerField(null=True)),
                ('planned_calls', models.PositiveIntegerField(help_text='At the most, as it was planned.')),
                ('planned_cost', models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ('budget', models.DecimalField(decimal_places=4, max_digits=12, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it last went on.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.dimension')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='searches', to='judges.judge')),
                ('run', models.ForeignKey(help_text='Of the stage under way.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='judges.run')),
                ('runs', models.ManyToManyField(related_name='searches', to='judges.run')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'stopped'), _negated=True), ('reason__gt', ''), _connector='OR'), name='stopped_searches_say_why'), models.CheckConstraint(condition=models.Q(('budget__isnull', True), ('budget__gt', 0), _connector='OR'), name='budgets_of_searches_allow_a_call')],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('examples', 'examples'), ('clarification', 'clarification'), ('wording', 'wording')], max_length=13)),
                ('status', models.CharField(choices=[('drafting', 'being drafted'), ('failed', 'not drafted'), ('proposed', 'proposed'), ('accepted', 'accepted'), ('dismissed', 'dismissed'), ('tried', 'tried by a search')], default='proposed', max_length=9)),
                ('text', models.TextField(blank=True, help_text='What is added to the prompt; of a wording the whole prompt.')),
                ('about', models.CharField(blank=True, help_text='What its units have in common.', max_length=200)),
                ('request', models.TextField(blank=True, help_text='What the model is asked that drafts it.')),
                ('is_in_flight', models.BooleanField(default=False, help_text='Whether the model is asked just now.')),
                ('problem', models.TextField(blank=True, help_text='Why it was not drafted, in a sentence.')),
                ('drafted_by', models.CharField(blank=True, help_text='The model; empty: no model did.', max_length=120)),
                ('input_tokens', models.PositiveIntegerField(null=True)),
                ('output_tokens', models.PositiveIntegerField(null=True)),
                ('cost', models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ('dropped_after', models.PositiveSmallIntegerField(help_text='The stage after which its search asked it no more.', null=True)),
                ('is_chosen', models.BooleanField(default=False, help_text='Whether its search chose it.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decided_at', models.DateTimeField(help_text='When it was accepted or dismissed.', null=True)),
                ('candidate', models.ForeignKey(help_text='The judge whose prompt has it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='accepted_proposals', to='judges.judge')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.dimension')),
                ('drafting', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='proposals', to='judges.drafting')),
                ('guideline', models.ForeignKey(help_text='The version in which raters read it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotate.guideline')),
                ('items', models.ManyToManyField(help_text='The units it comes from.', related_name='+', to='annotate.item')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='judges.judge')),
                ('parts', models.ManyToManyField(help_text='The proposals that it combines.', to='judges.proposal')),
                ('search', models.ForeignKey(help_text='That tries it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='candidates', to='judges.promptsearch')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('status', 'accepted'), models.Q(('guideline__isnull', True), ('status', 'tried')), models.Q(('candidate__isnull', True), ('guideline__isnull', True)), _connector='OR'), name='only_what_is_accepted_or_tried_is_used'), models.CheckConstraint(condition=models.Q(('status__in', ['drafting', 'failed']), ('text__gt', ''), _connector='OR'), name='proposals_have_a_text'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), _negated=True), ('problem__gt', ''), _connector='OR'), name='failed_drafts_say_why')],
            },
        ),
        migrations.RunPython(guard, migrations.RunPython.noop),
    ]
