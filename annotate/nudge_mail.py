"""Nudges sent by e-mail."""

import smtplib

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext, ngettext, override

from annotate.errors import MailError
from annotate.invitation_mail import SECONDS_TO_WAIT
from annotate.models import Nudge
from annotate.preferences import preferences_of


def send_message(nudge: Nudge, link: str) -> None:
    """Send a nudge to its rater; call it outside any transaction. Raises MailError."""
    rater, sender = nudge.rater, nudge.by
    if rater.user is None:
        raise MailError("Nobody holds this place.")
    count = nudge.disputes
    with override(preferences_of(rater.user).language or settings.LANGUAGE_CODE):
        subject = gettext("Disputes wait for you in {project}").format(project=rater.project)
        asks = ngettext(
            "{person} asks you to look at the disputes of “{project}”: {count} waits for your answer.",
            "{person} asks you to look at the disputes of “{project}”: {count} wait for your answer.",
            count,
        ).format(person=sender or gettext("An admin"), project=rater.project, count=count)
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body=f"{asks}\n\n{link}\n",
        to=[rater.user.email],
        reply_to=[sender.email] if sender else None,
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(f"No mail could be sent to {rater.user.email} ({error}).") from error
