"""Projects, rounds, ratings, disputes, and everything else about people.

Histories are append-only: the database itself refuses to change their rows, and to delete them but where the deleting
transaction has written a row of ProjectDeletion. Entries of the audit log go by retention, too, up to the last AuditRetention.
"""

import annotate.core.models.fields
import annotate.core.models.images
import annotate.core.models.imports
import annotate.core.models.people
import annotate.core.models.projects
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotate.core.migrating import TablesTogether


HISTORIES = (
    "annotate_auditentry",
    "annotate_auditseal",
    "annotate_ratingchange",
    "annotate_revisedvaluechange",
    "annotate_lookback",
    "annotate_disputeevent",
    "annotate_post",
    "annotate_formername",
)
REFUSED = "A history is never rewritten."
DELETING = "EXISTS (SELECT 1 FROM annotate_projectdeletion)"
RETAINED = "OLD.id <= (SELECT COALESCE(MAX(up_to), 0) FROM annotate_auditretention)"

SQLITE = (
    f"CREATE TRIGGER {{table}}_append_only BEFORE UPDATE ON {{table}} BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
    f"CREATE TRIGGER {{table}}_never_deleted BEFORE DELETE ON {{table}} WHEN NOT ({{deleting}})"
    f" BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
)
GONE_WITH_PROJECT = {"deleting": DELETING, "function": "annotate_refuse_deleting"}
GONE_BY_RETENTION = {
    "annotate_auditentry": {"deleting": f"{DELETING} OR {RETAINED}", "function": "annotate_refuse_deleting_acts"}
}
RAISE = f"RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'integrity_constraint_violation';"
# Without a row in the way, a trigger before a deletion has to return the old row to let it go.
POSTGRESQL_FUNCTIONS = (
    f"CREATE OR REPLACE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {RAISE} END $$",
    "CREATE OR REPLACE FUNCTION annotate_refuse_deleting() RETURNS trigger LANGUAGE plpgsql AS"
    f" $$ BEGIN IF {DELETING} THEN RETURN OLD; END IF; {RAISE} END $$",
    "CREATE OR REPLACE FUNCTION annotate_refuse_deleting_acts() RETURNS trigger LANGUAGE plpgsql AS"
    f" $$ BEGIN IF {DELETING} OR {RETAINED} THEN RETURN OLD; END IF; {RAISE} END $$",
)
POSTGRESQL = (
    "CREATE TRIGGER {table}_append_only BEFORE UPDATE ON {table}"
    " FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting()",
    "CREATE TRIGGER {table}_never_deleted BEFORE DELETE ON {table}"
    " FOR EACH ROW EXECUTE FUNCTION {function}()",
    # Asks no trigger of rows.
    "CREATE TRIGGER {table}_never_emptied BEFORE TRUNCATE ON {table}"
    " FOR EACH STATEMENT EXECUTE FUNCTION annotate_refuse_rewriting()",
)


# What figures rest on counts its changes, see annotate.core.models.ChangeCount: by table, where its round is found.
OF_RATING = "(SELECT place.round_id FROM annotate_assignment place WHERE place.id = {row}.assignment_id)"
OF_REVISED = (
    "(SELECT place.round_id FROM annotate_rating rating JOIN annotate_assignment place"
    " ON place.id = rating.assignment_id WHERE rating.id = {row}.rating_id)"
)
COUNTED = {
    "annotate_rating": ("ratings", OF_RATING),
    "annotate_revisedvalue": ("revised", OF_REVISED),
    "annotate_dispute": ("disputes", "{row}.round_id"),
}
# Posts and answers are no change of a dispute: no figure reads when it was active.
DECIDED = (
    " WHEN (OLD.status <> NEW.status OR OLD.updated_at <> NEW.updated_at"
    " OR COALESCE(OLD.adjudicated_value, 0) <> COALESCE(NEW.adjudicated_value, 0))"
)
ACTS = (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
COUNT = "INSERT INTO annotate_changecount (round_id, source, number) SELECT round, '{source}', COUNT(*)"
# While a project is deleted nothing is counted: its counts went first. Subqueries, not joins: a plan that was made
# for 100,000 rows and is kept must not read whole tables for the next single one.
SOME = f" WHERE round IS NOT NULL AND NOT {DELETING} GROUP BY round"
COUNT_ON_POSTGRESQL = (
    "CREATE FUNCTION {table}_count_changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    f" {COUNT} FROM (SELECT {{round}} AS round FROM changed) rows{SOME}; RETURN NULL; END $$",
    "CREATE FUNCTION {table}_count_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    f" {COUNT} FROM (SELECT {{own_round}} AS round) rows{SOME}; RETURN NULL; END $$",
)
COUNTING_ON_POSTGRESQL = (
    "CREATE TRIGGER {table}_counted_{act} AFTER {act} ON {table} REFERENCING {row} TABLE AS changed"
    " FOR EACH STATEMENT EXECUTE FUNCTION {table}_count_changes()"
)
DECISIONS_ON_POSTGRESQL = (
    "CREATE TRIGGER {table}_counted_{act} AFTER {act} ON {table}"
    " FOR EACH ROW{when} EXECUTE FUNCTION {table}_count_change()"
)
COUNTING_ON_SQLITE = (
    "CREATE TRIGGER {table}_counted_{act} AFTER {act} ON {table}{when}"
    f" BEGIN {COUNT} FROM (SELECT {{round}} AS round) rows{SOME}; END"
)


def count_changes(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table, (source, round) in COUNTED.items():
        named = {"table": table, "source": source}
        rounds = {"round": round.format(row="changed"), "own_round": round.format(row="NEW")}
        for function in COUNT_ON_POSTGRESQL if postgresql else ():
            schema_editor.execute(function.format(**named, **rounds))
        for act, row in ACTS:
            when = DECIDED if (table, act) == ("annotate_dispute", "UPDATE") else ""
            trigger = COUNTING_ON_SQLITE
            if postgresql:
                trigger = DECISIONS_ON_POSTGRESQL if when else COUNTING_ON_POSTGRESQL
            schema_editor.execute(trigger.format(**named, act=act, row=row, when=when, round=round.format(row=row)))


def guard(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == "postgresql"
    for function in POSTGRESQL_FUNCTIONS if postgresql else ():
        schema_editor.execute(function)
    for table in HISTORIES:
        for trigger in POSTGRESQL if postgresql else SQLITE:
            schema_editor.execute(trigger.format(table=table, **GONE_BY_RETENTION.get(table, GONE_WITH_PROJECT)))


class Migration(TablesTogether):

    initial = True

    # Accounts' own tables come first: each of their changes renders all models that lead to a user anew.
    dependencies = [
        ('account', '0009_emailaddress_unique_primary_email'),
        ('annotate', '0001_user'),
        ('mfa', '0003_authenticator_type_uniq'),
        ('socialaccount', '0006_alter_socialaccount_extra_data'),
        ('usersessions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(help_text='What it is for.', max_length=80)),
                ('digest', models.CharField(help_text='token_digest of the token.', max_length=64, unique=True)),
                ('beginning', models.CharField(help_text='Its first letters, by which a person knows it.', max_length=16)),
                ('may_read', models.BooleanField(default=False)),
                ('may_write', models.BooleanField(default=False)),
                ('may_rate', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(help_text='When it was last used, to within an hour.', null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('may_read', True), ('may_write', True), ('may_rate', True), _connector='OR'), name='tokens_allow_something'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='tokens_last')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='AuditRetention',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('before', models.DateTimeField(help_text='Older entries were removed.')),
                ('up_to', models.BigIntegerField(help_text='The last entry that may be gone.')),
            ],
        ),
        migrations.CreateModel(
            name='DisputeDigest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='digests', to=settings.AUTH_USER_MODEL)),
                ('day', models.DateField()),
                ('at', models.DateTimeField(help_text='Until when what happened stands in it.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('user'), models.F('day'), name='one_digest_on_a_day')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='FormerName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='former_names', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField(help_text='Until when.')),
                ('name', models.CharField(blank=True, max_length=150)),
                ('email', models.EmailField(max_length=254)),
            ],
            options={
                'indexes': [models.Index(models.F('user'), models.F('at'), name='names_of_a_person')],
            },
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='kept_answers', to='annotate.apitoken')),
                ('key', models.CharField(max_length=200)),
                ('request', models.CharField(help_text='SHA-256 of method, address and body.', max_length=64)),
                ('status', models.PositiveSmallIntegerField(default=0)),
                ('content', models.TextField(blank=True, help_text='JSON.')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(models.F('at'), name='kept_answers_by_time')],
                'constraints': [models.UniqueConstraint(models.F('token'), models.F('key'), name='idempotency_key_once_per_token')],
            },
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
                ('theme', models.CharField(choices=[('system', 'As my device'), ('light', 'Light'), ('dark', 'Dark'), ('contrast', 'High contrast')], default='system', max_length=12, verbose_name='Colours')),
                ('text_size', models.CharField(choices=[('small', 'Small'), ('normal', 'Normal'), ('large', 'Large'), ('largest', 'Very large')], default='normal', max_length=12, verbose_name='Text size')),
                ('line_length', models.CharField(choices=[('full', 'As wide as there is room'), ('medium', 'Medium, about 75 letters'), ('short', 'Short, about 55 letters')], default='full', max_length=12, verbose_name='Length of lines')),
                ('font', models.CharField(choices=[('sans', 'Sans serif'), ('serif', 'Serif')], default='sans', max_length=12, verbose_name='Typeface of texts')),
                ('motion', models.CharField(choices=[('system', 'As my device'), ('reduced', 'Nothing moves')], default='system', max_length=12, verbose_name='Movement')),
                ('language', models.CharField(blank=True, choices=[('', 'As my browser'), ('en', 'English'), ('de', 'Deutsch')], default='', max_length=12, verbose_name='Language')),
                ('key_set', models.CharField(choices=[('usual', 'Usual: letters that stand for words'), ('left', 'Left hand: the right one stays on the mouse'), ('right', 'Right hand: the left one stays on the mouse, values are typed on the number pad')], default='usual', max_length=12, verbose_name='Keys')),
                ('own_keys', models.JSONField(default=dict, help_text="Keys other than the set's, by what they do.")),
                ('goes_on', models.BooleanField(default=False, help_text='To the next item, when everything is rated.', verbose_name='Go on by itself')),
                ('digest_address', models.CharField(blank=True, help_text='Where Concord was reached when the daily mail about disputes was asked for, or empty.', max_length=200)),
                ('notices', models.JSONField(default=list, help_text='Of what else mails are wanted.')),
                ('notice_address', models.CharField(blank=True, help_text='Where Concord was reached when these were chosen.', max_length=200)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('theme__in', ['system', 'light', 'dark', 'contrast'])), name='known_theme'), models.CheckConstraint(condition=models.Q(('text_size__in', ['small', 'normal', 'large', 'largest'])), name='known_text_size'), models.CheckConstraint(condition=models.Q(('line_length__in', ['full', 'medium', 'short'])), name='known_line_length'), models.CheckConstraint(condition=models.Q(('font__in', ['sans', 'serif'])), name='known_font'), models.CheckConstraint(condition=models.Q(('motion__in', ['system', 'reduced'])), name='known_motion'), models.CheckConstraint(condition=models.Q(('language__in', ['', 'en', 'de'])), name='known_language'), models.CheckConstraint(condition=models.Q(('key_set__in', ['usual', 'left', 'right'])), name='known_key_set')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=150)),
                ('description', models.TextField(blank=True)),
                ('guidelines', models.TextField(blank=True, help_text='Markdown, for all dimensions together.')),
                ('raters_per_item', models.PositiveSmallIntegerField(default=3)),
                ('dispute_threshold', models.PositiveSmallIntegerField(default=2)),
                ('tolerance', models.PositiveSmallIntegerField(default=1)),
                ('datasheet', models.JSONField(blank=True, default=dict, help_text='What the authors of the data set say of it: a Datasheet of annotate.exports.citation.')),
                ('keep_reasons', models.JSONField(blank=True, default=annotate.core.models.projects.usual_keep_reasons, help_text='Short reasons with which a rater may keep a value in Round II.')),
                ('practice_bar', models.PositiveSmallIntegerField(blank=True, help_text='Percent of practice to get right before Round I; empty: no practice.', null=True)),
                ('reservation_minutes', models.PositiveIntegerField(default=120)),
                ('seed', models.BigIntegerField(default=annotate.core.models.projects.new_seed)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('raters_per_item__gte', 1)), name='at_least_one_rater_per_item'), models.CheckConstraint(condition=models.Q(('tolerance__lt', models.F('dispute_threshold'))), name='tolerance_below_dispute_threshold'), models.CheckConstraint(condition=models.Q(('reservation_minutes__gte', 1)), name='reservations_last')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='AssignmentPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='assignment_plan', to='annotate.project')),
                ('kind', models.CharField(choices=[('queue', 'Shared queue'), ('everyone', 'Everyone rates everything'), ('balanced', 'N of M, dealt out evenly'), ('sharing', 'Every pair shares a set share of items'), ('listed', 'Fixed lists from a file')], default='queue', max_length=8)),
                ('share', models.PositiveSmallIntegerField(default=10, help_text='Percent of the items that every pair of annotators shares.')),
                ('dealt_by', models.CharField(choices=[('documents', 'whole documents'), ('items', 'single items')], default='documents', help_text='Whether all items of a document have the same raters.', max_length=9)),
                ('work_order', models.CharField(choices=[('by_document', 'by document: all items of a document in succession'), ('mixed', 'fully mixed')], default='by_document', max_length=11)),
                ('dimension_order', models.CharField(choices=[('fixed', 'as they are listed'), ('drawn', 'drawn once for each annotator')], default='fixed', max_length=5)),
                ('revises_documents', models.BooleanField(default=False, help_text='Whether raters may revise their values at the end of a document.')),
                ('pairs', models.JSONField(default=list, help_text='The listed pairs of keys: item, membership.')),
                ('gold_every', models.PositiveSmallIntegerField(default=10, help_text='A hidden gold item comes after so many items; 0: none.')),
                ('repeat_every', models.PositiveSmallIntegerField(default=0, help_text='An item comes a second time after so many items; 0: none.')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('share__lte', 100)), name='share_is_a_percentage'), models.CheckConstraint(condition=models.Q(('revises_documents', False), ('work_order', 'by_document'), _connector='OR'), name='planned_documents_end_only_by_document')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='audit_entries', to='annotate.project')),
                ('at', models.DateTimeField()),
                ('actor', models.ForeignKey(help_text='Empty: the command line.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('actor_name', models.CharField(blank=True, help_text='What the actor was called then.', max_length=150)),
                ('actor_email', models.EmailField(blank=True, help_text="The actor's address then.", max_length=254)),
                ('act', models.CharField(help_text='What it was done to and what was done: round.opened.', max_length=60)),
                ('subject', models.CharField(help_text='The name of what it was done to.', max_length=300)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('note', models.TextField(blank=True)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'indexes': [models.Index(models.F('project'), models.F('at'), name='audit_of_a_project')],
                'constraints': [models.CheckConstraint(condition=models.Q(('project__isnull', False), ('act', 'project.deleted'), _connector='OR'), name='acts_are_in_a_project'), models.CheckConstraint(condition=models.Q(models.Q(('actor__isnull', True), ('actor_email', ''), ('actor_name', '')), models.Q(('actor__isnull', False), ('actor_email__gt', '')), _connector='OR'), name='actors_are_named_as_they_were')],
            },
        ),
        migrations.CreateModel(
            name='ComputedResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='computed_results', to='annotate.project')),
                ('name', models.CharField(help_text='Which page, with what was asked of it.', max_length=200)),
                ('version', models.CharField(blank=True, help_text='Of the data; empty: nothing yet.', max_length=64)),
                ('content', models.TextField(blank=True)),
                ('computed_at', models.DateTimeField(null=True)),
                ('seconds', models.FloatField(default=0, help_text='How long it took.')),
                ('asked_at', models.DateTimeField(help_text='When a task was enqueued; empty: none is to come.', null=True)),
                ('heartbeat_at', models.DateTimeField(help_text='Of the worker that computes it.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('problem', models.TextField(blank=True, help_text='Why the last attempt failed.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='one_computed_result_of_a_name')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='DataImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='annotate.project')),
                ('kind', models.CharField(default='material', help_text='A key of annotate.material.import_kinds.KINDS.', max_length=20)),
                ('file', models.FileField(blank=True, upload_to=annotate.core.models.imports.stored_name)),
                ('name', models.CharField(help_text='What the file was called.', max_length=255)),
                ('size', models.BigIntegerField()),
                ('part', models.CharField(blank=True, help_text='The config/split of a data set, or the sheets of workbooks; empty: the first.', max_length=2000)),
                ('only_good', models.BooleanField(default=False, help_text='Whether refused lines are left out.')),
                ('what', models.CharField(blank=True, choices=[('items', 'Documents and items'), ('ratings', 'Recorded ratings'), ('both', 'Items and ratings'), ('answers', 'Recorded ratings of Round II')], max_length=7)),
                ('mapping', models.JSONField(help_text='See annotate.material.reading.mapping_json.', null=True)),
                ('status', models.CharField(choices=[('uploaded', 'uploaded'), ('waiting', 'waiting for a worker'), ('checking', 'being checked'), ('writing', 'being written'), ('imported', 'imported'), ('refused', 'refused'), ('stopped', 'stopped'), ('undone', 'undone')], default='uploaded', max_length=8)),
                ('progress', models.FloatField(default=0, help_text='The share of the file that has been checked.')),
                ('lines', models.PositiveIntegerField(default=0, help_text='How many lines were checked.')),
                ('report', models.JSONField(help_text='See annotate.material.reading.report.', null=True)),
                ('message', models.TextField(blank=True, help_text='Why it stopped.')),
                ('lease', models.UUIDField(help_text='The worker that is at it; no other writes what comes of it.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('touched_at', models.DateTimeField(help_text='When status, progress or heartbeat changed last.')),
                ('undone_at', models.DateTimeField(null=True)),
                ('undone_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('status', 'uploaded'), ('mapping__isnull', False), _connector='OR'), name='started_imports_have_a_mapping')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Dimension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dimensions', to='annotate.project')),
                ('key', models.SlugField(max_length=60)),
                ('name', models.CharField(max_length=80)),
                ('position', models.PositiveIntegerField()),
                ('definition', models.TextField(blank=True)),
                ('guidelines', models.TextField(blank=True, help_text='Markdown.')),
                ('scale_minimum', models.IntegerField(default=1)),
                ('scale_maximum', models.IntegerField(default=5)),
                ('scale_step', annotate.core.models.fields.PointsField(default=1, help_text='How far apart neighbouring values of the scale lie.')),
                ('measurement_level', models.CharField(choices=[('nominal', 'nominal: equal or different'), ('ordinal', 'ordinal: ranked'), ('interval', 'interval: equal steps'), ('ratio', 'ratio: equal steps from a true zero')], default='interval', max_length=8)),
                ('dispute_threshold', annotate.core.models.fields.PointsField(blank=True, help_text="Of this dimension; empty: the project's.", null=True)),
                ('tolerance', annotate.core.models.fields.PointsField(blank=True, help_text="Of this dimension; empty: the project's.", null=True)),
                ('not_applicable', models.BooleanField(default=False, help_text='Whether raters may say that the dimension does not apply to an item.')),
            ],
            options={
                'ordering': ['position', 'pk'],
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('key'), name='dimension_key_once_in_project'), models.CheckConstraint(condition=models.Q(('scale_minimum__lt', models.F('scale_maximum'))), name='scale_has_two_points'), models.CheckConstraint(condition=models.Q(('dispute_threshold__isnull', True), ('dispute_threshold__gt', 0), _connector='OR'), name='equal_values_never_dispute'), models.CheckConstraint(condition=models.Q(('dispute_threshold__isnull', True), ('tolerance__isnull', True), ('tolerance__lt', models.F('dispute_threshold')), _connector='OR'), name='own_tolerance_below_own_threshold'), models.CheckConstraint(condition=models.Q(('tolerance__isnull', True), ('tolerance__gte', 0), _connector='OR'), name='own_tolerance_not_negative'), models.CheckConstraint(condition=models.Q(('scale_step__gt', 0)), name='scale_rises_by_steps'), models.CheckConstraint(condition=models.Q(models.Q(('measurement_level', 'nominal'), _negated=True), ('scale_step', 1), _connector='OR'), name='categories_are_whole_numbers'), models.CheckConstraint(condition=models.Q(models.Q(('measurement_level', 'ratio'), _negated=True), ('scale_minimum__gte', 0), _connector='OR'), name='ratio_scale_starts_at_zero_or_above')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='annotate.project')),
                ('key', models.CharField(max_length=200)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('parts', models.JSONField(help_text='A list of {label, text}.')),
                ('digest', models.CharField(help_text='text_digest of the parts.', max_length=64)),
                ('brought_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='annotate.dataimport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('key'), name='document_key_once_in_project')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='annotate.project')),
                ('format', models.CharField(help_text='A value of annotate.exports.choice.Format.', max_length=12)),
                ('left_out', models.JSONField(default=list, help_text='Values of annotate.exports.registry.Part.')),
                ('licence', models.CharField(blank=True, max_length=100)),
                ('card', models.JSONField(default=dict, help_text='A Card of annotate.exports.citation; empty without one.')),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('writing', 'being written'), ('ready', 'ready'), ('stopped', 'stopped')], default='waiting', max_length=7)),
                ('message', models.TextField(blank=True, help_text='Why it stopped.')),
                ('lease', models.UUIDField(help_text='The worker that is at it; no other says what came of it.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('file', models.FileField(blank=True, upload_to='')),
                ('size', models.BigIntegerField(default=0)),
                ('content_hash', models.CharField(blank=True, max_length=64)),
                ('concord_version', models.CharField(blank=True, max_length=20)),
                ('state_at', models.DateTimeField(help_text='The latest time in the data.', null=True)),
                ('tables', models.JSONField(default=dict, help_text='How many rows each table has.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('touched_at', models.DateTimeField(help_text='When status or heartbeat changed last.')),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'ready'), _negated=True), models.Q(('content_hash__gt', ''), ('file__gt', '')), _connector='OR'), name='ready_exports_have_a_file')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guideline_versions', to='annotate.project')),
                ('version', models.PositiveIntegerField()),
                ('content', models.JSONField(help_text='See annotate.core.guideline.FrozenGuideline.')),
                ('digest', models.CharField(max_length=64)),
                ('frozen_at', models.DateTimeField(auto_now_add=True)),
                ('note', models.TextField(blank=True, help_text='What changed and why, if it changes another.')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('version'), name='guideline_version_once_in_project'), models.UniqueConstraint(models.F('project'), models.F('digest'), name='guideline_content_once_in_project')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='GuidelineImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='annotate.project')),
                ('key', models.CharField(help_text='From its content, with the ending of its format.', max_length=24)),
                ('name', models.CharField(help_text='Of the file that was uploaded.', max_length=150)),
                ('file', models.FileField(max_length=150, upload_to=annotate.core.models.images.stored_name)),
                ('added_at', models.DateTimeField(auto_now_add=True)),
                ('added_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['added_at', 'pk'],
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('key'), name='image_once_in_project')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotate.project')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('admin', 'admin'), ('annotator', 'annotator'), ('researcher', 'researcher'), ('adjudicator', 'adjudicator')], max_length=12)),
                ('label', models.CharField(help_text='The name that admins see.', max_length=150)),
                ('alias', models.CharField(blank=True, help_text='The letter that other raters see.', max_length=8)),
                ('pseudonym', models.CharField(default=annotate.core.models.people.new_pseudonym, help_text='What exports call this person in this project.', max_length=20)),
                ('active', models.BooleanField(default=True)),
                ('counted', models.BooleanField(default=True, help_text='Whether its ratings count in the statistics.')),
                ('practice_attempt', models.PositiveSmallIntegerField(default=1)),
                ('practised_at', models.DateTimeField(blank=True, help_text='When practice was passed.', null=True)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('user'), models.F('role'), condition=models.Q(('user__isnull', False)), name='one_place_per_role'), models.UniqueConstraint(models.F('project'), models.F('pseudonym'), name='pseudonym_once_in_project'), models.UniqueConstraint(models.F('project'), models.F('alias'), condition=models.Q(('alias', ''), _negated=True), name='alias_once_in_project'), models.UniqueConstraint(models.F('project'), models.F('label'), condition=models.Q(('role', 'annotator')), name='annotator_label_once_in_project'), models.CheckConstraint(condition=models.Q(models.Q(('alias__gt', ''), ('role', 'annotator')), models.Q(models.Q(('role', 'annotator'), _negated=True), ('alias', '')), _connector='OR'), name='annotators_have_an_alias'), models.CheckConstraint(condition=models.Q(('user__isnull', False), ('role', 'annotator'), _connector='OR'), name='only_annotator_places_may_be_empty')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='CountingDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='counting_decisions', to='annotate.membership')),
                ('counted', models.BooleanField()),
                ('note', models.TextField()),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['at', 'pk'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotate.project')),
                ('role', models.CharField(choices=[('admin', 'admin'), ('annotator', 'annotator'), ('researcher', 'researcher'), ('adjudicator', 'adjudicator')], max_length=12)),
                ('place', models.ForeignKey(blank=True, help_text='The empty place that it fills, if any.', null=True, on_delete=django.db.models.deletion.CASCADE, to='annotate.membership')),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('note', models.TextField(blank=True, help_text='What the work is, how much, and by when.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(blank=True, help_text='When it was last sent by e-mail.', null=True)),
                ('mail_site', models.CharField(blank=True, help_text='The address of Concord in the mail.', max_length=200)),
                ('mail_asked_at', models.DateTimeField(blank=True, null=True)),
                ('mail_due_at', models.DateTimeField(blank=True, help_text='When a worker mails it; empty: never.', null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('accepted_at__isnull', True), ('withdrawn_at__isnull', True), _connector='OR'), name='invitation_not_both_accepted_and_withdrawn')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Nudge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nudges', to='annotate.membership')),
                ('day', models.DateField()),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('disputes', models.PositiveIntegerField(help_text='How many waited for the rater.')),
                ('link', models.CharField(blank=True, help_text='Where the mail leads.', max_length=500)),
                ('mail_due_at', models.DateTimeField(help_text='When a worker mails it; empty: never.', null=True)),
                ('mailed_at', models.DateTimeField(help_text='When the mail server took the message.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('rater'), models.F('day'), name='one_nudge_on_a_day')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='AuditSeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.BigIntegerField(unique=True)),
                ('project', models.BigIntegerField(null=True)),
                ('content', models.CharField(help_text='SHA-256 of what the entry says.', max_length=64)),
                ('previous', models.CharField(help_text='The digest of the seal before.', max_length=64, unique=True)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ProjectDeletion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='deletion', to='annotate.project')),
            ],
            options={
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='Push',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('export', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pushes', to='annotate.export')),
                ('repository', models.CharField(help_text='Its name on the Hub: who/what.', max_length=200)),
                ('private', models.BooleanField(default=True, help_text='Of a repository that is made for it.')),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('pushing', 'being pushed'), ('pushed', 'pushed'), ('stopped', 'stopped')], default='waiting', max_length=7)),
                ('message', models.TextField(blank=True, help_text='Why it stopped.')),
                ('lease', models.UUIDField(help_text='The worker that is at it; no other says what came of it.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How many workers took it.')),
                ('sent', models.BigIntegerField(default=0, help_text='Bytes of files that are there.')),
                ('size', models.BigIntegerField(default=0, help_text='Bytes of all files.')),
                ('url', models.URLField(blank=True, help_text='Of the commit.', max_length=500)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was last heard of.')),
            ],
            options={
                'verbose_name_plural': 'pushes',
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(models.F('export'), models.F('repository'), name='one_push_of_an_export_to_a_repository'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'pushed'), _negated=True), ('url__gt', ''), _connector='OR'), name='pushes_lead_to_a_commit')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='annotate.project')),
                ('number', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('open', 'open'), ('closed', 'closed')], default='open', max_length=6)),
                ('guideline', models.ForeignKey(help_text='The version in force, or when it closed.', on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='annotate.guideline')),
                ('seed', models.BigIntegerField()),
                ('every_item', models.BooleanField(default=True, help_text='Whether every item gets places, or only the units that are routed.')),
                ('work_order', models.CharField(choices=[('by_document', 'by document: all items of a document in succession'), ('mixed', 'fully mixed')], default='by_document', help_text='Frozen with the round.', max_length=11)),
                ('dimension_order', models.CharField(choices=[('fixed', 'as they are listed'), ('drawn', 'drawn once for each annotator')], default='fixed', help_text='Frozen with the round.', max_length=5)),
                ('revises_documents', models.BooleanField(default=False, help_text='Whether raters may revise their values at the end of a document, where they see all of them side by side. Frozen with the round.')),
                ('deadline', models.DateField(blank=True, help_text='The day by which raters are asked to be done; nothing ends by itself.', null=True)),
                ('opened_at', models.DateTimeField()),
                ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('closed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('number'), name='round_number_once_in_project'), models.UniqueConstraint(models.F('project'), condition=models.Q(('number__lt', 3), ('status', 'open')), name='one_open_round_per_project'), models.CheckConstraint(condition=models.Q(('number__in', [1, 2, 3])), name='round_one_two_or_checks'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('status', 'open')), models.Q(('closed_at__isnull', False), ('status', 'closed')), _connector='OR'), name='closed_rounds_say_when'), models.CheckConstraint(condition=models.Q(('revises_documents', False), ('work_order', 'by_document'), _connector='OR'), name='documents_end_only_where_work_goes_by_document')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='SavedTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='templates', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=150)),
                ('content', models.TextField(help_text='The file; see annotate.setup.template_file.')),
                ('saved_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-saved_at', '-pk'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='ScalePoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='points', to='annotate.dimension')),
                ('value', models.IntegerField()),
                ('label', models.CharField(blank=True, max_length=80)),
                ('description', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['value'],
                'constraints': [models.UniqueConstraint(models.F('dimension'), models.F('value'), name='scale_point_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='systems', to='annotate.project')),
                ('name', models.CharField(max_length=200)),
                ('brought_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='systems', to='annotate.dataimport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='system_name_once_in_project')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotate.document')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotate.system')),
                ('text', models.TextField()),
                ('digest', models.CharField(help_text='text_digest of the text.', max_length=64)),
                ('brought_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='items', to='annotate.dataimport')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('document'), models.F('system'), name='one_item_per_document_and_system')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='ItemTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='annotate.item')),
                ('name', models.CharField(max_length=60)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('item'), models.F('name'), name='tag_once_per_item')],
                'indexes': [models.Index(models.F('name'), models.F('item'), name='items_by_tag')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotate.round')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotate.item')),
                ('slot', models.PositiveSmallIntegerField()),
                ('annotator', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotate.membership')),
                ('position', models.PositiveIntegerField(blank=True, help_text="In the annotator's own order.", null=True)),
                ('plan', models.CharField(choices=[('n_of_m', 'N of M annotators rate every item'), ('everyone', 'every annotator rates every item'), ('balanced', 'N of M annotators, dealt out evenly'), ('sharing', 'N of M annotators, and a block that everyone rates'), ('listed', 'as a file lists it'), ('imported', 'recorded elsewhere and imported'), ('gold', 'a check: its gold values are known'), ('repeat', 'a check: the annotator rates it a second time'), ('disputes', 'the Round I raters of a disputed unit'), ('routed', 'routed from a model judge')], max_length=12)),
                ('origin', models.CharField(blank=True, help_text='What asked for it, in the words of who asked; not read here.', max_length=120)),
                ('partial', models.BooleanField(default=False, help_text='For the dimensions of its units only.')),
                ('seed', models.BigIntegerField(help_text="Of the plan's random choices.")),
                ('inclusion_probability', models.FloatField(blank=True, help_text='That the plan has this item rated at all; empty where each unit has its own.', null=True)),
                ('reserved_until', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(models.F('round'), models.F('item'), condition=models.Q(('annotator__isnull', True)), name='free_assignments')],
                'constraints': [models.UniqueConstraint(models.F('round'), models.F('item'), models.F('slot'), name='slot_once_per_item'), models.UniqueConstraint(models.F('round'), models.F('annotator'), models.F('item'), condition=models.Q(('annotator__isnull', False)), name='annotator_rates_an_item_once'), models.UniqueConstraint(models.F('round'), models.F('annotator'), models.F('position'), condition=models.Q(('annotator__isnull', False)), name='position_once_in_an_annotators_order'), models.CheckConstraint(condition=models.Q(models.Q(('annotator__isnull', True), ('position__isnull', True), ('started_at__isnull', True)), models.Q(('annotator__isnull', False), ('position__isnull', False)), _connector='OR'), name='taken_assignments_have_a_position'), models.CheckConstraint(condition=models.Q(('inclusion_probability__gt', 0), ('inclusion_probability__lte', 1)), name='inclusion_probability_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('inclusion_probability__isnull', False), ('partial', False)), models.Q(('inclusion_probability__isnull', True), ('partial', True)), _connector='OR'), name='probability_by_item_or_by_unit'), models.CheckConstraint(condition=models.Q(models.Q(('plan', 'routed'), _negated=True), models.Q(('origin__gt', ''), ('partial', True)), _connector='OR'), name='routed_assignments_say_what_and_by_what'), models.CheckConstraint(condition=models.Q(('completed_at__isnull', True), ('started_at__isnull', False), _connector='OR'), name='completed_assignments_were_started')],
            },
        ),
        migrations.CreateModel(
            name='AssignedUnit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='units', to='annotate.assignment')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('inclusion_probability', models.FloatField(help_text='That the plan has this unit rated at all.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('assignment'), models.F('dimension'), name='assigned_unit_once'), models.CheckConstraint(condition=models.Q(('inclusion_probability__gt', 0), ('inclusion_probability__lte', 1)), name='unit_probability_in_range')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Dispute',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='annotate.round')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='annotate.item')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='annotate.dimension')),
                ('number', models.PositiveIntegerField(help_text='In a random order, so that it tells nothing of the item.')),
                ('spread', annotate.core.models.fields.PointsField(help_text='Largest minus smallest Round I value.')),
                ('threshold', annotate.core.models.fields.PointsField(help_text='How far apart values had to be to open it.')),
                ('tolerance', annotate.core.models.fields.PointsField(help_text='How near all values must be to settle it.')),
                ('status', models.CharField(choices=[('open', 'open'), ('settled', 'settled'), ('adjudicated', 'adjudicated'), ('left_open', 'left open'), ('irresolvable', 'irresolvable by discussion')], default='open', max_length=12)),
                ('adjudicated_value', annotate.core.models.fields.PointsField(blank=True, null=True)),
                ('updated_at', models.DateTimeField(help_text='When its status or its decision changed last.')),
                ('active_at', models.DateTimeField(help_text='When it was answered, written to or decided last.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('round'), models.F('item'), models.F('dimension'), name='one_dispute_per_unit'), models.UniqueConstraint(models.F('round'), models.F('number'), name='dispute_number_once_in_round'), models.CheckConstraint(condition=models.Q(('tolerance__lt', models.F('threshold'))), name='what_opens_a_dispute_does_not_settle_it'), models.CheckConstraint(condition=models.Q(('spread__gte', 0), ('tolerance__gte', 0)), name='distances_are_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('adjudicated_value__isnull', False), ('status', 'adjudicated')), models.Q(models.Q(('status', 'adjudicated'), _negated=True), ('adjudicated_value__isnull', True)), _connector='OR'), name='adjudicated_disputes_have_a_value')],
                'indexes': [models.Index(models.F('round'), models.F('status'), models.F('active_at'), name='disputes_by_status_and_silence')],
            },
        ),
        migrations.CreateModel(
            name='DisputeRater',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dispute', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='raters', to='annotate.dispute')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.membership')),
                ('since', models.DateTimeField(help_text='When what is to be answered was last added to, or long ago; empty: nothing is.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('dispute'), models.F('rater'), name='rater_once_in_a_dispute')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='DisputeEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dispute', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='annotate.dispute')),
                ('at', models.DateTimeField()),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('opened', 'opened'), ('settled', 'settled'), ('reopened', 'apart again'), ('adjudicated', 'adjudicated'), ('left_open', 'left open'), ('resumed', 'opened again'), ('asked_again', 'to be answered again'), ('irresolvable', 'irresolvable by discussion'), ('taken_up', 'discussed again')], max_length=12)),
                ('value', annotate.core.models.fields.PointsField(null=True)),
                ('note', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['at', 'pk'],
                'indexes': [models.Index(models.F('at'), models.F('id'), name='events_of_disputes_by_time')],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='DisputeLook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='annotate.membership')),
                ('dispute', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='annotate.dispute')),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('rater'), models.F('dispute'), name='one_look_of_a_rater')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='RecordedName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('place', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recorded_names', to='annotate.membership')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recorded_names', to='annotate.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('name'), name='recorded_name_once_in_project')],
            },
        ),
        migrations.CreateModel(
            name='GoldItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gold', to='annotate.item')),
                ('use', models.CharField(choices=[('practice', 'practice before Round I'), ('hidden', 'hidden in Round I')], max_length=8)),
                ('explanation', models.TextField(blank=True, help_text='About the item as a whole; shown after practice.')),
            ],
            options={
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='GoldValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gold', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='values', to='annotate.golditem')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.dimension')),
                ('value', annotate.core.models.fields.PointsField()),
                ('explanation', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['dimension__position', 'dimension'],
                'constraints': [models.UniqueConstraint(models.F('gold'), models.F('dimension'), name='one_gold_value_per_unit')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Post',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dispute', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='posts', to='annotate.dispute')),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='posts', to='annotate.membership')),
                ('text', models.TextField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['at', 'pk'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='PracticeAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='practice_answers', to='annotate.membership')),
                ('attempt', models.PositiveSmallIntegerField(default=1)),
                ('gold_value', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotate.goldvalue')),
                ('value', annotate.core.models.fields.PointsField(null=True)),
                ('unsure', models.BooleanField(default=False)),
                ('cannot_rate', models.BooleanField(default=False)),
                ('not_applicable', models.BooleanField(default=False)),
                ('comment', models.TextField(blank=True)),
                ('evidence', models.JSONField(help_text='A list of {part, start, end}, see annotate.rating.evidence; empty where nothing was marked.', null=True)),
                ('client', models.CharField(blank=True, help_text='The browser that gave the answer.', max_length=36)),
                ('sequence', models.BigIntegerField(default=0, help_text='The order of answers within that browser.')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('settled_at', models.DateTimeField(help_text='When the reference values were shown.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('place'), models.F('attempt'), models.F('gold_value'), name='one_practice_answer_per_attempt'), models.CheckConstraint(condition=models.Q(('value__isnull', True), models.Q(('cannot_rate', False), ('not_applicable', False)), _connector='OR'), name='practice_reason_has_no_value'), models.CheckConstraint(condition=models.Q(('cannot_rate', False), ('not_applicable', False), _connector='OR'), name='practice_has_one_reason'), models.CheckConstraint(condition=models.Q(('settled_at__isnull', True), ('value__isnull', False), ('cannot_rate', True), ('not_applicable', True), _connector='OR'), name='settled_practice_is_answered')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Acknowledgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.membership')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.guideline')),
            ],
        ),
        migrations.CreateModel(
            name='PrivateNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.membership')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.item')),
                ('text', models.TextField(blank=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('annotator'), models.F('item'), name='one_private_note_per_annotator_and_item')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='annotate.assignment')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='annotate.dimension')),
                ('value', annotate.core.models.fields.PointsField(blank=True, null=True)),
                ('unsure', models.BooleanField(default=False)),
                ('cannot_rate', models.BooleanField(default=False)),
                ('not_applicable', models.BooleanField(default=False)),
                ('comment', models.TextField(blank=True)),
                ('evidence', models.JSONField(blank=True, help_text='A list of {part, start, end}, see annotate.rating.evidence; empty where nothing was marked.', null=True)),
                ('active_seconds', models.FloatField(default=0)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('guideline', models.ForeignKey(help_text='The version that its rater saw when it was last saved.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.guideline')),
                ('asked_again_at', models.DateTimeField(blank=True, help_text='Since when its rater is asked to look again, as wording changed.', null=True)),
                ('client', models.CharField(blank=True, help_text='The browser that gave the answer.', max_length=36)),
                ('sequence', models.BigIntegerField(default=0, help_text='The order of answers within that browser.')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('assignment'), models.F('dimension'), name='one_rating_per_unit_and_annotator'), models.CheckConstraint(condition=models.Q(('cannot_rate', False), ('value__isnull', True), _connector='OR'), name='cannot_rate_has_no_value'), models.CheckConstraint(condition=models.Q(('not_applicable', False), models.Q(('cannot_rate', False), ('value__isnull', True)), _connector='OR'), name='not_applicable_has_no_value'), models.CheckConstraint(condition=models.Q(('active_seconds__gte', 0)), name='active_seconds_not_negative'), models.CheckConstraint(condition=models.Q(('evidence__isnull', True), ('evidence__0__part__isnull', False), _connector='OR'), name='evidence_is_none_or_some_passages')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='RatingChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='annotate.rating')),
                ('revision', models.PositiveIntegerField()),
                ('at', models.DateTimeField()),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('cause', models.CharField(choices=[('rated', 'rated'), ('imported', 'imported'), ('kept', 'kept in discussion'), ('changed', 'changed in discussion'), ('differs', 'kept: we differ'), ('undone', 'taken back in discussion')], max_length=8)),
                ('value_before', annotate.core.models.fields.PointsField(null=True)),
                ('value_after', annotate.core.models.fields.PointsField(null=True)),
                ('unsure', models.BooleanField(default=False)),
                ('cannot_rate', models.BooleanField(default=False)),
                ('not_applicable', models.BooleanField(default=False)),
                ('comment', models.TextField(blank=True)),
                ('short_reason', models.CharField(blank=True, help_text="One of the project's, with which a value was kept.", max_length=100)),
                ('evidence', models.JSONField(help_text='A list of {part, start, end}, see annotate.rating.evidence; empty where nothing was marked.', null=True)),
                ('guideline', models.ForeignKey(help_text='The version that was seen; empty for saves from before it was kept.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.guideline')),
            ],
            options={
                'indexes': [models.Index(models.F('at'), models.F('id'), name='changes_of_ratings_by_time')],
                'constraints': [models.UniqueConstraint(models.F('rating'), models.F('revision'), name='one_change_per_revision')],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='annotate.project')),
                ('url', models.CharField(max_length=500)),
                ('events', models.JSONField(help_text='Keys of annotate.webhooks.events.EVENTS.')),
                ('salt', models.CharField(help_text="What the installation's key makes the secret from.", max_length=64)),
                ('digest', models.CharField(help_text='SHA-256 of the secret: tells that the key changed.', max_length=64)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('failing_since', models.DateTimeField(help_text='The first failure since it last succeeded.', null=True)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('disabled_because', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('disabled_at', None), ('disabled_because', '')), models.Q(('disabled_at__isnull', False), ('disabled_because__gt', '')), _connector='OR'), name='disabled_webhooks_say_why')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='annotate.webhook')),
                ('key', models.UUIDField(default=uuid.uuid4, help_text='By which a receiver knows it again.', unique=True)),
                ('event', models.CharField(max_length=40)),
                ('body', models.TextField(help_text='What is sent, to the byte.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('status', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('failed', 'failed')], default='waiting', max_length=9)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it is tried next.', null=True)),
                ('lease', models.UUIDField(help_text='The worker that sends it; no other says what came of it.', null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('attempted_at', models.DateTimeField(null=True)),
                ('answer_status', models.PositiveSmallIntegerField(help_text='Of the last answer, in HTTP.', null=True)),
                ('answer', models.TextField(blank=True, help_text='How the last answer begins, or why there was none.')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-pk'],
                'indexes': [models.Index(models.F('due_at'), condition=models.Q(('status', 'waiting')), name='deliveries_by_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('due_at__isnull', False), ('status', 'waiting')), models.Q(models.Q(('status', 'waiting'), _negated=True), ('due_at', None)), _connector='OR'), name='only_waiting_deliveries_are_due')],
            },
        ),
        migrations.CreateModel(
            name='WorkerHeartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='RevisedValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', annotate.core.models.fields.PointsField()),
                ('comment', models.TextField(blank=True)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('client', models.CharField(blank=True, help_text='The browser that sent it.', max_length=36)),
                ('sequence', models.BigIntegerField(default=0, help_text='The order of what was sent within that browser.')),
                ('updated_at', models.DateTimeField()),
                ('rating', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='revised', to='annotate.rating')),
            ],
        ),
        migrations.CreateModel(
            name='LookBack',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.dimension')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.document')),
            ],
        ),
        migrations.CreateModel(
            name='RevisedValueChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveIntegerField()),
                ('at', models.DateTimeField()),
                ('value_before', annotate.core.models.fields.PointsField()),
                ('value_after', annotate.core.models.fields.PointsField()),
                ('comment', models.TextField(blank=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('revised', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='annotate.revisedvalue')),
            ],
            options={
                'indexes': [models.Index(models.F('at'), name='revised_values_by_time')],
                'constraints': [models.UniqueConstraint(models.F('revised'), models.F('revision'), name='one_change_per_revised_value')],
            },
        ),
        migrations.CreateModel(
            name='AttemptCount',
            fields=[
                ('key', models.CharField(help_text='SHA-256 of what is limited, and whose.', max_length=64, primary_key=True, serialize=False)),
                ('count', models.PositiveIntegerField()),
                ('ends', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='SharedEntry',
            fields=[
                ('cache_key', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('value', models.TextField()),
                ('expires', models.DateTimeField(db_index=True)),
            ],
            options={
                'verbose_name_plural': 'shared entries',
            },
        ),
        migrations.CreateModel(
            name='ChangeCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('ratings', 'Ratings'), ('revised', 'Revised'), ('disputes', 'Disputes')], max_length=8)),
                ('number', models.PositiveBigIntegerField()),
                ('round', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.round')),
            ],
            options={
                'indexes': [models.Index(models.F('round'), models.F('source'), models.F('number'), name='changes_of_rounds')],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('rounds', 'a round opens or closes'), ('deadlines', 'a round that I have work in ends in 7 or 2 days'), ('handed_over', 'work of others is handed over to me'), ('exports', 'an export that I asked for is ready')], max_length=11)),
                ('about', models.CharField(help_text='What is told once, such as a round and a day.', max_length=80)),
                ('facts', models.JSONField()),
                ('link', models.CharField(max_length=500)),
                ('at', models.DateTimeField()),
                ('mail_due_at', models.DateTimeField(db_index=True, help_text='When it goes; empty: never.', null=True)),
                ('mailed_at', models.DateTimeField(help_text='When the mail server took the message.', null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.project')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('user'), models.F('project'), models.F('kind'), models.F('about'), name='a_notice_is_given_once')],
            },
        ),
        migrations.RunPython(guard, migrations.RunPython.noop),
        migrations.RunPython(count_changes, migrations.RunPython.noop),
    ]
