"""Links that prove an address: signed, mailed to that address only, and kept nowhere."""

from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.utils.translation import gettext

from annotate.core.errors import AddressLinkError
from annotate.core.mails import send_mail
from annotate.core.models import Invitation, User

CHANGE, SIGNUP = "annotate.address.change", "annotate.address.signup"
LASTS = timedelta(days=3)


def change_token(user: User, email: str) -> str:
    """Return what proves that this person reads mail at a new address; void once the address changed."""
    return TimestampSigner(salt=CHANGE).sign_object([user.pk, user.email, email.strip().lower()])


def proven_change(user: User, token: str) -> str:
    """Return the new address that the token proves for this person. Raises AddressLinkError."""
    whose, present, email = _read(CHANGE, token)
    if (whose, present) != (user.pk, user.email):
        raise AddressLinkError(
            gettext("This link was made for another account, or was already used. Sign in to that account.")
        )
    return str(email)


def signup_token(invitation: Invitation, email: str) -> str:
    """Return what proves that whoever holds this invitation reads mail at an address."""
    return TimestampSigner(salt=SIGNUP).sign_object([invitation.pk, email.strip().lower()])


def proven_signup(token: str) -> tuple[int, str]:
    """Return the key of the invitation and the address that a token proves. Raises AddressLinkError."""
    invitation, email = _read(SIGNUP, token)
    return int(invitation), str(email)


def send_change_link(email: str, link: str) -> None:
    """Send the link to the new address; call it outside any transaction. Raises MailError."""
    asked = gettext(
        "Someone wants this to be the address of their account. If it was you, follow this link where you "
        "are signed in; it works for three days. If it was not you, do nothing."
    )
    _send(email, gettext("Confirm your new address"), f"{asked}\n\n{link}")


def send_changed(email: str, now: str) -> None:
    """Tell the old address which one took its place; call it outside any transaction. Raises MailError."""
    told = gettext(
        "The address of your account is {email} now. If it was not you, tell an admin of your project at "
        "once."
    ).format(email=now)
    _send(email, gettext("Your address was changed"), told)


def send_signup_link(email: str, link: str) -> None:
    """Send the link that goes on with making an account. Raises MailError."""
    asked = gettext(
        "Someone who was invited gave this address for a new account. If it was you, follow this link to "
        "make the account; it works for three days. If it was not you, do nothing."
    )
    _send(email, gettext("Make your account"), f"{asked}\n\n{link}")


def _read(salt: str, token: str) -> list[str | int]:
    try:
        values: list[str | int] = TimestampSigner(salt=salt).unsign_object(token, max_age=LASTS)
    except BadSignature:
        raise AddressLinkError(
            gettext("This link is incomplete, or older than three days. Ask for a new one.")
        ) from None
    return values


def _send(email: str, subject: str, text: str) -> None:
    send_mail(
        to=email,
        subject=f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}",
        body=f"{text}\n",
        not_sent=gettext("No mail could be sent to {email}. Try again later."),
    )
