"""Blocking and unblocking people. Their work stays."""

from django.db import transaction
from django.utils.translation import gettext

from annotate.api.tokens import revoke_tokens
from annotate.core.errors import InvalidValueError
from annotate.core.models import Invitation, User
from annotate.people.acts import record_everywhere
from annotate.people.commands import withdraw_invitation
from annotate.people.sessions import end_sessions


@transaction.atomic
def block_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Block sign-in, end all sessions, revoke the tokens and withdraw the invitations of a person.

    Adds one event to each of their projects. Locks the person's row and the projects that they invited to.
    by: None on the command line. Raises InvalidValueError if they would block themselves.
    """
    if by is not None and by.pk == user.pk:
        raise InvalidValueError(gettext("You cannot block yourself: another operator can."))
    person = User.objects.select_for_update().get(pk=user.pk)
    was_active, person.is_active = person.is_active, False
    person.save(update_fields=["is_active"])
    withdraw_invitations_of(person)
    ended = {"tokens": revoke_tokens(user=person), "sessions": end_sessions(user=person)}
    if was_active:
        record_everywhere(person, "person.blocked", by=by, note=note, **ended)
    return person


@transaction.atomic
def unblock_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Let a person sign in again; their tokens stay revoked. Locks the person's row."""
    person = User.objects.select_for_update().get(pk=user.pk)
    was_active, person.is_active = person.is_active, True
    person.save(update_fields=["is_active"])
    if not was_active:
        record_everywhere(person, "person.unblocked", by=by, note=note)
    return person


def withdraw_invitations_of(person: User) -> None:
    """Withdraw a person's invitations: through their own link they could return under another name."""
    made = Invitation.objects.filter(created_by=person, accepted_at=None, withdrawn_at=None)
    for invitation in made.select_related("project").order_by("project", "pk"):
        withdraw_invitation(invitation=invitation)
