import json
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.core.access import token_of
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Dimension, Document, Item, PrivateNote, Rating, System
from annotate.exports.registry import TABLES
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import add_assignments, close_round_one
from annotate.rating.queries.own_items import Progress, progress
from annotate.rating.queries.work import Row
from annotate.results.queries.agreement_page import WithoutValue, answers_without_value
from tests.factories import make_dimension, make_project
from tests.rating.rounds import assigned, frozen, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(client):
    """An open round of 4 items and 2 dimensions, one annotator signed in."""
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    client.force_login(cast.annotators[0].user)
    return client, cast, round


def page(client, cast):
    return client.get(reverse("rate", args=[cast.project.slug]), follow=True)


def save(client, cast, key="fluency", *, position=1, membership=None, **answer):
    url = reverse("save_rating", args=[cast.project.slug, position, key])
    membership = membership or cast.annotators[0]
    token = answer.pop("assignment", None) or token_at(membership, position)
    return client.post(url, {"annotator": membership.pk, "assignment": token, **answer})


def token_at(membership, position):
    held = Assignment.objects.filter(annotator=membership, position=position, round__number=1).first()
    return token_of(held) if held else "-"


def test_rating_starts_at_the_first_item_and_continues_after_a_stop(scene):
    client, cast, _ = scene
    assert page(client, cast).request["PATH_INFO"].endswith("/rate/1/")
    for key in ("fluency", "coherence"):
        assert save(client, cast, key, value=4).status_code == 200
    assert page(client, cast).request["PATH_INFO"].endswith("/rate/2/")


def test_the_page_shows_item_document_and_every_dimension(scene):
    client, cast, _ = scene
    html = page(client, cast).content.decode()
    item = Assignment.objects.get(annotator=cast.annotators[0], position=1).item
    assert item.text in html
    assert "Review 2 of product" in html
    assert re.findall(r'data-key="(\w+)" data-name', html) == ["fluency", "coherence"]
    assert "What 5 means." in html


def test_save_returns_the_revision_and_reappears_on_return(scene):
    client, cast, _ = scene
    page(client, cast)
    reply = save(client, cast, value=4, comment="Good.", unsure="true", active_seconds="7.5")
    assert reply.json() == {
        "revision": 1,
        "replaced": None,
        "overtaken": None,
        "complete": False,
        "guideline": 1,
    }
    html = page(client, cast).content.decode()
    assert re.search(r'name="fluency-value" value="4"[^>]*checked', html)
    assert re.search(r'name="fluency-unsure" checked', html)
    assert "Good.</textarea>" in html


def save_together(client, cast, answers, *, membership=None):
    url = reverse("save_answers", args=[cast.project.slug, 1])
    membership = membership or cast.annotators[0]
    body = answers if isinstance(answers, str) else json.dumps(answers)
    return client.post(
        url, {"annotator": membership.pk, "assignment": token_at(membership, 1), "answers": body}
    )


def test_answers_in_one_request_are_answered_individually(scene, django_assert_max_num_queries):
    client, cast, _ = scene
    page(client, cast)
    with django_assert_max_num_queries(16):
        reply = save_together(
            client,
            cast,
            [
                {"key": "fluency", "value": "4", "unsure": True, "comment": "Good."},
                {"key": "coherence", "value": "six"},
                {"key": "nothing", "value": "3"},
                {"value": 3},
            ],
        )
    assert reply.status_code == 200
    saved, *refused = reply.json()["answers"]
    assert saved == {"revision": 1, "replaced": None, "overtaken": None, "complete": False}
    assert [(each["code"], each["message"]) for each in refused] == [
        ("invalid_value", "A rating is a number on the scale."),
        ("invalid_value", "This round has no such dimension."),
        ("invalid_value", "This round has no such dimension."),
    ]
    rating = Rating.objects.get()
    assert (rating.value, rating.unsure, rating.comment) == (4, True, "Good.")


@pytest.mark.parametrize("answers", ["", "{", "{}", "[]", "[1]", json.dumps([{"key": "fluency"}] * 1001)])
def test_invalid_answer_list_is_rejected_as_a_whole(scene, answers):
    client, cast, _ = scene
    page(client, cast)
    reply = save_together(client, cast, answers)
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_value")
    assert not Rating.objects.exists()


def test_grouped_answers_are_rejected_like_a_single_one(scene):
    client, cast, _ = scene
    page(client, cast)
    both = [{"key": "fluency", "value": 4}, {"key": "coherence", "value": 4}]
    assert save_together(client, cast, both, membership=cast.annotators[1]).json()["code"] == "not_yours"
    close_round_one(project=cast.project, by=cast.admin)
    reply = save_together(client, cast, both)
    assert (reply.status_code, reply.json()["code"]) == (409, "round_closed")
    client.logout()
    assert save_together(client, cast, both).status_code == 401
    assert not Rating.objects.exists()


def test_save_over_an_unseen_one_reports_the_replaced_value(scene):
    client, cast, _ = scene
    page(client, cast)
    save(client, cast, value=4, revision=0)
    replaced = save(client, cast, value=2, revision=0).json()["replaced"]
    assert replaced == {"value": 4, "data": None, "comment": ""}


@pytest.mark.parametrize(
    ("answer", "says"),
    [({"value": 9}, "rated from 1 to 5; 9 is not"), ({"value": "good"}, "number on the scale")],
)
def test_invalid_input_is_rejected_with_code_message_and_fields(scene, answer, says):
    client, cast, _ = scene
    page(client, cast)
    reply = save(client, cast, **answer)
    assert reply.status_code == 422
    assert reply.json()["code"] == "invalid_value"
    assert says in reply.json()["message"]
    assert list(reply.json()["fields"]) == ["value"]


def test_closed_round_is_reported_and_the_page_still_shows_the_answers(scene):
    client, cast, _ = scene
    page(client, cast)
    save(client, cast, value=4)
    close_round_one(project=cast.project, by=cast.admin)
    reply = save(client, cast, value=5, revision=1)
    assert (reply.status_code, reply.json()["code"]) == (409, "round_closed")
    html = client.get(reverse("rate_item", args=[cast.project.slug, 1])).content.decode()
    assert "Round I is closed" in html
    assert re.search(r'name="fluency-value" value="4"[^>]*checked', html)


def test_signed_out_save_prompts_a_sign_in_and_can_be_repeated(scene):
    client, cast, _ = scene
    page(client, cast)
    client.logout()
    reply = save(client, cast, value=4)
    assert (reply.status_code, reply.json()["code"]) == (401, "signed_out")
    client.force_login(cast.annotators[0].user)
    assert save(client, cast, value=4).status_code == 200


def test_an_answer_given_by_someone_else_is_not_saved_as_mine(scene):
    client, cast, _ = scene
    page(client, cast)
    reply = save(client, cast, value=4, membership=cast.annotators[1])
    assert (reply.status_code, reply.json()["code"]) == (404, "not_yours")
    assert not Rating.objects.exists()


def test_lost_item_and_lost_membership_have_different_errors(scene):
    client, cast, _ = scene
    page(client, cast)
    reply = save(client, cast, value=4, position=99)
    assert (reply.status_code, reply.json()["code"]) == (410, "place_gone")
    membership = cast.annotators[0]
    membership.active = False
    membership.save(update_fields=["active"])
    reply = save(client, cast, value=4)
    assert (reply.status_code, reply.json()["code"]) == (410, "membership_closed")
    assert not Rating.objects.exists()


def test_answer_for_a_reassigned_item_is_not_saved_at_its_position(client):
    cast = make_project(documents=1, systems=2, annotators=2, raters_per_item=1)
    round = opened(cast)
    slow, quick = cast.annotators
    client.force_login(slow.user)
    page(client, cast)
    before = Assignment.objects.get(annotator=slow, position=2)
    token = token_of(before)
    Assignment.objects.filter(pk=before.pk).update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert reserve_items(round=round, annotator=quick) == 1
    Item.objects.create(
        document=before.item.document, system=make_system(cast), text="Came later.", digest="x"
    )
    add_assignments(round=round, items=Item.objects.filter(text="Came later.").values_list("pk", flat=True))
    assert reserve_items(round=round, annotator=slow) == 1
    assert Assignment.objects.get(annotator=slow, position=2).item.text == "Came later."
    reply = save(client, cast, value=4, position=2, assignment=token)
    assert (reply.status_code, reply.json()["code"]) == (410, "place_gone")
    assert not Rating.objects.exists()


def make_system(cast):
    return System.objects.create(project=cast.project, name="late")


@pytest.mark.parametrize("who", ["outsider", "admin", "researcher"])
def test_who_does_not_rate_here_finds_nothing(scene, who):
    client, cast, _ = scene
    page(client, cast)
    client.force_login(getattr(cast, who))
    for url in (reverse("rate", args=[cast.project.slug]), reverse("rate_item", args=[cast.project.slug, 1])):
        assert client.get(url).status_code == 404
    assert save(client, cast, value=4).status_code == 404


def test_one_form_without_scripts_saves_all_dimensions_and_continues(scene):
    client, cast, _ = scene
    page(client, cast)
    url = reverse("rate_item", args=[cast.project.slug, 1])
    token = token_at(cast.annotators[0], 1)
    reply = client.post(url, {"assignment": token, "fluency-value": 3, "coherence-comment": "Hm."})
    assert reply.url == reverse("rate_item", args=[cast.project.slug, 2])
    assert sorted(Rating.objects.values_list("dimension__key", "value", "comment")) == [
        ("coherence", None, "Hm."),
        ("fluency", 3, ""),
    ]


def test_invalid_answer_without_scripts_returns_with_its_message(scene):
    client, cast, _ = scene
    page(client, cast)
    url = reverse("rate_item", args=[cast.project.slug, 1])
    reply = client.post(url, {"assignment": token_at(cast.annotators[0], 1), "fluency-value": 7})
    assert reply.status_code == 422
    assert b"7 is not on this scale" in reply.content


def test_the_end_is_announced(scene):
    client, cast, _ = scene
    page(client, cast)
    for position in range(1, 5):
        for key in ("fluency", "coherence"):
            save(client, cast, key, position=position, value=3)
    assert b"You rated 4 items" in page(client, cast).content


def test_counter_shows_remaining_ratings_and_their_duration(scene):
    client, cast, round = scene
    page(client, cast)
    for key, seconds in (("fluency", 90), ("coherence", 150)):
        save(client, cast, key, value=3, active_seconds=seconds)
    save(client, cast, "fluency", position=2, value=3, active_seconds=60)
    # 5 ratings are left, each as long as the item's two in the mean: 120 seconds.
    assert progress(round, cast.annotators[0]) == Progress(1, 4, 1, seconds_left=600)
    timed = progress(round, cast.annotators[0], with_time=True)
    assert timed == Progress(1, 4, 1, seconds_active=300, seconds_left=600)
    html = client.get(reverse("rate_progress", args=[cast.project.slug])).content.decode()
    words = " ".join(re.sub("<.*?>", "", html, flags=re.S).split())
    assert words == "1 of 4 · about 10 min to go"


def test_item_with_one_dimension_counts_as_one_rating(client):
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=1, raters_per_item=1)
    round, membership = opened(cast), cast.annotators[0]
    client.force_login(membership.user)
    page(client, cast)
    save(client, cast, value=3, active_seconds=10)
    save(client, cast, "coherence", value=3, active_seconds=10)
    partial = Assignment.objects.get(annotator=membership, position=2)
    Assignment.objects.filter(pk=partial.pk).update(partial=True, inclusion_probability=None)
    partial.units.create(dimension=cast.dimensions[0], inclusion_probability=1)
    assert progress(round, membership).seconds_left == 10


def test_a_private_note_is_its_annotators_alone_and_in_no_export(scene):
    client, cast, _ = scene
    page(client, cast)
    url = reverse("save_note", args=[cast.project.slug, 1])
    membership = cast.annotators[0]
    sent = {"annotator": membership.pk, "assignment": token_at(membership, 1), "comment": "MY-NOTE"}
    assert client.post(url, sent).json() == {"revision": 0}
    assert client.post(url, {**sent, "comment": "x" * 10_001}).status_code == 422
    assert "MY-NOTE" in page(client, cast).content.decode()
    assert "MY-NOTE" not in str([list(table.rows(cast.project)) for table in TABLES.values()])
    for other in (cast.annotators[1].user, cast.outsider, cast.admin):
        client.force_login(other)
        assert client.post(url, sent).status_code == 404
        assert b"MY-NOTE" not in client.get(reverse("project", args=[cast.project.slug])).content
    client.force_login(cast.annotators[1].user)
    for position in (None, 1, 2, 3, 4):
        address = reverse("rate_item", args=[cast.project.slug, position]) if position else None
        html = (client.get(address) if address else page(client, cast)).content.decode()
        assert "MY-NOTE" not in html
    client.logout()
    assert client.post(url, sent).status_code == 401


def test_a_long_note_without_scripts_loses_no_rating(scene):
    client, cast, _ = scene
    sent = {"assignment": page(client, cast).context["token"], "fluency-value": "4", "note": "x" * 10_001}
    answer = client.post(reverse("rate_item", args=[cast.project.slug, 1]), sent)
    assert "The note has 10,001 characters" in answer.content.decode()
    assert Rating.objects.get(dimension__key="fluency").value == 4
    client.post(reverse("rate_item", args=[cast.project.slug, 1]), {**sent, "note": "a\0b"})
    assert PrivateNote.objects.get().text == "ab"


def test_the_counter_is_not_for_others_and_no_sign_in_page_when_signed_out(scene):
    client, cast, _ = scene
    url = reverse("rate_progress", args=[cast.project.slug])
    client.logout()
    assert client.get(url).status_code == 401
    client.force_login(cast.researcher)
    assert client.get(url).status_code == 404


def test_before_the_round_the_page_says_to_wait(client):
    cast = make_project()
    client.force_login(cast.annotators[0].user)
    assert b"has not been opened" in page(client, cast).content


def test_no_system_name_and_no_other_value_reaches_the_browser(scene):
    client, cast, _ = scene
    System.objects.filter(project=cast.project, name="system-1").update(name="UNSEEN-SYSTEM")
    Item.objects.update(text="A text that names nobody.")
    client.force_login(cast.annotators[1].user)
    page(client, cast)
    save(client, cast, membership=cast.annotators[1], value=1, comment="OTHER-COMMENT")
    client.force_login(cast.annotators[0].user)
    for position in [None, 1, 2, 3, 4]:
        url = reverse("rate_item", args=[cast.project.slug, position]) if position else None
        html = (client.get(url) if url else page(client, cast)).content.decode()
        assert "UNSEEN-SYSTEM" not in html
        assert "OTHER-COMMENT" not in html
        assert "checked" not in html


HOSTILE = '<script>alert("x")</script> & شكرا <b>bold</b>'


def test_html_and_right_to_left_strings_in_every_field_are_escaped(client):
    cast = make_project()
    Document.objects.update(title=HOSTILE, parts=[{"label": HOSTILE, "text": HOSTILE}])
    Item.objects.update(text=HOSTILE)
    cast.project.name = cast.project.guidelines = HOSTILE
    cast.project.save()
    dimension = cast.dimensions[0]
    dimension.name = dimension.definition = dimension.guidelines = HOSTILE
    dimension.save()
    dimension.points.update(label=HOSTILE, description=HOSTILE)
    opened(cast)
    client.force_login(cast.annotators[0].user)
    page(client, cast)
    save(client, cast, comment=HOSTILE, value=3)
    html = page(client, cast).content.decode()
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    assert html.count("شكرا") >= 10
    assert html.count("&lt;script&gt;alert") >= 8


def test_document_of_100_000_characters_appears_whole(client):
    cast = make_project(documents=1, systems=1)
    long = "word " * 20_000
    Document.objects.update(parts=[{"label": "", "text": long}])
    opened(cast)
    client.force_login(cast.annotators[0].user)
    assert long in page(client, cast).content.decode()


@pytest.mark.parametrize(("documents", "dimensions"), [(2, 1), (12, 7)])
def test_an_item_page_costs_the_same_whatever_the_projects_size(
    client, django_assert_max_num_queries, documents, dimensions
):
    names = tuple(f"dimension {n}" for n in range(dimensions))
    cast = make_project(dimensions=names, documents=documents, systems=3)
    opened(cast)
    client.force_login(cast.annotators[0].user)
    page(client, cast)
    with django_assert_max_num_queries(16) as counted:
        client.get(reverse("rate_item", args=[cast.project.slug, 1]))
    assert len(counted) == 16


@pytest.mark.parametrize("documents", [2, 12])
def test_save_needs_up_to_12_queries_for_any_project_size(client, django_assert_max_num_queries, documents):
    cast = make_project(dimensions=("fluency", "coherence"), documents=documents, systems=3)
    opened(cast)
    client.force_login(cast.annotators[0].user)
    page(client, cast)
    token = token_at(cast.annotators[0], 1)
    with django_assert_max_num_queries(12):
        assert save(client, cast, value=3, assignment=token).status_code == 200
    with django_assert_max_num_queries(12):
        assert save(client, cast, value=4, revision=1, assignment=token).status_code == 200
    with django_assert_max_num_queries(12):
        assert save(client, cast, "coherence", value=4, assignment=token).json()["complete"]


def test_categories_are_chosen_by_name_and_a_dimension_may_not_apply(client):
    cast = make_project(dimensions=("fluency",))
    tone = make_dimension(cast.project, "tone", minimum=1, maximum=2)
    Dimension.objects.filter(pk=tone.pk).update(measurement_level="nominal", not_applicable=True)
    opened(cast)
    client.force_login(cast.annotators[0].user)
    html = page(client, cast).content.decode()
    assert re.search(
        r'value="2" data-key="2"[^>]*>\s*<span class="point-face" aria-hidden="true"><kbd[^>]*>2</kbd>'
        r'<span class="point-text" dir="auto"><b>tone 2</b>',
        html,
    )
    assert html.count('value="not_applicable"') == 1
    assert save(client, cast, value=3).status_code == 200
    assert save(client, cast, "tone", value="not_applicable").json()["complete"]
    html = page(client, cast).content.decode()
    given = Rating.objects.get(dimension=tone)
    assert (given.value, given.not_applicable, given.changes.get().not_applicable) == (None, True, True)
    refused = save(client, cast, value="not_applicable").json()
    assert "no answer “not applicable”" in refused["message"]


def test_an_answer_that_does_not_apply_is_replaced_by_a_value_and_counted(client):
    cast = make_project(documents=1, systems=1)
    Dimension.objects.update(not_applicable=True)
    round = opened(cast)
    dimension = frozen(round)
    answers = (Answer(not_applicable=True), Answer(4), Answer(5))
    for membership, answer in zip(cast.annotators, answers, strict=True):
        assignment = assigned(cast, round, membership, cast.items[0])
        save_rating(assignment=assignment, dimension=dimension, answer=answer, by=membership.user)
    assert answers_without_value(round) == {dimension.id: WithoutValue(not_applicable=1, apart=1)}
    first = Assignment.objects.get(annotator=cast.annotators[0])
    save_rating(assignment=first, dimension=dimension, answer=Answer(2), by=cast.annotators[0].user)
    assert answers_without_value(round) == {}


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        (range(1, 11), {1: "1", 9: "9", 10: "0"}),
        (range(0, 11), {0: "0", 9: "9", 10: ""}),
        (range(-2, 3), {-2: "1", 2: "5"}),
    ],
)
def test_every_value_within_reach_has_a_digit(values, keys):
    dimension = FrozenDimension(1, "tone", "Tone", "", "", values[0], values[-1], "interval", ())
    choices = {each.value: each.key for each in Row(dimension, None).choices}
    assert {value: choices[value] for value in keys} == keys


def test_an_item_loaded_ahead_is_its_part_of_the_page(scene):
    client, cast, _ = scene
    url = reverse("rate_item", args=[cast.project.slug, 1])
    page(client, cast)
    whole, ahead = (client.get(url, headers=headers).content.decode() for headers in ({}, AHEAD))
    assert content_of(ahead) == content_of(whole)
    assert "<header" in whole
    assert "<header" not in ahead


def test_preloaded_items_are_the_next_ones(scene):
    client, cast, _ = scene
    url = reverse("rate_item", args=[cast.project.slug, 1])
    page(client, cast)
    alone = content_of(client.get(url, headers=AHEAD).content.decode())
    together = client.get(url, headers={"Concord-Ahead": "3"}).content.decode()
    addresses = [reverse("rate_item", args=[cast.project.slug, position]) for position in (1, 2, 3)]
    assert re.findall(r'data-address="([^"]+)"', together) == addresses
    assert content_of(together).startswith(alone)
    for several in ("0", "-1", "many"):
        assert "<header" in client.get(url, headers={"Concord-Ahead": several}).content.decode()
    most = client.get(url, headers={"Concord-Ahead": "999"}).content.decode()
    assert most.count("<main") <= 8


AHEAD = {"Concord-Ahead": "1"}


def content_of(page):
    content = "".join(re.findall(r"<main.*</main>", page, re.DOTALL))
    return re.sub(
        r'name="csrfmiddlewaretoken" value="\w+"| data-address="[^"]+"', "", " ".join(content.split())
    )
