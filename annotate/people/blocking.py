"""Keeping a person out of the installation, and letting them in again. What they did stays."""

import logging

from django.db import transaction
from django.utils.translation import gettext

from annotate.api.commands import revoke_tokens
from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.models import Membership, User
from annotate.people.sessions import end_sessions

logger = logging.getLogger(__name__)


@transaction.atomic
def block_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Let a person sign in no more, sign them out everywhere and revoke all their tokens.

    Each of their projects is told, once. Locks the person's row. by: None on the command line. Raises
    InvalidValueError for who would block themselves.
    """
    if by is not None and by.pk == user.pk:
        raise InvalidValueError(gettext("You cannot block yourself: another operator can."))
    person = User.objects.select_for_update().get(pk=user.pk)
    was_active, person.is_active = person.is_active, False
    person.save(update_fields=["is_active"])
    ended = {"tokens": revoke_tokens(user=person), "sessions": end_sessions(user=person)}
    if was_active:
        _record(person, "person.blocked", by=by, note=note, **ended)
    return person


@transaction.atomic
def unblock_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Let a person sign in again; their tokens stay revoked. Locks the person's row."""
    person = User.objects.select_for_update().get(pk=user.pk)
    was_active, person.is_active = person.is_active, True
    person.save(update_fields=["is_active"])
    if not was_active:
        _record(person, "person.unblocked", by=by, note=note)
    return person


def _record(person: User, act: str, *, by: User | None, note: str, **after: int) -> None:
    logger.warning("%s: account %d, by account %s", act, person.pk, by.pk if by else "(command line)")
    places = Membership.objects.filter(user=person).select_related("project").order_by("project", "pk")
    by_project = {place.project_id: place for place in places}
    for place in by_project.values():
        record(place.project, act, person, after={"email": person.email, **after}, note=note, by=by)
