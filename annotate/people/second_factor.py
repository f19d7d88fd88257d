"""A second factor (codes of an app, passkeys, recovery codes): what allauth leaves to us."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from annotate.core.access import FACTORS
from annotate.core.models import User
from annotate.people.acts import record_everywhere

ADDED, REMOVED = "person.second_factor_added", "person.second_factor_removed"


def has_second_factor(user: User) -> bool:
    """Return whether a person signs in with more than a password."""
    return bool(Authenticator.objects.filter(user=user, type__in=FACTORS).exists())


@transaction.atomic
def remove_second_factor(*, user: User, by: User | None = None, note: str = "") -> int:
    """Let a person who lost app and codes sign in by password alone; nothing happens where there is none.

    Each of their projects is told. Locks the person's row. Returns how many factors were removed.
    """
    person = User.objects.select_for_update().get(pk=user.pk)
    count: int = Authenticator.objects.filter(user=person).delete()[0]
    if count:
        record_everywhere(person, REMOVED, by=by, note=note)
    return count


def record_own_change(user: User, act: str, *, kind: str) -> None:
    """Record in each of a person's projects that they added or removed one, in the caller's transaction."""
    record_everywhere(user, act, by=user, note="", kind=kind)
