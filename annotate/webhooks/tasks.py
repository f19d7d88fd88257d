"""What workers do for webhooks."""

from celery import shared_task

from annotate.webhooks import commands


@shared_task
def deliver(delivery_id: int) -> None:
    """Send a webhook what is due."""
    commands.deliver(delivery_id=delivery_id)
