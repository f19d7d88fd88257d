"""Celery's entry points: they receive ids and wake a worker; all state is in the database."""

from celery import shared_task

from judges.runs.commands.collecting import start_collecting
from judges.runs.commands.outcomes import remove_old_replies

LONGEST = 120.0  # seconds, after which a worker lets other jobs have a turn


# Acknowledged at the start: brokers consider a worker dead if it holds a message for long (RabbitMQ after 30
# minutes). A lost message costs nothing, because workers search for work periodically.
@shared_task(name="judges.tasks.collect_judgments", acks_late=False)
def collect_judgments(run: int) -> None:
    """Call the endpoints that a run still needs in the background, where no worker does so."""
    start_collecting(run=run, seconds=LONGEST)


@shared_task(name="judges.tasks.forget_replies")
def forget_replies() -> None:
    """Remove models' replies past the operator's retention period."""
    remove_old_replies()
