"""People of an installation, and their memberships and permissions."""

from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from annotate.core.models import ApiToken, Membership, User
from annotate.people.second_factor import has_second_factor
from annotate.people.sessions import sessions_of

MOST_SHOWN = 200


@dataclass(frozen=True)
class Access:
    memberships: list[Membership]
    sessions: int
    tokens: int
    has_second_factor: bool


def people_of_installation(word: str) -> list[User]:
    """Return the people whose name or e-mail contains `word`, blocked ones first. One query."""
    named = Q(name__icontains=word) | Q(email__icontains=word)
    memberships = Count("memberships", filter=Q(memberships__active=True))
    found = User.objects.filter(named).annotate(places=memberships)
    return list(found.order_by("is_active", "name", "email")[: MOST_SHOWN + 1])


def access_of(person: User) -> Access:
    """Return a person's permissions with their sources. Four queries."""
    memberships = (
        Membership.objects.filter(user=person).select_related("project").order_by("project__name", "pk")
    )
    usable = ApiToken.objects.filter(user=person, revoked_at=None, expires_at__gt=timezone.now())
    return Access(list(memberships), sessions_of(person).count(), usable.count(), has_second_factor(person))
