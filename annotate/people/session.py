"""What the session of a visitor keeps between an invitation's link and the account that is made by it."""

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
    """Return the address that this session may make an account for; empty where none is proven.

    A link that was mailed proves its address for its invitation, and an invitation the address it is for.
    """
    invitation = invitation_of(session)
    if invitation is None:
        return ""
    try:
        whose, email = proven_signup(session.get(ADDRESS_IN_SESSION, ""))
    except AddressLinkError:
        return invitation.email.lower()
    return email if whose == invitation.pk else invitation.email.lower()
