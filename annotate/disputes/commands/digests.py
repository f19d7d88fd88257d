"""Digests: mails about news in the disputes that need a person, for subscribers."""

from datetime import datetime

from django.conf import settings
from django.core.signing import Signer
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from annotate.core.access import DIGEST
from annotate.core.jobs import wake_worker
from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.models import DisputeDigest, Preferences, User
from annotate.core.preferences import preferences_of
from annotate.disputes.queries.digests import (
    DigestDispute,
    disputes_needing,
    last_digest_at,
    users_due_for_digest,
)

LISTED = 30  # disputes of which a message holds the links


def digest_token(user: User) -> str:
    """Return the secret part of the unsubscribe link, which only this installation can generate."""
    return Signer(salt=DIGEST).sign(str(user.pk))


def send_digest_message(user: User, needing: list[DigestDispute], address: str) -> None:
    """Mail a person the new disputes, with links below `address`. Raises MailError.

    Call it outside any transaction.
    """
    stop = f"{address}{reverse('digest_stop', args=[digest_token(user)])}"
    new = [each for each in needing if each.is_new]
    subject = ngettext("%(count)s dispute needs you", "%(count)s disputes need you", len(needing))
    send_mail(
        to=user.email,
        subject=f"Concord: {subject % {'count': len(needing)}}",
        body="\n".join(
            [
                _("New since the last message:"),
                "",
                *(line for each in new[:LISTED] for line in _lines(each, address)),
                *([_("and %(count)s more.") % {"count": len(new) - LISTED}, ""] if new[LISTED:] else []),
                _("No more of these messages:"),
                stop,
                "",
            ]
        ),
        headers={"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    )


def _lines(dispute: DigestDispute, address: str) -> list[str]:
    named = {"project": dispute.project, "number": dispute.number, "dimension": dispute.dimension}
    return [
        _("%(project)s: dispute %(number)s, %(dimension)s") % named,
        f"{address}{reverse('dispute', args=[dispute.slug, dispute.number])}",
        "",
    ]


MORNING = 7  # The hour from which the day's digests go out.


def write_digests(*, now: datetime | None = None) -> None:
    """Write the digests of this day that have news, each once. Workers mail them."""
    now = timezone.localtime(now)
    if not mail_is_sent() or now.hour < MORNING:
        return
    for user in users_due_for_digest(now):
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
    Preferences.objects.filter(user=user).update(digest_address="")
