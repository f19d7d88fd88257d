"""Sending people what is new in the disputes that need them, if they asked for it."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from annotate.core.jobs import wake_worker
from annotate.core.mails import mail_is_sent, mail_kind
from annotate.core.models import DisputeDigest, Preferences, User
from annotate.core.preferences import preferences_of
from annotate.disputes.digest_mail import send_digest_message
from annotate.disputes.queries.digests import disputes_needing, last_digest_at, without_digest_today

MORNING = 7  # the hour from which the day's digests are sent


def write_digests(*, now: datetime | None = None) -> None:
    """Write the digests of this day that have news, each once. Workers mail them."""
    now = timezone.localtime(now)
    if not mail_is_sent() or now.hour < MORNING:
        return
    for user in without_digest_today(now):
        if any(each.is_new for each in disputes_needing(user, since=last_digest_at(user))):
            made = {"at": now, "mail_due_at": timezone.now()}
            digest, is_new = DisputeDigest.objects.get_or_create(user=user, day=now.date(), defaults=made)
            if is_new:
                wake_worker(DIGEST_MAIL, digest.pk)


def _send(digest: DisputeDigest) -> None:
    user, preferences = digest.user, preferences_of(digest.user)
    needing = disputes_needing(user, since=last_digest_at(user))
    if preferences.digest_address and any(each.is_new for each in needing):
        with override(preferences.language or settings.LANGUAGE_CODE):
            send_digest_message(user, needing, preferences.digest_address)


DIGEST_MAIL = mail_kind(
    "digest",
    DisputeDigest,
    _send,
    does="mails a person the disputes of the day",
    related=("user__preferences",),
    mailed_at="",
)


def stop_digests(*, user: User) -> None:
    """Send this person no more digests."""
    Preferences.objects.filter(user=user).update(digest_address="")
