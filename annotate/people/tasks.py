"""What workers do for people: they send mails."""

from functools import partial

from celery import shared_task
from django.db import transaction

from annotate.core.models import Invitation
from annotate.people import commands, notice_mail


def ask_worker_to_mail(*, invitation: Invitation, site: str) -> None:
    """Have a worker mail an invitation after the commit. Raises what `ask_for_mail` does."""
    commands.ask_for_mail(invitation=invitation, site=site)
    # Robust: without a broker it waits for a worker that looks by itself.
    transaction.on_commit(partial(mail_invitation.delay, invitation.pk), robust=True)


@shared_task
def mail_invitation(invitation_id: int) -> None:
    """Send the link of an invitation by mail."""
    commands.mail_invitation(invitation_id=invitation_id)


@shared_task
def mail_notice(notice_id: int) -> None:
    """Send a mail that its person chose to get."""
    notice_mail.mail_notice(notice_id=notice_id)
