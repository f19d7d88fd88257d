"""What workers do for exports."""

from celery import shared_task

from annotate.exports.commands import exports, pushes


@shared_task
def run_export(export_id: int) -> None:
    """Write an export that waits."""
    exports.run_export(export_id=export_id)


@shared_task
def run_push(push_id: int) -> None:
    """Push a data set that waits to the Hub."""
    pushes.run_push(push_id=push_id)
