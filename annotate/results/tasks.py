"""What workers do for results."""

from celery import shared_task

from annotate.results import commands


@shared_task
def compute_result(result_id: int) -> None:
    """Compute a page of results that was asked for."""
    commands.compute_asked(result_id=result_id)
