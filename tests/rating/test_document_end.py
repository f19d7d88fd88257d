"""The page at the end of a document: own values side by side, saved through the same queue as ratings."""

import pytest
from django.urls import reverse

from annotate.core.access import token_of
from annotate.core.models import Assignment, LookBack, Rating, RevisedValue
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.places import own_order
from annotate.rating.queries.plans import plan_of
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client) -> Cast:
    """Two documents of three items; the first annotator, signed in, has rated the first one 2, 5, 3."""
    cast = make_project(documents=2, systems=3, dimensions=("fluency", "coherence"))
    choose_plan(project=cast.project, kind="everyone", revises_documents=True)
    round = opened(cast)
    for item, value in zip(cast.items[:3], (2, 5, 3), strict=True):
        for key in ("fluency", "coherence"):
            rate(cast, round, cast.annotators[0], item, value, key=key)
    client.force_login(cast.annotators[0].user)
    return cast


def place(cast: Cast, item: int) -> Assignment:
    return Assignment.objects.get(item=cast.items[item], annotator=cast.annotators[0])


def address(cast: Cast, item: int = 0) -> str:
    return reverse("document_end", args=[cast.project.slug, cast.items[item].document_id])


def save(client, cast: Cast, item: int, **sent: object):
    found = place(cast, item)
    url = reverse("save_revised", args=[cast.project.slug, found.position, "fluency"])
    return client.post(
        url, {"annotator": found.annotator_id, "assignment": token_of(found), "comment": "", **sent}
    )


def last_of_document(cast: Cast, item: int) -> int:
    own = own_order(cast.project.rounds.get(), cast.annotators[0])
    found = own.filter(item__document=cast.items[item].document_id).last()
    assert found is not None
    assert found.position is not None
    return found.position


def test_items_stand_by_value_one_dimension_at_a_time(client, cast):
    save(client, cast, 0, value=4)
    html = client.get(address(cast)).content.decode()
    texts = [html.index(cast.items[item].text) for item in (1, 0, 2)]  # 5, 4 for 2, 3
    assert texts == sorted(texts)
    assert html.count("first value: 2") == 1
    assert "?dimension=coherence" in html
    other = client.get(address(cast), {"dimension": "coherence"}).content.decode()
    texts = [other.index(cast.items[item].text) for item in (1, 2, 0)]
    assert texts == sorted(texts)
    assert "system-1" not in html.replace(cast.items[0].text, "")


def test_who_looked_back_at_what_is_kept(client, cast):
    me = cast.annotators[0]
    client.get(address(cast), {"dimension": "coherence"})
    client.get(address(cast, 3))  # not rated yet: there is nothing to look back at
    (look,) = LookBack.objects.select_related("document", "dimension")
    assert (look.annotator, look.document, look.dimension.key) == (me, cast.items[0].document, "coherence")
    client.force_login(cast.annotators[1].user)
    client.get(address(cast))
    assert LookBack.objects.count() == 1


def test_a_value_is_saved_beside_the_rating_and_a_refusal_says_why(client, cast):
    before = list(Rating.objects.order_by("pk").values())
    assert save(client, cast, 0, value=4, comment="Closer.").json() == {
        "revision": 1,
        "value": 4,
        "replaced": None,
    }
    refused = save(client, cast, 0, value=9)
    assert refused.status_code == 422
    assert "from 1 to 5; 9" in refused.json()["message"]
    assert save(client, cast, 0, value="").json()["message"] == "Choose a value of Fluency."
    kept = RevisedValue.objects.get()
    assert (kept.value, kept.comment) == (4, "Closer.")
    assert list(Rating.objects.order_by("pk").values()) == before
    assert save(client, cast, 0, value=3, assignment="another").json()["code"] == "place_gone"
    client.logout()
    assert save(client, cast, 0, value=3).json()["code"] == "signed_out"


def test_without_scripts_the_form_saves_all_of_a_dimension(client, cast):
    names = {item: f"item-{place(cast, item).position}" for item in range(3)}
    sent = {f"{names[0]}-value": 4, f"{names[1]}-value": 5, f"{names[2]}-value": 3}
    reply = client.post(f"{address(cast)}?dimension=coherence", sent)
    assert reply.status_code == 302
    (kept,) = RevisedValue.objects.all()
    assert (kept.rating.dimension.key, kept.value) == ("coherence", 4)
    refused = client.post(address(cast), {**sent, f"{names[0]}-value": 8})
    assert refused.status_code == 422
    assert "8 is not on this scale" in refused.content.decode()


def test_the_last_item_of_a_document_leads_there_and_the_others_do_not(client, cast):
    last = last_of_document(cast, 0)
    for position in (last - 1, last):
        html = client.get(reverse("rate_item", args=[cast.project.slug, position])).content.decode()
        assert (address(cast) in html) == (position == last)


def test_of_a_shared_queue_a_document_ends_when_it_has_no_more_items(client):
    cast = make_project(documents=2, systems=3)
    choose_plan(project=cast.project, kind="queue", revises_documents=True)
    round, annotator = opened(cast), cast.annotators[0]
    reserve_items(round=round, annotator=annotator, how_many=2)
    client.force_login(annotator.user)
    found = []
    for position in (1, 2, 3):
        html = client.get(reverse("rate_item", args=[cast.project.slug, position])).content.decode()
        found.append("/rate/document/" in html)
    assert found == [False, False, True]


def test_an_unrated_document_is_skipped_and_so_is_every_one_after_the_round(client, cast):
    unrated = address(cast, 3)
    onward = client.get(unrated)
    assert onward.status_code == 302
    close_round_one(project=cast.project, by=cast.admin)
    assert client.get(address(cast)).status_code == 302
    assert save(client, cast, 0, value=4).json()["code"] == "round_closed"


def test_nobody_else_sees_it(client, cast):
    for user in (cast.admin, cast.researcher, cast.outsider):
        client.force_login(user)
        assert client.get(address(cast)).status_code == 404
    client.force_login(cast.annotators[1].user)  # has the items, but has rated none
    assert client.get(address(cast)).status_code == 302


def test_my_work_leads_to_each_document_that_is_all_rated_once(client, cast):
    mine = reverse("my_work", args=[cast.project.slug])
    html = client.get(mine).content.decode()
    assert html.count("Compare your values") == html.count(address(cast)) == 1
    assert address(cast, 3) not in html
    for item in cast.items[3:]:
        for key in ("fluency", "coherence"):
            rate(cast, cast.project.rounds.get(), cast.annotators[0], item, 4, key=key)
    assert address(cast, 3) in client.get(mine, {"document": cast.items[3].document.key}).content.decode()
    close_round_one(project=cast.project, by=cast.admin)
    assert "Compare your values" not in client.get(mine).content.decode()


def test_a_page_takes_a_fixed_number_of_queries(client, cast, django_assert_max_num_queries):
    client.get(address(cast))
    with django_assert_max_num_queries(14):
        client.get(address(cast))


def test_the_setting_is_offered_with_the_plan_and_means_nothing_for_mixed_documents(client):
    cast = make_project()
    client.force_login(cast.admin)
    url = reverse("plan", args=[cast.project.slug])
    fields = {"kind": "everyone", "share": 10, "gold_every": 10, "repeat_every": 0, "revises_documents": "on"}
    for work_order in ("by_document", "mixed", "by_document"):
        assert client.post(url, {**fields, "work_order": work_order}).status_code == 302
        assert plan_of(cast.project).revises_documents == (work_order == "by_document")
    assert opened(cast).revises_documents
    assert "raters may revise their values" in client.get(url).content.decode()


def test_raters_that_are_programs_revise_values_too(cast):
    program, found = ApiClient(cast.annotators[0].user), place(cast, 0)
    home = f"projects/{cast.project.slug}"
    address = f"{home}/work/{found.position}/fluency/revised/"
    assert program.put(address, {"value": 4, "comment": "Closer."}).json() == {"revision": 1, "value": 4}
    assert program.put(address, {"value": 9}).json()["code"] == "invalid_value"
    unrated = f"{home}/work/{place(cast, 3).position}/fluency/revised/"
    assert program.put(unrated, {"value": 4}).json()["code"] == "invalid_value"
    listed = ApiClient(cast.researcher).get(f"{home}/ratings/").json()["results"]
    assert [(row["value"], row["revised_value"]) for row in listed if row["revised_value"]] == [(2, 4)]
