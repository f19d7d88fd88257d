"""Acts on a second factor, and the record of a change of an account in all projects of the person."""

import logging

from allauth.mfa.models import Authenticator
from django.db import transaction

from annotate.core.access import FACTORS
from annotate.core.audit import record
from annotate.core.models import Membership, User
from annotate.people.mails import AccountChange, note_account_change

logger = logging.getLogger(__name__)


def record_everywhere(person: User, act: str, *, by: User | None, note: str, **after: object) -> None:
    """Record an act once in each project of the person, in the caller's transaction, and in the log."""
    logger.warning("%s: account %d, by account %s", act, person.pk, by.pk if by else "(command line)")
    memberships = Membership.objects.filter(user=person).select_related("project").order_by("project", "pk")
    # One entry for each project, also with several roles in it.
    by_project = {membership.project_id: membership for membership in memberships}
    for membership in by_project.values():
        record(membership.project, act, person, after={"email": person.email, **after}, note=note, by=by)


ADDED, REMOVED = "person.second_factor_added", "person.second_factor_removed"


def has_second_factor(user: User) -> bool:
    return bool(Authenticator.objects.filter(user=user, type__in=FACTORS).exists())


@transaction.atomic
def remove_second_factor(*, user: User, by: User | None = None, note: str = "") -> int:
    """Let a person who lost app and codes sign in by password alone; does nothing without a second factor.

    Adds an event to each of their projects, notifies the person and ends their sessions. Locks the person's
    row. Returns the number of removed factors.
    """
    person = User.objects.select_for_update().get(pk=user.pk)
    count: int = Authenticator.objects.filter(user=person).delete()[0]
    if count:
        record_everywhere(person, REMOVED, by=by, note=note)
        note_account_change(user=person, change=AccountChange.FACTOR_REMOVED, session=None, by=by)
    return count


def record_own_change(user: User, change: AccountChange, *, kind: str, session: str | None) -> None:
    """Record in each of a person's projects that they added or removed a factor, and notify the person.

    session: the session of the change, which stays. Call it in the transaction of the change.
    """
    act = ADDED if change == AccountChange.FACTOR_ADDED else REMOVED
    record_everywhere(user, act, by=user, note="", kind=kind)
    note_account_change(user=user, change=change, session=session)
