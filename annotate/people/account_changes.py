"""Effects of a change to a person's sign-in: an event, the end of other sessions, and a mail."""

from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext, override

from annotate.core.audit import log_security
from annotate.core.mails import mail_is_sent
from annotate.core.models import Preferences, User
from annotate.people.account_mail import post_account_mail
from annotate.people.sessions import end_sessions


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
    chosen = Preferences.objects.filter(user=user).values_list("language", flat=True).first()
    with override(chosen or settings.LANGUAGE_CODE):
        subject, text = _mail_about(change, user)
    for address in filter(None, (user.email, before)):
        post_account_mail(
            user=user, to=address, subject=f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}", body=text
        )


def _mail_about(change: AccountChange, user: User) -> tuple[str, str]:
    subject, happened = {
        AccountChange.PASSWORD: (
            gettext("Your password was changed"),
            gettext("The password of your account was changed."),
        ),
        AccountChange.FACTOR_ADDED: (
            gettext("A second factor was added"),
            gettext("A second factor was added to your account."),
        ),
        AccountChange.FACTOR_REMOVED: (
            gettext("A second factor was removed"),
            gettext("A second factor was removed from your account."),
        ),
        AccountChange.CODES_MADE: (
            gettext("You have new recovery codes"),
            gettext("Your account has new recovery codes. The old ones no longer work."),
        ),
        AccountChange.ADDRESS: (
            gettext("Your e-mail was changed"),
            gettext("The e-mail of your account is {email} now.").format(email=user.email),
        ),
    }[change]
    signed_out = gettext("All other devices are signed out.")
    if change == AccountChange.ADDRESS:
        not_you = gettext("If it was not you, tell an admin of your project at once.")
    else:
        not_you = gettext(
            "If it was not you, choose a new password by “Forgotten password?” and revoke your tokens of the "
            "API. Then tell an admin of your project."
        )
    return subject, f"{happened} {signed_out}\n\n{not_you}\n"
