"""Asking raters to look at the disputes that wait for them."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import MailError, NotReadyError
from annotate.invitation_mail import mail_is_sent
from annotate.models import Membership, Nudge, Project, Round, User
from annotate.nudge_mail import send_message

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Nudged:
    """Who was nudged now, who had been today already, and who cannot be because nobody holds the place."""

    now: list[Nudge] = field(default_factory=list)
    already: list[Membership] = field(default_factory=list)
    empty: list[Membership] = field(default_factory=list)


@transaction.atomic
def nudge_raters(*, project: Project, waiting: Mapping[int, int], by: User) -> Nudged:
    """Nudge raters (by key, with how many disputes wait for each), nobody twice on a day.

    They read it with their work; the caller lets a worker send it by mail after the commit. Locks the
    project. Raises NotReadyError unless Round II is open.
    """
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
            made = Nudge.objects.create(rater=rater, day=today, at=now, by=by, disputes=waiting[rater.pk])
            found.now.append(made)
    if found.now:
        names = [each.rater.label for each in found.now]
        record(project, "disputes.nudged", f"{len(names)} raters", after={"raters": names}, by=by)
    return found


def mail_nudge(*, nudge_id: int, link: str) -> None:
    """Send a nudge by mail where a mail server is configured; safe to run twice."""
    unsent = Nudge.objects.filter(pk=nudge_id, mailed_at__isnull=True)
    if not mail_is_sent() or not unsent.update(mailed_at=timezone.now()):
        return
    nudge = Nudge.objects.select_related("rater__user", "rater__project", "by").get(pk=nudge_id)
    try:
        send_message(nudge, link)
    except MailError as error:
        Nudge.objects.filter(pk=nudge_id).update(mailed_at=None)
        logger.warning("Nudge %s stays on the rater's page only: %s", nudge_id, error.message)
