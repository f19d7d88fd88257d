"""Mails that a person chose to get, each about one thing that happened or is near, and sent once."""

from datetime import date

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, override

from annotate.core.mails import mail_kind, send_mail
from annotate.core.models import Notice, NoticeKind
from annotate.core.preferences import preferences_of


def _send(notice: Notice) -> None:
    chosen = preferences_of(notice.user)
    with override(chosen.language or settings.LANGUAGE_CODE):
        subject, says = text_of(notice)
        ending = gettext("You chose to get this mail. Change your choice under Preferences:")
    send_mail(
        to=notice.user.email,
        subject=subject,
        body=f"{says}\n\n{notice.link}\n\n{ending}\n{chosen.notice_address}{reverse('preferences')}\n",
    )


def text_of(notice: Notice) -> tuple[str, str]:
    """Return the subject and body of a notice in the active language."""
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
    named["round"] = str(facts["round"])
    if notice.kind == NoticeKind.DEADLINES:
        named["day"] = date_format(date.fromisoformat(str(facts["deadline"])), "DATE_FORMAT")
        return (
            gettext("Round {round} of {project} ends on {day}").format(**named),
            gettext("Round {round} of “{project}” ends on {day}. You have work left in it.").format(**named),
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


NOTICE_MAIL = mail_kind(
    "notice",
    Notice,
    _send,
    does="mails a notice that its person chose to get",
    related=("user__preferences", "project"),
)
