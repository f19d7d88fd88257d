"""Wording changed in an open round: versions, what each rating was given under, asking again."""

import re

import pytest
from django.urls import reverse

from annotate.core.access import token_of
from annotate.core.models import Assignment, Dimension, Rating, RatingChange, Round
from annotate.exports.registry import TABLES
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.setup.queries import ratings_to_ask_again, wording
from tests.factories import make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(client):
    """An open round in which one annotator has rated the first item; the admin is signed in."""
    cast = make_project(documents=1, systems=1, dimensions=("fluency",))
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 4)
    client.force_login(cast.admin)
    return client, cast


FORM = {
    "name": "Fluency",
    "definition": "Read it aloud.",
    "scale_minimum": "1",
    "scale_maximum": "5",
    "guidelines": "",
    "label_1": "fluency 1",
    "description_1": "What 1 means.",
    "label_5": "fluency 5",
    "description_5": "No mistake at all.",
    "note": "Raters asked what counts.",
}


def reword(client, cast, **other):
    return client.post(f"/projects/{cast.project.slug}/dimensions/fluency/", FORM | other)


def round_of(cast):
    return Round.objects.select_related("guideline").get(project=cast.project, number=1)


def send(client, cast, **answer):
    """Save an answer as the page of the first annotator does."""
    held = Assignment.objects.get(annotator=cast.annotators[0])
    url = reverse("save_rating", args=[cast.project.slug, held.position, "fluency"])
    client.force_login(cast.annotators[0].user)
    reply = client.post(url, {"annotator": cast.annotators[0].pk, "assignment": token_of(held), **answer})
    assert reply.status_code == 200
    return reply.json()


def versions(table, cast):
    return [row["guideline_version"] for row in TABLES[table].rows(cast.project)]


def test_wording_changed_in_an_open_round_is_a_new_version_with_its_reason(scene):
    client, cast = scene
    assert reword(client, cast).status_code == 302
    version = round_of(cast).guideline
    assert (version.version, version.note, version.made_by) == (2, "Raters asked what counts.", cast.admin)
    found = wording(cast.project)[0]
    assert [(each.guideline.version, each.ratings) for each in found] == [
        (2, {"fluency": 0}),
        (1, {"fluency": 1}),
    ]
    assert [(each.where, each.after) for each in found[0].changes] == [
        ("Fluency, definition", "Read it aloud."),
        ("Fluency, 5", "fluency 5: No mistake at all."),
    ]
    page = client.get(reverse("guideline_versions", args=[cast.project.slug])).content.decode()
    assert "Raters asked what counts." in page
    assert "1 rating follows another version." in page


def test_rating_is_stored_under_the_version_its_rater_saw(scene):
    client, cast = scene
    reword(client, cast)
    send(client, cast, value=3, guideline=1)
    send(client, cast, value=2, guideline=2)
    assert versions("ratings", cast) == [2]
    assert versions("history", cast) == [1, 1, 2]
    assert [
        (row["guideline_version"], row["in_force"]) for row in TABLES["guidelines"].rows(cast.project)
    ] == [(2, True), (1, False)]


def test_wording_taken_back_is_the_version_it_was(scene):
    client, cast = scene
    reword(client, cast)
    reword(client, cast, definition="How good the fluency is.", description_5="What 5 means.")
    assert round_of(cast).guideline.version == 1
    assert not wording(cast.project)[1]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"note": " "}, "Describe the change and its reason"),
        (
            {"scale_maximum": "3"},
            "1 ratings of Fluency are outside 1 to 3, so its scale cannot become",
        ),
        ({"scale_maximum": "7"}, "Round I was opened, and froze this. Of a dimension, definition, labels"),
        ({"name": "Style"}, "save the project as a template and begin a new one from it"),
    ],
)
def test_anything_but_wording_is_rejected_with_a_remedy(scene, changed, sentence):
    client, cast = scene
    response = reword(client, cast, **changed)
    assert response.status_code in (409, 422)
    assert sentence in response.content.decode()
    assert round_of(cast).guideline.version == 1
    assert Dimension.objects.get().definition == "How good the fluency is."


def test_dimension_with_ratings_cannot_be_removed_and_gives_a_remedy(scene):
    client, cast = scene
    page = client.post(f"/projects/{cast.project.slug}/dimensions/fluency/remove/", follow=True)
    assert "Fluency has ratings (1), so it cannot be removed." in page.content.decode()
    assert Dimension.objects.exists()


def test_guidelines_for_all_dimensions_are_reworded_in_the_settings(scene):
    client, cast = scene
    form = {"name": "A", "reservation_minutes": 60, "guidelines": "Read twice.", "note": "They skimmed."}
    assert client.post(reverse("settings", args=[cast.project.slug]), form).status_code == 302
    assert round_of(cast).guideline.content["guidelines"] == "Read twice."


def test_raters_in_review_keep_or_change_values_which_stay_until_then(scene):
    client, cast = scene
    reword(client, cast)
    client.post(reverse("ask_again", args=[cast.project.slug, "fluency"]))
    held = Assignment.objects.get(annotator=cast.annotators[0])
    assert (held.completed_at, Rating.objects.get().value) == (None, 4)
    client.force_login(cast.annotators[0].user)
    page = client.get(reverse("rate", args=[cast.project.slug]), follow=True).content.decode()
    assert "The wording has changed since you rated this" in page
    assert re.search(r'value="4"[^>]*checked', page)
    assert not send(client, cast, value=4, guideline=1)["complete"]  # a save from before, come late
    assert send(client, cast, value=4, guideline=2)["complete"]
    assert list(RatingChange.objects.values_list("value_after", "guideline__version")) == [(4, 1), (4, 2)]
    assert not wording(cast.project)[1]


def test_rater_in_review_must_be_active(scene):
    client, cast = scene
    reword(client, cast)
    cast.annotators[0].active = False
    cast.annotators[0].save()
    page = client.post(reverse("ask_again", args=[cast.project.slug, "fluency"]), follow=True)
    assert "All ratings open for review already follow the version in force." in page.content.decode()


def test_wording_changed_between_the_rounds_opens_round_two(client, scene):
    client, cast = scene
    for membership, value in zip(cast.annotators[1:], (1, 5), strict=True):
        rate(cast, round_of(cast), membership, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    reword(client, cast)
    assert round_of(cast).guideline.version == 1
    assert open_round_two(project=cast.project, by=cast.admin).guideline.version == 2
    close_round_two(project=cast.project, by=cast.admin)
    assert "Both rounds are closed" in reword(client, cast, definition="Other.").content.decode()


def test_only_admins_see_versions_and_ask_again(client, scene):
    _, cast = scene
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        client.force_login(user)
        assert client.get(reverse("guideline_versions", args=[cast.project.slug])).status_code == 404
        assert client.post(reverse("ask_again", args=[cast.project.slug, "fluency"])).status_code == 404


def test_the_number_of_queries_is_fixed(scene, django_assert_num_queries):
    client, cast = scene
    address = reverse("guideline_versions", args=[cast.project.slug])
    for definition in ("Once.", "Twice."):
        reword(client, cast, definition=definition)
        client.get(address)
        with django_assert_num_queries(10):
            client.get(address)


def test_only_ratings_of_a_reworded_dimension_reopen_for_review(client):
    cast = make_project(documents=1, systems=1, dimensions=("fluency", "coherence"))
    round = opened(cast)
    for key in ("fluency", "coherence"):
        rate(cast, round, cast.annotators[0], cast.items[0], 4, key=key)
    client.force_login(cast.admin)
    assert reword(client, cast).status_code == 302
    round = round_of(cast)
    assert [each.dimension.key for each in wording(cast.project)[1]] == ["fluency"]
    assert [each.dimension.key for each in ratings_to_ask_again(round)] == ["fluency"]
    settings = f"/projects/{cast.project.slug}/settings/"
    form = {"name": cast.project.name, "reservation_minutes": "60", "guidelines": "For all.", "note": "More."}
    assert client.post(settings, form).status_code == 302
    assert [each.dimension.key for each in wording(cast.project)[1]] == ["fluency", "coherence"]


def test_annotators_read_the_version_in_force_with_what_changed(scene):
    client, cast = scene
    assert reword(client, cast).status_code == 302
    client.force_login(cast.annotators[0].user)
    html = client.get(reverse("guideline", args=[cast.project.slug])).content.decode()
    assert "Version 2, in force since" in html
    assert "Raters asked what counts." in html
    assert "Read it aloud." in html
