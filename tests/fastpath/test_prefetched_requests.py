"""Who sent an answer is read anew for each, although it is asked for before it is known who it is."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from annotate.core.access import token_of
from annotate.core.models import Assignment, Membership, Rating, RatingChange, User
from annotate.fastpath.queries import WORD, Prepared, prefetch_queries
from tests.factories import make_project
from tests.fastpath.fast_path import fast_path  # noqa: F401 - plays each test by both ways
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(client):
    """Two annotators in an open round, the first signed in, who has answered once."""
    cast = make_project(dimensions=("fluency",))
    opened(cast)
    client.force_login(cast.annotators[0].user)
    client.get(reverse("rate", args=[cast.project.slug]), follow=True)
    assert send(client, cast.annotators[0], 1).status_code == 200
    return client, cast


def send(client, membership, value):
    held = Assignment.objects.get(annotator=membership, position=1)
    answer = {"annotator": membership.pk, "assignment": token_of(held), "value": value}
    return client.post(reverse("save_rating", args=[membership.project.slug, 1, "fluency"]), answer)


def test_after_its_session_ended_nothing_is_saved(scene):
    client, cast = scene
    Session.objects.all().delete()
    assert send(client, cast.annotators[0], 2).status_code == 401
    assert Rating.objects.get().value == 1


def test_deactivated_user_saves_nothing(scene):
    client, cast = scene
    User.objects.filter(pk=cast.annotators[0].user_id).update(is_active=False)
    assert send(client, cast.annotators[0], 2).status_code == 401
    assert Rating.objects.get().value == 1


def test_changed_password_blocks_a_prefetched_save(scene):
    client, cast = scene
    user = User.objects.get(pk=cast.annotators[0].user_id)
    user.set_password("changed elsewhere")
    user.save()
    assert send(client, cast.annotators[0], 2).status_code == 401


def test_who_left_the_project_saves_nothing(scene):
    client, cast = scene
    Membership.objects.filter(pk=cast.annotators[0].pk).update(active=False)
    assert send(client, cast.annotators[0], 2).status_code == 410
    assert Rating.objects.get().value == 1


def test_a_session_that_became_someone_elses_saves_as_that_person(scene):
    client, cast = scene
    other, there = cast.annotators[1], Client()
    there.force_login(other.user)
    there.get(reverse("rate", args=[cast.project.slug]), follow=True)
    theirs = Session.objects.get(pk=there.session.session_key)
    Session.objects.filter(pk=client.session.session_key).update(session_data=theirs.session_data)
    assert send(client, cast.annotators[0], 2).json()["code"] == "not_yours"
    assert send(client, other, 3).status_code == 200
    changes = RatingChange.objects.order_by("pk").values_list("actor", "value_after")
    assert list(changes) == [(cast.annotators[0].user_id, 1), (other.user_id, 3)]


def test_prefetched_result_is_used_once_and_only_inside_the_block(django_assert_num_queries):
    slug = make_project().project.slug
    memberships = Prepared(lambda slug: Membership.objects.filter(project__slug=slug), WORD)
    with django_assert_num_queries(1), prefetch_queries((memberships, (slug,))):
        before = memberships.all(slug)
    Membership.objects.filter(project__slug=slug).update(active=False)
    with prefetch_queries((memberships, ("another",))), django_assert_num_queries(1):
        assert not any(each.active for each in memberships.all(slug))
    with prefetch_queries((memberships, (slug,))):
        memberships.all(slug)
        with django_assert_num_queries(1):
            assert len(memberships.all(slug)) == len(before)
