"""What workers do for people: they send mails."""

from celery import shared_task

from annotate.people import commands, notice_mail


@shared_task
def mail_invitation(invitation_id: int) -> None:
    """Send the link of an invitation by mail."""
    commands.mail_invitation(invitation_id=invitation_id)


@shared_task
def mail_notice(notice_id: int) -> None:
    """Send a mail that its person chose to get."""
    notice_mail.mail_notice(notice_id=notice_id)
