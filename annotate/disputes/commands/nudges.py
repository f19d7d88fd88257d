from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext, override

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import NotReadyError
from annotate.core.jobs import wake_worker
from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.models import Membership, Nudge, Project, Round, User
from annotate.core.preferences import preferences_of

# Nudges sent by e-mail.


def _send(nudge: Nudge) -> None:
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
    _send,
    does="mails a rater that disputes wait",
    related=("rater__user", "rater__project", "by"),
)
