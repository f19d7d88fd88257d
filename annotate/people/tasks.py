"""What workers do for invitations."""

from celery import shared_task

from annotate.people import commands


@shared_task
def mail_invitation(invitation_id: int) -> None:
    """Send the link of an invitation by mail."""
    commands.mail_invitation(invitation_id=invitation_id)
