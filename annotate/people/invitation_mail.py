"""Invitations by e-mail, if a mail server is configured."""

from django.utils.formats import date_format
from django.utils.translation import gettext

from annotate.core.mails import send_mail
from annotate.core.models import Invitation


def send_invitation(invitation: Invitation, link: str) -> None:
    """Mail the link to the invitation; call it outside any transaction. Raises MailError."""
    project, sender = invitation.project.name, invitation.created_by
    subject = gettext("Invitation to {project}").format(project=project)
    invites = gettext("{person} invites you to the project “{project}” as {role}.").format(
        person=sender or gettext("An admin"), project=project, role=invitation.get_role_display()
    )
    until = gettext("The link is for you alone and works until {day}.").format(
        day=date_format(invitation.expires_at)
    )
    send_mail(
        to=invitation.email,
        subject=subject,
        body="\n\n".join(filter(None, [invites, invitation.note, link, until])) + "\n",
        reply_to=sender.email if sender else "",
    )
