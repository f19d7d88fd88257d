"""Invitations sent by e-mail, where a mail server is configured."""

import smtplib

from django.core.mail import EmailMessage, get_connection
from django.utils.formats import date_format
from django.utils.translation import gettext

from annotate.core.errors import MailError
from annotate.core.mails import SECONDS_TO_WAIT
from annotate.core.models import Invitation


def send_invitation(invitation: Invitation, link: str) -> None:
    """Send the link to the invitation's address; call it outside any transaction. Raises MailError."""
    project, sender = invitation.project.name, invitation.created_by
    subject = gettext("Invitation to {project}").format(project=project)
    invites = gettext("{person} invites you to the project “{project}” as {role}.").format(
        person=sender or gettext("An admin"), project=project, role=invitation.get_role_display()
    )
    until = gettext("The link is for you alone and works until {day}.").format(
        day=date_format(invitation.expires_at)
    )
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body="\n\n".join(filter(None, [invites, invitation.note, link, until])) + "\n",
        to=[invitation.email],
        reply_to=[sender.email] if sender else None,
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(
            f"The link is there, but no mail could be sent to {invitation.email} ({error}). "
            "Pass the link on yourself, or check CONCORD_EMAIL_URL and send it again."
        ) from error
