"""What workers do for imports."""

from celery import shared_task

from annotate.material.commands import uploads


@shared_task
def run_import(import_id: int) -> None:
    """Import an uploaded file that waits."""
    uploads.run_import(import_id=import_id)
