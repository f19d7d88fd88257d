"""The entry point by which a worker makes the finished demonstration."""

from celery import shared_task


@shared_task(name="judges.management.demonstration.tasks.load_finished_demonstration")
def load_finished_demonstration() -> None:
    """Make the finished demonstration beside a server that answers already."""
    from judges.management.demonstration import finished  # its texts are for the first start alone

    finished.load_finished_demonstration()
