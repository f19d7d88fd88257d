"""What workers do for annotate: each task takes ids at most and calls one command."""

from celery import shared_task

from annotate.disputes.commands import digests, nudges
from annotate.exports.commands import exports, pushes
from annotate.material.commands import uploads
from annotate.people import commands as people_commands
from annotate.results import commands as results_commands
from annotate.webhooks import commands as webhooks_commands


@shared_task
def run_import(import_id: int) -> None:
    """Import an uploaded file that waits."""
    uploads.run_import(import_id=import_id)


@shared_task
def run_export(export_id: int) -> None:
    """Write an export that waits."""
    exports.run_export(export_id=export_id)


@shared_task
def compute_result(result_id: int) -> None:
    """Compute a page of results that was asked for."""
    results_commands.compute_asked(result_id=result_id)


@shared_task
def run_push(push_id: int) -> None:
    """Push a data set that waits to the Hub."""
    pushes.run_push(push_id=push_id)


@shared_task
def mail_nudge(nudge_id: int) -> None:
    """Send a nudge by mail."""
    nudges.mail_nudge(nudge_id=nudge_id)


@shared_task
def mail_invitation(invitation_id: int) -> None:
    """Send the link of an invitation by mail."""
    people_commands.mail_invitation(invitation_id=invitation_id)


@shared_task
def send_digests() -> None:
    """Send the digests of disputes that are due."""
    digests.send_digests()


@shared_task
def deliver(delivery_id: int) -> None:
    """Send a webhook what is due."""
    webhooks_commands.deliver(delivery_id=delivery_id)
