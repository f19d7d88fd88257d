from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('judges', '0004_routing'),
    ]

    operations = [
        migrations.AddField(
            model_name='routingpolicy',
            name='audit',
            field=models.CharField(choices=[('random', 'at random'), ('active', 'more where errors are expected')], default='random', max_length=6),
        ),
    ]
