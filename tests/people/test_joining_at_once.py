"""People who follow their links at the same moment, on connections of their own."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from annotate.core.errors import InvitationUnusableError
from annotate.core.models import Membership, Role, User
from annotate.people.commands import accept_invitation, add_member, invite
from annotate.people.invitations import invitation_token
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)


def accept(token: str, user: User) -> str:
    try:
        return accept_invitation(token=token, user=user).alias
    except InvitationUnusableError:
        return "refused"
    finally:
        connections.close_all()


def accept_at_once(tokens: list[str]) -> list[str]:
    users = [make_user() for _ in tokens]
    with ThreadPoolExecutor(len(tokens)) as pool:
        return sorted(pool.map(accept, tokens, users))


def test_each_annotator_gets_a_separate_alias() -> None:
    cast = make_project(annotators=1)
    offers = [invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR) for _ in range(6)]
    assert accept_at_once([invitation_token(offer) for offer in offers]) == ["B", "C", "D", "E", "F", "G"]


def test_one_link_lets_one_person_in() -> None:
    cast = make_project(annotators=0)
    token = invitation_token(invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR))
    assert accept_at_once([token] * 5) == ["A", "refused", "refused", "refused", "refused"]


def test_one_empty_membership_accepts_one_person() -> None:
    cast = make_project(annotators=0)
    membership = add_member(project=cast.project, role=Role.ANNOTATOR, label="A1")
    offers = [
        invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, membership=membership)
        for _ in range(4)
    ]
    assert accept_at_once([invitation_token(offer) for offer in offers]) == ["A"] + ["refused"] * 3
    assert Membership.objects.get(role=Role.ANNOTATOR).user
