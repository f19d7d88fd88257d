"""Celery's entry points: they take ids and wake a worker; everything that matters is in the database."""

from celery import shared_task

from judges.runs.commands.collecting import start_collecting
from judges.runs.commands.retention import remove_old_replies

LONGEST = 120.0  # seconds, after which a worker lets other jobs have a turn


# Acknowledged when it begins: brokers take a worker for dead that keeps a message for long (RabbitMQ after 30
# minutes), and a message that is lost costs nothing, since workers look for work by themselves.
@shared_task(name="judges.tasks.collect_judgments", acks_late=False)
def collect_judgments(run: int) -> None:
    """Call the endpoints that a run still needs in the background, where no worker does so."""
    start_collecting(run=run, seconds=LONGEST)


@shared_task(name="judges.tasks.forget_replies")
def forget_replies() -> None:
    """Remove what models wrote where it is older than the operator keeps it."""
    remove_old_replies()
