"""Who gets at what: a person's own active places, and nothing through empty ones."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from annotate.core import access
from annotate.core.models import Role
from annotate.people.commands import add_member, deactivate_member
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_empty_membership_gives_access_to_no_one() -> None:
    project = make_project(annotators=0).project
    add_member(project=project, role=Role.ANNOTATOR, label="A1")
    assert not access.projects_of(AnonymousUser()).exists()
    assert not access.roles_in(AnonymousUser(), project)
    with pytest.raises(Http404):
        access.membership(AnonymousUser(), project.slug)


def test_a_person_sees_only_their_own_projects() -> None:
    cast, other = make_project(), make_project()
    assert list(access.projects_of(cast.admin)) == [cast.project]
    with pytest.raises(Http404):
        access.membership(cast.admin, other.project.slug)


def test_role_opens_only_its_own_pages() -> None:
    cast = make_project()
    assert access.project_for_reader(cast.researcher, cast.project.slug) == cast.project
    with pytest.raises(Http404):
        access.project_for_admin(cast.researcher, cast.project.slug)
    assert cast.annotators[0].user
    with pytest.raises(Http404):
        access.project_for_reader(cast.annotators[0].user, cast.project.slug)


def test_closed_membership_opens_nothing() -> None:
    cast = make_project()
    user = cast.annotators[0].user
    assert user
    deactivate_member(membership=cast.annotators[0])
    assert not access.projects_of(user).exists()
    with pytest.raises(Http404):
        access.membership(user, cast.project.slug)


def test_only_staff_and_admins_create_projects() -> None:
    cast = make_project()
    assert access.may_begin_projects(cast.admin)
    assert not access.may_begin_projects(cast.researcher)
    assert not access.may_begin_projects(cast.outsider)
    assert not access.may_begin_projects(AnonymousUser())
    cast.outsider.is_staff = True
    assert access.may_begin_projects(cast.outsider)


def test_parts_of_another_project_are_not_there() -> None:
    cast, other = make_project(), make_project(dimensions=("relevance",))
    with pytest.raises(Http404):
        access.dimension_in(cast.project, other.dimensions[0].key)
    with pytest.raises(Http404):
        access.membership_in(cast.project, other.annotators[0].pk)
