"""What workers do for annotate: each task takes an id and calls one command."""

from celery import shared_task

from annotate.commands import nudges, uploads


@shared_task
def run_import(import_id: int) -> None:
    """Import an uploaded file that waits."""
    uploads.run_import(import_id=import_id)


@shared_task
def mail_nudge(nudge_id: int, link: str) -> None:
    """Send a nudge by mail."""
    nudges.mail_nudge(nudge_id=nudge_id, link=link)
