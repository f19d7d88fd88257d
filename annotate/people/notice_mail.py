"""Mails that a person chose to get, each about one thing that happened or is near, and sent once."""

import logging
import smtplib
from datetime import date

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, override

from annotate.core.errors import MailError
from annotate.core.mails import SECONDS_TO_WAIT, claim_mail, due_mails, give_up_old_mail, mail_is_sent
from annotate.core.models import Notice, NoticeKind
from annotate.core.preferences import preferences_of

logger = logging.getLogger(__name__)
ROMAN = {1: "I", 2: "II"}


def due_notices() -> QuerySet[Notice]:
    """Return the notices that wait to be mailed."""
    return due_mails(Notice.objects.all())


def mail_notice(*, notice_id: int) -> None:
    """Send a notice; safe to run twice. What no mail server takes is sent later that day."""
    notice = Notice.objects.select_related("user__preferences", "project").filter(pk=notice_id).first()
    if notice is None or not mail_is_sent() or not claim_mail(notice):
        return
    try:
        _send(notice)
    except MailError as error:
        logger.warning("Notice %s is mailed later: %s", notice_id, error.message)
        give_up_old_mail(notice, since=notice.at)
    else:
        Notice.objects.filter(pk=notice_id).update(mailed_at=timezone.now(), mail_due_at=None)


def _send(notice: Notice) -> None:
    chosen = preferences_of(notice.user)
    with override(chosen.language or settings.LANGUAGE_CODE):
        subject, says = text_of(notice)
        ending = gettext("You chose to be told this. Choose again under Preferences:")
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body=f"{says}\n\n{notice.link}\n\n{ending}\n{chosen.notice_address}{reverse('preferences')}\n",
        to=[notice.user.email],
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(f"No mail could be sent to {notice.user.email} ({error}).") from error


def text_of(notice: Notice) -> tuple[str, str]:
    """Return the subject of a notice and what it says, in the language that is active."""
    facts, named = notice.facts, {"project": notice.project.name}
    if notice.kind == NoticeKind.EXPORTS:
        return (
            gettext("The export of {project} is ready").format(**named),
            gettext("The export of “{project}” that you asked for can be downloaded.").format(**named),
        )
    if notice.kind == NoticeKind.HANDED_OVER:
        count = int(facts["count"])
        return (
            gettext("Work in {project} was handed over to you").format(**named),
            ngettext(
                "{count} item of “{project}” was handed over to you.",
                "{count} items of “{project}” were handed over to you.",
                count,
            ).format(count=count, **named),
        )
    named["round"] = ROMAN[int(facts["round"])]
    if notice.kind == NoticeKind.DEADLINES:
        named["day"] = date_format(date.fromisoformat(str(facts["deadline"])), "DATE_FORMAT")
        return (
            gettext("Round {round} of {project} ends on {day}").format(**named),
            gettext("Round {round} of “{project}” ends on {day}. Work in it waits for you.").format(**named),
        )
    if facts["opened"]:
        return (
            gettext("Round {round} of {project} is open").format(**named),
            gettext("Round {round} of “{project}” is open.").format(**named),
        )
    return (
        gettext("Round {round} of {project} is closed").format(**named),
        gettext("Round {round} of “{project}” is closed.").format(**named),
    )
