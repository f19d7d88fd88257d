"""Links that prove an e-mail: signed, mailed to that e-mail only, and never stored."""

from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.utils.translation import gettext

from annotate.core.errors import AddressLinkError
from annotate.core.models import Invitation, User
from annotate.people.account_mail import post_account_mail

CHANGE, SIGNUP = "annotate.address.change", "annotate.address.signup"
LASTS = timedelta(days=3)


def change_token(user: User, email: str) -> str:
    """Return a token that proves a person reads mail at a new e-mail. Void after the e-mail changes."""
    return TimestampSigner(salt=CHANGE).sign_object([user.pk, user.email, email.strip().lower()])


def proven_change(user: User, token: str) -> str:
    """Return the new e-mail that the token proves for this person. Raises AddressLinkError."""
    whose, present, email = _read(CHANGE, token)
    if (whose, present) != (user.pk, user.email):
        raise AddressLinkError(
            gettext("This link belongs to another account, or was already used. Sign in to that account.")
        )
    return str(email)


def signup_token(invitation: Invitation, email: str) -> str:
    """Return a token that proves the holder of this invitation reads mail at an e-mail."""
    return TimestampSigner(salt=SIGNUP).sign_object([invitation.pk, email.strip().lower()])


def proven_signup(token: str) -> tuple[int, str]:
    """Return the key of the invitation and the e-mail that a token proves. Raises AddressLinkError."""
    invitation, email = _read(SIGNUP, token)
    return int(invitation), str(email)


def send_change_link(user: User, email: str, link: str) -> None:
    asked = gettext(
        "Someone wants to use this e-mail for their account. If it was you, follow this link in "
        "the browser where you are signed in; it works for three days. If it was not you, do "
        "nothing."
    )
    _send(email, gettext("Confirm your new e-mail"), f"{asked}\n\n{link}", user=user)


def send_signup_link(email: str, link: str) -> None:
    asked = gettext(
        "An invited person entered this e-mail for a new account. If it was you, follow this link"
        " to create the account; it works for three days. If it was not you, do nothing."
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


def _send(email: str, subject: str, text: str, *, user: User | None = None) -> None:
    subject = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}"
    post_account_mail(user=user, to=email, subject=subject, body=f"{text}\n")
