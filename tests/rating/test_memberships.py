"""Places in a project: who gets which letter and label, and what closing one means."""

import pytest
from django.db import IntegrityError

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import Membership, Role
from annotate.people.commands import add_member, deactivate_member, reactivate_member
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def test_annotators_get_the_letters_in_order_and_others_none() -> None:
    cast = make_project(annotators=3)
    assert [membership.alias for membership in cast.annotators] == ["A", "B", "C"]
    assert Membership.objects.get(project=cast.project, role=Role.ADMIN).alias == ""


def test_after_z_comes_aa() -> None:
    cast = make_project(annotators=26)
    assert cast.annotators[-1].alias == "Z"
    assert [make_member(cast.project).alias for _ in range(2)] == ["AA", "AB"]


def test_repeated_addition_of_a_person_gives_the_same_membership() -> None:
    cast, user = make_project(), make_user()
    first = add_member(project=cast.project, role=Role.ANNOTATOR, user=user)
    assert add_member(project=cast.project, role=Role.ANNOTATOR, user=user) == first


def test_one_person_can_hold_two_roles() -> None:
    cast = make_project(annotators=0)
    membership = add_member(project=cast.project, role=Role.ANNOTATOR, user=cast.admin)
    assert (membership.role, membership.alias) == ("annotator", "A")


def test_empty_membership_matches_again_by_its_label() -> None:
    project = make_project(annotators=0).project
    first = add_member(project=project, role=Role.ANNOTATOR, label="A1")
    assert first.user is None
    assert add_member(project=project, role=Role.ANNOTATOR, label="A1") == first
    assert add_member(project=project, role=Role.ANNOTATOR, label="A2").alias == "B"


def test_label_finds_its_membership_after_a_person_joins() -> None:
    project = make_project(annotators=0).project
    membership = add_member(project=project, role=Role.ANNOTATOR, label="A1")
    Membership.objects.filter(pk=membership.pk).update(user=make_user())
    assert add_member(project=project, role=Role.ANNOTATOR, label="A1") == membership


def test_two_annotators_of_one_name_get_labels_that_differ() -> None:
    project = make_project(annotators=0).project
    labels = [make_member(project, user=make_user(name="Ann")).label for _ in range(3)]
    assert labels == ["Ann", "Ann 2", "Ann 3"]


@pytest.mark.parametrize(
    ("role", "label"), [(Role.ADMIN, "A1"), (Role.RESEARCHER, "A1"), (Role.ANNOTATOR, "")]
)
def test_only_labelled_annotator_memberships_can_be_empty(role: Role, label: str) -> None:
    project = make_project().project
    with pytest.raises(InvalidValueError):
        add_member(project=project, role=role, label=label)


def test_database_rejects_a_duplicate_alias() -> None:
    cast = make_project(annotators=2)
    with pytest.raises(IntegrityError):
        Membership.objects.filter(pk=cast.annotators[1].pk).update(alias="A")


def test_closed_membership_keeps_its_alias_and_reopens() -> None:
    cast = make_project(annotators=1)
    membership = cast.annotators[0]
    deactivate_member(membership=membership)
    deactivate_member(membership=membership)
    assert make_member(cast.project).alias == "B"
    reactivate_member(membership=membership)
    membership.refresh_from_db()
    assert (membership.active, membership.alias) == (True, "A")


def test_the_last_admin_stays() -> None:
    cast = make_project()
    membership = Membership.objects.get(project=cast.project, role=Role.ADMIN)
    with pytest.raises(NotReadyError):
        deactivate_member(membership=membership)
    make_member(cast.project, Role.ADMIN)
    deactivate_member(membership=membership)
    membership.refresh_from_db()
    assert not membership.active
