"""Invitation links: a signed number, so that the link is a secret and the database holds none."""

from django.core.signing import BadSignature, Signer
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import InvitationUnusableError
from annotate.core.models import Invitation

SALT = "annotate.invitation"


def invitation_token(invitation: Invitation) -> str:
    """Return the part of the invitation's link that only this installation can make."""
    return signed_invitation(invitation.pk)


def signed_invitation(key: int) -> str:
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
    invitations = Invitation.objects.select_related("project", "place", "created_by")
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
