"""Invitations that programs have sent by mail: each address of a project gets one a day at most."""

import logging
from datetime import timedelta
from urllib.parse import urljoin

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.configuration import lock_project
from annotate.errors import DomainError, InvalidValueError, MailError, NotReadyError
from annotate.invitation_mail import mail_is_sent, send_invitation
from annotate.invitations import invitation_token, refuse_unusable
from annotate.models import Invitation

BETWEEN_MAILS = timedelta(days=1)

logger = logging.getLogger(__name__)


def refuse_mail(invitation: Invitation) -> None:
    """Raise InvitationUnusableError, InvalidValueError or NotReadyError where no mail can be sent now."""
    refuse_unusable(invitation)
    if not (invitation.email and mail_is_sent()):
        raise InvalidValueError(
            gettext("This link has no address, or no mail server is configured: pass it on yourself.")
        )
    lately = Invitation.objects.filter(sent_at__gt=timezone.now() - BETWEEN_MAILS)
    if lately.filter(project=invitation.project_id, email__iexact=invitation.email).exists():
        raise NotReadyError(
            gettext("An invitation to this project was sent to this address within the last day.")
        )


def mail_invitation(*, invitation_id: int, site: str) -> None:
    """Send an invitation, unless its address had one within the last day; safe to run twice.

    site: the address at which people reach Concord. The link is made here, so that no message has it. Locks
    the project for the decision, not while it sends.
    """
    offer = Invitation.objects.select_related("project", "created_by").get(pk=invitation_id)
    before = offer.sent_at
    try:
        _claim(offer)
        send_invitation(offer, urljoin(site, reverse("invitation", args=[invitation_token(offer)])))
    except MailError as error:
        Invitation.objects.filter(pk=offer.pk).update(sent_at=before)
        logger.warning("Invitation %s was not sent: %s", offer.pk, error.message)
    except DomainError as error:
        logger.info("Invitation %s is not sent: %s", offer.pk, error.message)


@transaction.atomic
def _claim(offer: Invitation) -> None:
    lock_project(offer.project)
    offer.refresh_from_db(fields=["accepted_at", "withdrawn_at", "sent_at"])
    refuse_mail(offer)
    offer.sent_at = timezone.now()
    offer.save(update_fields=["sent_at"])
