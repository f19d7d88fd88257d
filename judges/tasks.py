"""Celery's entry points: they take ids and wake a worker; everything that matters is in the database."""

from celery import shared_task

from judges.commands.collecting import collect

SLICE = 120.0  # seconds after which a worker lets other runs have a turn


@shared_task(name="judges.tasks.collect_judgments")
def collect_judgments(run: int) -> None:
    """Ask what a run still needs; what is left when time is up waits until workers look for work again."""
    collect(run=run, seconds=SLICE)
