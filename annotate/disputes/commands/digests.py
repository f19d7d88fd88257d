"""Mails about disputes: digests of news for subscribers, and nudges of raters that disputes need."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.core.signing import Signer
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext, override

from annotate.core.access import DIGEST
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import NotReadyError
from annotate.core.jobs import wake_worker
from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.models import DisputeDigest, Membership, Nudge, Preferences, Project, Round, User
from annotate.core.preferences import preferences_of
from annotate.disputes.queries.activity import (
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
    lines = [gettext("New since the last message:"), ""]
    for each in new[:LISTED]:
        named = {"project": each.project, "number": each.number, "dimension": each.dimension}
        lines.append(gettext("%(project)s: dispute %(number)s, %(dimension)s") % named)
        lines += [f"{address}{reverse('dispute', args=[each.slug, each.number])}", ""]
    if new[LISTED:]:
        lines += [gettext("and %(count)s more.") % {"count": len(new) - LISTED}, ""]
    lines += [gettext("No more of these messages:"), stop, ""]
    send_mail(
        to=user.email,
        subject=f"Concord: {subject % {'count': len(needing)}}",
        body="\n".join(lines),
        # RFC 8058: with both headers, mail programs unsubscribe by a single POST without a page.
        headers={"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    )


MORNING = 7  # The hour from which the day's digests go out.


def write_digests(*, now: datetime | None = None) -> None:
    """Write the digests of this day that have news, each once. Workers mail them."""
    now = timezone.localtime(now)
    if not mail_is_sent() or now.hour < MORNING:
        return
    for user in users_due_for_digest(now):
        if any(each.is_new for each in disputes_needing(user, since=last_digest_at(user))):
            made = {"at": now, "mail_due_at": timezone.now()}
            # Two workers can get here at once; the unique day lets only one of them write a digest.
            digest, is_new = DisputeDigest.objects.get_or_create(user=user, day=now.date(), defaults=made)
            if is_new:
                wake_worker(DIGEST_MAIL, digest.pk)


def _send_digest(digest: DisputeDigest) -> None:
    user, preferences = digest.user, preferences_of(digest.user)
    # Read again at sending: the person may have answered after the digest's row appeared.
    needing = disputes_needing(user, since=last_digest_at(user))
    if preferences.digest_address and any(each.is_new for each in needing):
        with override(preferences.language or settings.LANGUAGE_CODE):
            send_digest_message(user, needing, preferences.digest_address)


DIGEST_MAIL = mail_kind(
    "digest",
    DisputeDigest,
    _send_digest,
    does="mails a person the disputes of the day",
    related=("user__preferences",),
    mailed_at="",
)


def stop_digests(*, user: User) -> None:
    Preferences.objects.filter(user=user).update(digest_address="")


def _send_nudge(nudge: Nudge) -> None:
    rater, sender = nudge.rater, nudge.by
    if rater.user is None:
        raise NotReadyError(gettext("The rater has no account any more."))
    count = nudge.disputes
    with override(preferences_of(rater.user).language or settings.LANGUAGE_CODE):
        subject = gettext("Disputes wait for you in {project}").format(project=rater.project)
        asks = ngettext(
            "{person} asks you to answer the disputes of “{project}”: {count} waits for your answer.",
            "{person} asks you to answer the disputes of “{project}”: {count} wait for your answer.",
            count,
        ).format(person=sender or gettext("An admin"), project=rater.project, count=count)
    send_mail(
        to=rater.user.email,
        subject=subject,
        body=f"{asks}\n\n{nudge.link}\n",
        reply_to=sender.email if sender else "",
    )


@dataclass(frozen=True)
class Nudged:
    """Raters nudged now, raters already nudged today, and memberships without a user."""

    now: list[Nudge] = field(default_factory=list)
    already: list[Membership] = field(default_factory=list)
    empty: list[Membership] = field(default_factory=list)


@transaction.atomic
def nudge_raters(*, project: Project, waiting: Mapping[int, int], by: User, link: str = "") -> Nudged:
    """Nudge raters (by key, with the number of disputes that need each), each once a day.

    They read it with their work. With a link to the work, a worker sends it by mail. Locks the project.
    Raises NotReadyError unless Round II is open.
    """
    # Two admins at once would otherwise both find no nudge of today.
    lock_project(project)
    if not project.rounds.filter(number=2, status=Round.Status.OPEN).exists():
        raise NotReadyError(gettext("Round II is not open, so no dispute waits for a rater."))
    now, today = timezone.now(), timezone.localdate()
    before = set(Nudge.objects.filter(day=today, rater__in=waiting).values_list("rater", flat=True))
    found = Nudged()
    for rater in project.memberships.filter(pk__in=waiting).order_by("alias"):
        if rater.user_id is None or not rater.active:
            found.empty.append(rater)
        elif rater.pk in before:
            found.already.append(rater)
        else:
            mail = {"link": link, "mail_due_at": now} if link and mail_is_sent() else {}
            made = Nudge.objects.create(
                rater=rater, day=today, at=now, by=by, disputes=waiting[rater.pk], **mail
            )
            found.now.append(made)
            if mail:
                wake_worker(NUDGE_MAIL, made.pk)
    if found.now:
        names = [each.rater.label for each in found.now]
        record(project, "disputes.nudged", f"{len(names)} raters", after={"raters": names}, by=by)
    return found


NUDGE_MAIL = mail_kind(
    "nudge",
    Nudge,
    _send_nudge,
    does="mails a rater that disputes wait",
    related=("rater__user", "rater__project", "by"),
)
