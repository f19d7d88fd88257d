"""Sending people what is new in the disputes that need them, if they asked for it."""

import logging
from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from annotate.core.errors import MailError
from annotate.core.mails import mail_is_sent
from annotate.core.models import DisputeDigest, Preferences, User
from annotate.disputes.digest_mail import send_digest_message
from annotate.disputes.queries.digests import disputes_needing, last_digest_at, without_digest_today

MORNING = 7  # the hour from which the day's digests are sent
logger = logging.getLogger(__name__)


def send_digests(*, now: datetime | None = None) -> None:
    """Send every digest of this day that is due and says something; safe to run twice, and at once."""
    now = timezone.localtime(now)
    if not mail_is_sent() or now.hour < MORNING:
        return
    for user in without_digest_today(now).select_related("preferences"):
        send_digest(user=user, now=now)


def send_digest(*, user: User, now: datetime) -> None:
    """Send one person's digest unless nothing is new or this day's was sent. `user` with preferences.

    The day's row is made first, which one worker can, and taken back if no mail server takes the message.
    """
    needing = disputes_needing(user, since=last_digest_at(user))
    if not any(each.is_new for each in needing):
        return
    digest, is_ours = DisputeDigest.objects.get_or_create(user=user, day=now.date(), defaults={"at": now})
    if not is_ours:
        return
    preferences = user.preferences
    try:
        with override(preferences.language or settings.LANGUAGE_CODE):
            send_digest_message(user, needing, preferences.digest_address)
    except MailError as error:
        digest.delete()
        logger.warning("A digest of disputes is sent later: %s", error.message)


def stop_digests(*, user: User) -> None:
    """Send this person no more digests."""
    Preferences.objects.filter(user=user).update(digest_address="")
