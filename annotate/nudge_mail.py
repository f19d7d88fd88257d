"""Nudges sent by e-mail."""

import smtplib

from django.core.mail import EmailMessage, get_connection

from annotate.errors import MailError
from annotate.invitation_mail import SECONDS_TO_WAIT
from annotate.models import Nudge


def send_message(nudge: Nudge, link: str) -> None:
    """Send a nudge to its rater; call it outside any transaction. Raises MailError."""
    rater, sender = nudge.rater, nudge.by
    if rater.user is None:
        raise MailError("Nobody holds this place.")
    count = nudge.disputes
    message = EmailMessage(
        subject=" ".join(f"Disputes wait for you in {rater.project}".split()),
        body=(
            f"{sender or 'An admin'} asks you to look at the disputes of “{rater.project}”: "
            f"{count} {'waits' if count == 1 else 'wait'} for your answer.\n\n{link}\n"
        ),
        to=[rater.user.email],
        reply_to=[sender.email] if sender else None,
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(f"No mail could be sent to {rater.user.email} ({error}).") from error
