import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0017_disputes_know_their_rule")]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="counted",
            field=models.BooleanField(
                default=True, help_text="Whether its ratings count in the statistics."
            ),
        ),
        migrations.CreateModel(
            name="CountingDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("counted", models.BooleanField()),
                ("note", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "place",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counting_decisions",
                        to="annotate.membership",
                    ),
                ),
            ],
            options={"ordering": ["at", "pk"]},
        ),
    ]
