"""What workers do for the audit log."""

from celery import shared_task

from annotate.watching.retention import remove_old_entries


@shared_task
def forget_acts() -> None:
    """Remove acts of the audit log that are older than the operator keeps them."""
    remove_old_entries()
