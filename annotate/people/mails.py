"""Mails about accounts and submissions, invitations, and notices that people chose."""

import json
import logging
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, override
from django.views.decorators.debug import sensitive_variables

from annotate.core.audit import log_security
from annotate.core.errors import MailError
from annotate.core.lazy_module import LazyModule
from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.models import AccountMail, Invitation, Notice, NoticeKind, Preferences, User
from annotate.core.preferences import preferences_of
from annotate.people.sessions import end_sessions

if TYPE_CHECKING:
    from cryptography import fernet

    from annotate.core import encryption
else:
    encryption = LazyModule("annotate.core.encryption")
    fernet = LazyModule("cryptography.fernet")

PURPOSE = b"concord: mails about accounts"
logger = logging.getLogger(__name__)


@sensitive_variables("subject", "body", "told")
def post_account_mail(*, user: User | None, to: str, subject: str, body: str) -> None:
    """Queue a mail for a worker, in the caller's transaction.

    user: the account that it is about, if any. Erasing that person deletes the mail.
    """
    told = json.dumps({"to": to, "subject": subject, "body": body})
    # Mails can contain links that open an account, which a copy of the database must not reveal.
    sealed = encryption.cipher_for(PURPOSE).encrypt(told.encode()).decode()
    now = timezone.now()
    AccountMail.objects.create(user=user, sealed=sealed, asked_at=now, mail_due_at=now)


@sensitive_variables("told")
def _send_account_mail(row: AccountMail) -> None:
    try:
        told = json.loads(encryption.cipher_for(PURPOSE).decrypt(row.sealed.encode()))
        send_mail(**told)
    except fernet.InvalidToken:
        logger.warning("%s is deleted: the secrets that could read it are gone", row)
    except MailError as error:
        # The log names accounts by number, because servers repeat the receiver's e-mail.
        raise MailError(error.message.replace(told["to"], "its receiver")) from None
    row.delete()


ACCOUNT_MAIL = mail_kind(
    "account_mail",
    AccountMail,
    _send_account_mail,
    does="mails a person about their account or submission",
    asked_at="asked_at",
    mailed_at="",
    condition=Q,
    stop=lambda row, _reason: row.delete(),
)


class AccountChange(StrEnum):
    PASSWORD = "password.changed"  # noqa: S105 - an event
    FACTOR_ADDED = "second_factor.added"
    FACTOR_REMOVED = "second_factor.removed"
    CODES_MADE = "recovery_codes.made"
    ADDRESS = "address.changed"


@transaction.atomic
def note_account_change(
    *, user: User, change: AccountChange, session: str | None, by: User | None = None, before: str = ""
) -> None:
    """Log the change, end the person's sessions and mail the person. API tokens stay valid.

    session: the session that stays, if the person made the change in it. by: the operator who made the
    change, if not the person. before: the e-mail before this change, which also gets the mail.
    """
    log_security(change, user, by=by.pk if by and by.pk != user.pk else None)
    end_sessions(user=user, besides=session)
    if not mail_is_sent():
        return
    # In the language of the person, who may not be the one who made the change.
    chosen = Preferences.objects.filter(user=user).values_list("language", flat=True).first()
    with override(chosen or settings.LANGUAGE_CODE):
        subject, text = _mail_about(change, user)
    for address in filter(None, (user.email, before)):
        post_account_mail(
            user=user, to=address, subject=f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}", body=text
        )


def _mail_about(change: AccountChange, user: User) -> tuple[str, str]:
    not_you = gettext(
        "If it was not you, choose a new password by “Forgotten password?” and revoke your tokens of the "
        "API. Then tell an admin of your project."
    )
    match change:
        case AccountChange.PASSWORD:
            subject = gettext("Your password was changed")
            happened = gettext("The password of your account was changed.")
        case AccountChange.FACTOR_ADDED:
            subject = gettext("A second factor was added")
            happened = gettext("A second factor was added to your account.")
        case AccountChange.FACTOR_REMOVED:
            subject = gettext("A second factor was removed")
            happened = gettext("A second factor was removed from your account.")
        case AccountChange.CODES_MADE:
            subject = gettext("You have new recovery codes")
            happened = gettext("Your account has new recovery codes. The old ones no longer work.")
        case AccountChange.ADDRESS:
            subject = gettext("Your e-mail was changed")
            happened = gettext("The e-mail of your account is {email} now.").format(email=user.email)
            # “Forgotten password?” would send its link to the new e-mail, so it is no remedy here.
            not_you = gettext("If it was not you, tell an admin of your project at once.")
    return subject, f"{happened} {gettext('All other devices are signed out.')}\n\n{not_you}\n"


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


def _send_notice(notice: Notice) -> None:
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
    facts = notice.facts
    named: dict[str, Any] = {"project": notice.project.name, "round": facts.get("round")}
    if notice.kind == NoticeKind.EXPORTS:
        subject = gettext("The export of {project} is ready")
        body = gettext("The export of “{project}” that you asked for can be downloaded.")
    elif notice.kind == NoticeKind.HANDED_OVER:
        named["count"] = int(facts["count"])
        subject = gettext("Work in {project} was handed over to you")
        body = ngettext(
            "{count} item of “{project}” was handed over to you.",
            "{count} items of “{project}” were handed over to you.",
            named["count"],
        )
    elif notice.kind == NoticeKind.DEADLINES:
        named["day"] = date_format(date.fromisoformat(str(facts["deadline"])), "DATE_FORMAT")
        subject = gettext("Round {round} of {project} ends on {day}")
        body = gettext("Round {round} of “{project}” ends on {day}. You have work left in it.")
    elif facts["opened"]:
        subject = gettext("Round {round} of {project} is open")
        body = gettext("Round {round} of “{project}” is open.")
    else:
        subject = gettext("Round {round} of {project} is closed")
        body = gettext("Round {round} of “{project}” is closed.")
    return subject.format(**named), body.format(**named)


NOTICE_MAIL = mail_kind(
    "notice",
    Notice,
    _send_notice,
    does="mails a notice that its person chose to get",
    related=("user__preferences", "project"),
)
