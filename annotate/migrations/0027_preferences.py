import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0026_evidence_of_ratings'),
    ]

    operations = [
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('theme', models.CharField(choices=[('system', 'As my device'), ('light', 'Light'), ('dark', 'Dark'), ('contrast', 'High contrast')], default='system', max_length=12, verbose_name='Colours')),
                ('text_size', models.CharField(choices=[('small', 'Small'), ('normal', 'Normal'), ('large', 'Large'), ('largest', 'Very large')], default='normal', max_length=12, verbose_name='Text size')),
                ('line_length', models.CharField(choices=[('full', 'As wide as there is room'), ('medium', 'Medium, about 75 letters'), ('short', 'Short, about 55 letters')], default='full', max_length=12, verbose_name='Length of lines')),
                ('font', models.CharField(choices=[('sans', 'Sans serif'), ('serif', 'Serif')], default='sans', max_length=12, verbose_name='Typeface of texts')),
                ('motion', models.CharField(choices=[('system', 'As my device'), ('reduced', 'Nothing moves')], default='system', max_length=12, verbose_name='Movement')),
                ('language', models.CharField(blank=True, choices=[('', 'As my browser'), ('en', 'English'), ('de', 'Deutsch')], default='', max_length=12, verbose_name='Language')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('theme__in', ['system', 'light', 'dark', 'contrast'])), name='known_theme'), models.CheckConstraint(condition=models.Q(('text_size__in', ['small', 'normal', 'large', 'largest'])), name='known_text_size'), models.CheckConstraint(condition=models.Q(('line_length__in', ['full', 'medium', 'short'])), name='known_line_length'), models.CheckConstraint(condition=models.Q(('font__in', ['sans', 'serif'])), name='known_font'), models.CheckConstraint(condition=models.Q(('motion__in', ['system', 'reduced'])), name='known_motion'), models.CheckConstraint(condition=models.Q(('language__in', ['', 'en', 'de'])), name='known_language')],
            },
        ),
    ]
