from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0010_not_applicable_is_an_answer")]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="sent_at",
            field=models.DateTimeField(
                blank=True, help_text="When it was last sent by e-mail.", null=True
            ),
        ),
    ]
