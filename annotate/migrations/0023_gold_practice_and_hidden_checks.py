import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0022_histories_go_with_their_project"),
    ]

    operations = [
        migrations.CreateModel(
            name="GoldItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "use",
                    models.CharField(
                        choices=[("practice", "practice before Round I"), ("hidden", "hidden in Round I")],
                        max_length=8,
                    ),
                ),
                (
                    "explanation",
                    models.TextField(
                        blank=True, help_text="About the item as a whole; shown after practice."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GoldValue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.IntegerField()),
                ("explanation", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["dimension__position", "dimension"],
            },
        ),
        migrations.CreateModel(
            name="PracticeAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=1)),
                ("value", models.IntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="round",
            name="one_open_round_per_project",
        ),
        migrations.RemoveConstraint(
            model_name="round",
            name="round_one_or_two",
        ),
        migrations.AddField(
            model_name="assignmentplan",
            name="gold_every",
            field=models.PositiveSmallIntegerField(
                default=10, help_text="A hidden gold item comes after so many items; 0: none."
            ),
        ),
        migrations.AddField(
            model_name="assignmentplan",
            name="repeat_every",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="An item comes a second time after so many items; 0: none."
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="practice_attempt",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="membership",
            name="practised_at",
            field=models.DateTimeField(blank=True, help_text="When practice was passed.", null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="practice_bar",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="Percent of practice to get right before Round I; empty: no practice.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="plan",
            field=models.CharField(
                choices=[
                    ("n_of_m", "N of M annotators rate every item"),
                    ("everyone", "every annotator rates every item"),
                    ("balanced", "N of M annotators, dealt out evenly"),
                    ("sharing", "N of M annotators, and a block that everyone rates"),
                    ("listed", "as a file lists it"),
                    ("imported", "recorded elsewhere and imported"),
                    ("gold", "a check: its gold values are known"),
                    ("repeat", "a check: the annotator rates it a second time"),
                    ("disputes", "the Round I raters of a disputed unit"),
                    ("routed", "routed from a model judge"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(
                models.F("project"),
                condition=models.Q(("number__lt", 3), ("status", "open")),
                name="one_open_round_per_project",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__in", [1, 2, 3])), name="round_one_two_or_checks"
            ),
        ),
        migrations.AddField(
            model_name="golditem",
            name="item",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="gold", to="annotate.item"
            ),
        ),
        migrations.AddField(
            model_name="goldvalue",
            name="dimension",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotate.dimension"
            ),
        ),
        migrations.AddField(
            model_name="goldvalue",
            name="gold",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="values", to="annotate.golditem"
            ),
        ),
        migrations.AddField(
            model_name="practiceanswer",
            name="gold_value",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="annotate.goldvalue"
            ),
        ),
        migrations.AddField(
            model_name="practiceanswer",
            name="place",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="practice_answers",
                to="annotate.membership",
            ),
        ),
        migrations.AddConstraint(
            model_name="goldvalue",
            constraint=models.UniqueConstraint(
                models.F("gold"), models.F("dimension"), name="one_gold_value_per_unit"
            ),
        ),
        migrations.AddConstraint(
            model_name="practiceanswer",
            constraint=models.UniqueConstraint(
                models.F("place"),
                models.F("attempt"),
                models.F("gold_value"),
                name="one_practice_answer_per_attempt",
            ),
        ),
    ]
