"""What is new in the list of disputes since one last looked."""

import re

import pytest
from django.urls import reverse

from annotate.core.models import DisputeLook
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, ask_again, post_message, take_back
from tests.factories import make_project
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(client):
    """One unit rated 1, 3 and 5 is discussed; the first of its raters is signed in."""
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    client.force_login(cast.annotators[0].user)
    return client, cast, dispute


def look(client, cast, *, user=None, **headers):
    if user:
        client.force_login(user)
    return client.get(reverse("dispute", args=[cast.project.slug, 1]), headers=headers)


def news(client, cast):
    html = client.get(reverse("disputes", args=[cast.project.slug])).content.decode()
    return re.findall(r'<span class="pill[^"]*">([^<]*)</span>', html)


def test_what_others_did_is_new_until_one_looks(scene):
    client, cast, dispute = scene
    me, second, third = cast.annotators
    assert news(client, cast) == ["not viewed yet"]
    look(client, cast)
    assert news(client, cast) == []
    post_message(dispute=dispute, author=second, text="Why?")
    post_message(dispute=dispute, author=second, text="Really?")
    answer_dispute(dispute=dispute, rater=third, value=None, comment="Because.")
    assert news(client, cast) == ["2 new posts", "1 new answer"]
    look(client, cast)
    assert news(client, cast) == []
    assert DisputeLook.objects.get().rater == me


def test_what_one_does_oneself_is_not_new(scene):
    client, cast, dispute = scene
    me = cast.annotators[0]
    look(client, cast)
    post_message(dispute=dispute, author=me, text="Why?")
    answer_dispute(dispute=dispute, rater=me, value=2)
    take_back(dispute=dispute, rater=me, revision=1)
    assert news(client, cast) == []


def test_what_others_settled_decided_or_opened_again_is_new(scene):
    client, cast, dispute = scene
    look(client, cast)
    for rater in cast.annotators[1:]:
        answer_dispute(dispute=dispute, rater=rater, value=2)
    assert news(client, cast) == ["now settled", "2 new answers"]
    look(client, cast)
    ask_again(dispute=dispute, note="Read the guideline.", by=cast.admin)
    assert news(client, cast) == ["open again"]
    look(client, cast)
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    assert news(client, cast) == ["now adjudicated"]


def test_an_open_window_that_follows_others_has_looked(scene):
    client, cast, dispute = scene
    address = re.search(r'hx-get="([^"]*)"', look(client, cast).content.decode())
    assert address is not None
    post_message(dispute=dispute, author=cast.annotators[1], text="Why?")
    assert client.get(address[1], headers={"HX-Request": "true"}).status_code == 200
    assert news(client, cast) == []


def test_who_only_reads_leaves_no_look(scene):
    client, cast, _ = scene
    look(client, cast, user=cast.researcher)
    look(client, cast, user=cast.admin)
    assert not DisputeLook.objects.exists()
