"""People of a project, and who is invited to it."""

from dataclasses import dataclass

from django.utils import timezone

from annotate.invitations import invitation_token
from annotate.models import Invitation, Membership, Project


@dataclass(frozen=True)
class PendingInvitation:
    """An invitation that can still be accepted, with the part of its link that is secret."""

    invitation: Invitation
    token: str


@dataclass(frozen=True)
class Place:
    """A place in the project; `pending` are the links that would fill it."""

    membership: Membership
    pending: list[PendingInvitation]


@dataclass(frozen=True)
class People:
    """Everyone in a project: the places, and the invitations to places that are yet to be made."""

    places: list[Place]
    pending: list[PendingInvitation]


def people_of(project: Project) -> People:
    """Return a project's people for its admins, active ones first, by role and letter. Two queries."""
    open_ones = Invitation.objects.filter(
        project=project, accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now()
    )
    pending = [PendingInvitation(one, invitation_token(one)) for one in open_ones.order_by("pk")]
    members = Membership.objects.filter(project=project).select_related("user")
    return People(
        places=[
            Place(member, [one for one in pending if one.invitation.place_id == member.pk])
            for member in members.order_by("-active", "role", "pk")
        ],
        pending=[one for one in pending if one.invitation.place_id is None],
    )
