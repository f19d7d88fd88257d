"""Session data between opening an invitation's link and signing up."""

from django.contrib.sessions.backends.base import SessionBase

from annotate.core.errors import AddressLinkError, InvitationUnusableError
from annotate.core.models import Invitation
from annotate.people.addresses import proven_signup
from annotate.people.invitations import usable_invitation

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
    return email if invitation and whose == invitation.pk else ""
