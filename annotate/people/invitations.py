"""Invitations and proven e-mails: signed links, which no table holds, and what a session proves."""

from collections.abc import Iterable
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.core.signing import BadSignature, Signer, TimestampSigner
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import AddressLinkError, InvitationUnusableError
from annotate.core.models import Invitation, User
from annotate.people.mails import post_account_mail

SALT = "annotate.invitation"


def invitation_token(invitation: Invitation) -> str:
    """Return the part of the invitation's link that only this installation can make."""
    return signed_invitation(invitation.pk)


def signed_invitation(key: int) -> str:
    # Without a time: the invitation's row holds its end, and an admin can withdraw it.
    return Signer(salt=SALT).sign(str(key))


def invitation_id(token: str) -> int:
    """Return the key of a token's invitation; raises InvitationUnusableError for a forged one."""
    try:
        return int(Signer(salt=SALT).unsign(token))
    except (BadSignature, ValueError):
        raise InvitationUnusableError(
            gettext(
                "This link is incomplete or comes from another installation. Copy the whole link "
                "from the invitation."
            )
        ) from None


def usable_invitation(token: str) -> Invitation:
    """Return the invitation behind a link; raises InvitationUnusableError with the reason if it has none."""
    invitations = Invitation.objects.select_related("project", "membership", "created_by")
    return refuse_unusable(invitations.filter(pk=invitation_id(token)).first())


def refuse_unusable(invitation: Invitation | None) -> Invitation:
    if invitation is None:
        raise InvitationUnusableError(gettext("This invitation no longer exists. Ask for a new link."))
    if invitation.accepted_at:
        raise InvitationUnusableError(
            gettext("This invitation was already used. Ask for a link of your own.")
        )
    if invitation.withdrawn_at:
        raise InvitationUnusableError(gettext("This invitation was withdrawn. Ask the person who sent it."))
    if invitation.expires_at <= timezone.now():
        raise InvitationUnusableError(gettext("This invitation has ended. Ask for a new link."))
    return invitation


# Two salts, so that a link of one purpose proves nothing for the other.
CHANGE, SIGNUP = "annotate.address.change", "annotate.address.signup"
ADDRESS_LINK_LASTS = timedelta(days=3)


def change_token(user: User, email: str) -> str:
    """Return a token that proves a person reads mail at a new e-mail. Void after the e-mail changes."""
    return TimestampSigner(salt=CHANGE).sign_object([user.pk, user.email, email.strip().lower()])


def proven_change(user: User, token: str) -> str:
    """Return the new e-mail that the token proves for this person. Raises AddressLinkError."""
    whose, present, email = _read_address_link(CHANGE, token)
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
    invitation, email = _read_address_link(SIGNUP, token)
    return int(invitation), str(email)


def send_change_link(user: User, email: str, link: str) -> None:
    asked = gettext(
        "Someone wants to use this e-mail for their account. If it was you, follow this link in "
        "the browser where you are signed in; it works for three days. If it was not you, do "
        "nothing."
    )
    _post_link(email, gettext("Confirm your new e-mail"), f"{asked}\n\n{link}", user=user)


def send_signup_link(email: str, link: str) -> None:
    asked = gettext(
        "An invited person entered this e-mail for a new account. If it was you, follow this link"
        " to create the account; it works for three days. If it was not you, do nothing."
    )
    _post_link(email, gettext("Make your account"), f"{asked}\n\n{link}")


def _read_address_link(salt: str, token: str) -> list[str | int]:
    try:
        values: list[str | int] = TimestampSigner(salt=salt).unsign_object(token, max_age=ADDRESS_LINK_LASTS)
    # The error of an expired signature is a subclass of this one.
    except BadSignature:
        raise AddressLinkError(
            gettext("This link is incomplete, or older than three days. Ask for a new one.")
        ) from None
    return values


def _post_link(email: str, subject: str, text: str, *, user: User | None = None) -> None:
    subject = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}"
    post_account_mail(user=user, to=email, subject=subject, body=f"{text}\n")


INVITATION_IN_SESSION = "invitation"
ADDRESS_IN_SESSION = "proven_address"


def invitation_of(session: SessionBase) -> Invitation | None:
    """Return the invitation that was opened in this session, while it can be accepted."""
    try:
        return usable_invitation(session.get(INVITATION_IN_SESSION, ""))
    except InvitationUnusableError:
        return None


def proven_address(session: SessionBase) -> str:
    """Return the e-mail that this session may create an account for; empty if none is proven.

    A mailed link proves its e-mail for its invitation. An invitation proves the e-mail it is for.
    """
    invitation = invitation_of(session)
    return mailed_address(session) or (invitation.email.lower() if invitation else "")


def mailed_address(session: SessionBase) -> str:
    """Return the e-mail that a mailed link proves for this session's invitation; empty without one."""
    invitation = invitation_of(session)
    try:
        whose, email = proven_signup(session.get(ADDRESS_IN_SESSION, ""))
    except AddressLinkError:
        return ""
    # A link mailed for another invitation proves nothing for this one.
    return email if invitation and whose == invitation.pk else ""


def is_proven(user: User) -> bool:
    """Return True if this person has proven that they read mail at the account's e-mail."""
    return _is_among(
        user, EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    )


def mark_proven(user: User) -> None:
    """Store that the account's present e-mail is proven, and delete any other."""
    EmailAddress.objects.filter(user=user).delete()  # an old e-mail could still sign in
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)


def was_invited(user: User) -> bool:
    """Return True if an admin invited the account's e-mail, and the account accepted the invitation."""
    return _is_among(user, Invitation.objects.filter(accepted_by=user).values_list("email", flat=True))


def _is_among(user: User, addresses: Iterable[str]) -> bool:
    # Lower-cased here: PostgreSQL's iexact compares capitals, and the capital of a dotless i is I.
    return user.email.lower() in {each.lower() for each in addresses}
