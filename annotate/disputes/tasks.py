"""What workers do for disputes."""

from celery import shared_task

from annotate.disputes.commands import digests, nudges


@shared_task
def mail_nudge(nudge_id: int) -> None:
    """Send a nudge by mail."""
    nudges.mail_nudge(nudge_id=nudge_id)


@shared_task
def send_digests() -> None:
    """Send the digests of disputes that are due."""
    digests.send_digests()
