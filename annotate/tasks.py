"""Celery tasks of annotate."""

from celery import shared_task

from annotate.core.jobs import run_job
from annotate.disputes.commands.digests import write_digests
from annotate.watching.commands import remove_old_entries

__all__ = ["forget_acts", "run_job", "send_digests"]


# The name is fixed: messages in the queue can come from servers of another version.
@shared_task(name="annotate.disputes.tasks.send_digests")
def send_digests() -> None:
    write_digests()


@shared_task(name="annotate.watching.tasks.forget_acts")
def forget_acts() -> None:
    """Remove acts of the audit log past the operator's retention period."""
    remove_old_entries()
