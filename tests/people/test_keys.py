"""The keys of the rating page: sets, a person's own, and what cannot be a key."""

import json
import re

import pytest
from django.urls import reverse

from annotate.core.keys import ACTIONS, KeySet, problems_of
from annotate.core.models import Preferences
from tests.factories import make_project
from tests.rating.rounds import opened

PAGE = "/account/keys/"


@pytest.mark.parametrize("key_set", KeySet.values)
def test_a_set_has_no_key_twice(key_set):
    assert problems_of(key_set, {}) == {}
    letters = [getattr(each, key_set) for each in ACTIONS if getattr(each, key_set)]
    assert len(letters) >= 11


@pytest.mark.parametrize(
    ("own", "field", "says"),
    [
        ({"find": "u"}, "find", "“u” is the key of “unsure"),
        ({"find": "m", "comment": "m"}, "find", "“m” is the key of “comment"),
        ({"find": "3"}, "find", "“3” is the key of “rate”"),
        ({"values": "asdfe"}, "evidence", "“e” is the key of “rate”"),
        ({"values": "aa"}, "values", "needs its own key"),
        ({"values": "9"}, "values", "needs its own key"),
        ({"values": "a b"}, "values", "without blanks"),
        ({"find": "ctrl+f"}, "find", "belong to the browser"),
        ({"find": "?"}, "find", "opens the help"),
        ({"find": "Enter"}, "find", "one character"),
        ({"find": "\t"}, "find", "one character"),
    ],
)
def test_invalid_key_is_rejected_at_its_field(own, field, says):
    found = problems_of(KeySet.USUAL, own)
    assert list(found) == [field]
    assert says in found[field]


def test_two_actions_may_change_their_keys():
    assert problems_of(KeySet.USUAL, {"unsure": "c", "comment": "u", "values": "qwrty", "find": "ö"}) == {}


@pytest.fixture
def scene(db, client):
    """An open round, an annotator signed in."""
    cast = make_project(documents=1)
    opened(cast)
    client.force_login(cast.annotators[0].user)
    return client, cast


def told(client, cast):
    """Return what the rating page is told of keys."""
    html = client.get(reverse("rate", args=[cast.project.slug]), follow=True).content.decode()
    found = re.search(r'<script id="key-map" type="application/json">(.*?)</script>', html)
    assert found
    return json.loads(found[1])


def test_keys_are_stored_for_the_person_and_reach_the_rating_page(scene):
    client, cast = scene
    before = told(client, cast)
    assert (before["values"], before["keys"]["unsure"], before["advance"]) == ("1234567890", "u", False)
    chosen = {"key_set": "left", "goes_on": "on", "values": "ASDFG", "unmark": "delete", "find": ""}
    others = {"down": "j", "back": "h", "next": "l"}
    refused = client.post(PAGE, chosen)
    assert refused.status_code == 422
    assert "“f” is the key of “rate”" in refused.content.decode()
    assert not Preferences.objects.exists()
    own = {**chosen, **others, "find": "/", "first_unrated": "n", "flagged": "m"}
    item = reverse("rate_item", args=[cast.project.slug, 1])
    reply = client.post(f"{PAGE}?next={item}", own)
    assert reply.url == item
    after = told(client, cast)
    assert (after["values"], after["advance"]) == ("asdfg67890", True)
    keys = after["keys"]
    assert [keys[each] for each in ("unmark", "unsure", "down", "find")] == ["Delete", "q", "j", "/"]
    client.force_login(cast.annotators[1].user)
    assert told(client, cast) == before


def test_nothing_leads_to_another_host(scene):
    client, _ = scene
    reply = client.post(f"{PAGE}?next=https://elsewhere.example/", {"key_set": "usual"})
    assert reply.url == PAGE


def test_keys_need_a_person(client, db):
    assert client.get(PAGE).status_code == 302
