"""Invitations: offered, accepted once, withdrawn, ended, forged."""

from datetime import timedelta

import pytest
from django.core.signing import Signer
from django.utils import timezone

from annotate.core.errors import InvitationUnusableError, NotReadyError
from annotate.core.models import Invitation, Membership, Role
from annotate.people.commands import (
    accept_invitation,
    add_member,
    deactivate_member,
    invite,
    withdraw_invitation,
)
from annotate.people.invitations import invitation_token, usable_invitation
from tests.factories import Cast, make_project, make_user

pytestmark = pytest.mark.django_db


def make_scene() -> Cast:
    return make_project(annotators=2)


def invitation_of(
    cast: Cast, role: Role = Role.ANNOTATOR, membership: Membership | None = None
) -> Invitation:
    return invite(project=cast.project, by=cast.admin, role=role, membership=membership)


def accept(invitation: Invitation, cast: Cast) -> Membership:
    return accept_invitation(token=invitation_token(invitation), user=cast.outsider)


def test_accepted_invitation_creates_a_membership_in_its_role(cast: Cast) -> None:
    membership = accept(invitation_of(cast), cast)
    assert (membership.role, membership.alias, membership.label) == ("annotator", "C", cast.outsider.name)
    assert membership.user == cast.outsider


def test_researcher_gets_no_alias(cast: Cast) -> None:
    assert accept(invitation_of(cast, Role.RESEARCHER), cast).alias == ""


def test_repeated_acceptance_gives_the_same_membership(cast: Cast) -> None:
    invitation = invitation_of(cast)
    assert accept(invitation, cast) == accept(invitation, cast)


def test_a_link_serves_one_person(cast: Cast) -> None:
    invitation = invitation_of(cast)
    accept(invitation, cast)
    with pytest.raises(InvitationUnusableError, match="already used"):
        accept_invitation(token=invitation_token(invitation), user=make_user())


def test_invitation_fills_an_empty_membership_and_keeps_its_label(cast: Cast) -> None:
    empty = add_member(project=cast.project, role=Role.ANNOTATOR, label="A1")
    membership = accept(invitation_of(cast, membership=empty), cast)
    assert membership == empty
    assert (membership.label, membership.user) == ("A1", cast.outsider)


def test_two_links_to_one_empty_membership_fill_it_once(cast: Cast) -> None:
    empty = add_member(project=cast.project, role=Role.ANNOTATOR, label="A1")
    first, second = invitation_of(cast, membership=empty), invitation_of(cast, membership=empty)
    accept(first, cast)
    with pytest.raises(InvitationUnusableError, match="already used this invitation"):
        accept_invitation(token=invitation_token(second), user=make_user())


def test_occupied_membership_cannot_get_an_invitation(cast: Cast) -> None:
    with pytest.raises(NotReadyError):
        invitation_of(cast, membership=cast.annotators[0])


def test_existing_member_does_not_use_the_link_up(cast: Cast) -> None:
    invitation, annotator = invitation_of(cast), cast.annotators[0].user
    assert annotator
    with pytest.raises(InvitationUnusableError, match="already"):
        accept_invitation(token=invitation_token(invitation), user=annotator)
    assert accept(invitation, cast).user == cast.outsider


def test_no_link_reopens_a_closed_membership_and_none_is_used_up(cast: Cast) -> None:
    annotator = cast.annotators[0]
    deactivate_member(membership=annotator)
    empty = add_member(project=cast.project, role=Role.ANNOTATOR, label="A1")
    assert annotator.user
    for invitation in (invitation_of(cast), invitation_of(cast, membership=empty)):
        with pytest.raises(InvitationUnusableError, match="is closed"):
            accept_invitation(token=invitation_token(invitation), user=annotator.user)
        annotator.refresh_from_db()
        assert not annotator.active
        assert usable_invitation(invitation_token(invitation)) == invitation


def test_withdrawn_link_is_reported(cast: Cast) -> None:
    invitation = invitation_of(cast)
    withdraw_invitation(invitation=invitation)
    withdraw_invitation(invitation=invitation)
    with pytest.raises(InvitationUnusableError, match="withdrawn"):
        accept(invitation, cast)


def test_withdrawing_an_accepted_invitation_changes_nothing(cast: Cast) -> None:
    invitation = invitation_of(cast)
    accept(invitation, cast)
    withdraw_invitation(invitation=invitation)
    invitation.refresh_from_db()
    assert invitation.withdrawn_at is None


def test_a_link_ends_after_fourteen_days(cast: Cast) -> None:
    invitation = invitation_of(cast)
    assert timedelta(days=13) < invitation.expires_at - timezone.now() <= timedelta(days=14)
    Invitation.objects.update(expires_at=timezone.now())
    with pytest.raises(InvitationUnusableError, match="has ended"):
        accept(invitation, cast)


@pytest.mark.parametrize("changed", ["{pk}", "{pk}:forged", "nonsense", "", "{pk}{token}", "{token}x"])
def test_a_forged_link_is_no_link(cast: Cast, changed: str) -> None:
    invitation = invitation_of(cast)
    token = changed.format(pk=invitation.pk, token=invitation_token(invitation))
    with pytest.raises(InvitationUnusableError, match="incomplete"):
        usable_invitation(token)


def test_a_number_signed_for_another_purpose_is_no_link(cast: Cast) -> None:
    with pytest.raises(InvitationUnusableError, match="incomplete"):
        usable_invitation(Signer(salt="elsewhere").sign(str(invitation_of(cast).pk)))


def test_deleted_invitation_is_reported(cast: Cast) -> None:
    invitation = invitation_of(cast)
    token = invitation_token(invitation)
    invitation.delete()
    with pytest.raises(InvitationUnusableError, match="no longer exists"):
        usable_invitation(token)
