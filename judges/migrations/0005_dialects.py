"""Interfaces of endpoints, and the probabilities of answers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the dialect of an endpoint and the log-probabilities that a judgment was read from."""

    dependencies = [
        ("judges", "0004_answers_of_judgments"),
    ]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="dialect",
            field=models.CharField(
                choices=[
                    ("openai", "OpenAI-compatible"),
                    ("anthropic", "Anthropic Messages"),
                    ("gemini", "Gemini"),
                ],
                db_default="openai",
                default="openai",
                max_length=9,
            ),
        ),
        migrations.AddField(
            model_name="judgment",
            name="log_probabilities",
            field=models.JSONField(
                help_text="The natural logarithms of the probabilities of the answers at the token of the answer, "
                "by the answer; empty if the text gave the value.",
                null=True,
            ),
        ),
    ]
