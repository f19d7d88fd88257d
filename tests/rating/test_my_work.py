"""An annotator looks back: own items with values, how these spread, hidden checks; and the guidelines."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Assignment, Dispute, Membership, Round
from annotate.disputes.commands.disputes import note_look, post_message
from annotate.rating import views
from annotate.rating.commands.assignments import acknowledge_wording
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.rating.queries import own_items as own_items_module
from annotate.rating.queries.own_items import OwnFilter, own_items, own_spreads
from annotate.setup.commands import reword_guidelines
from tests.factories import Cast, make_project
from tests.rating.rounds import frozen, opened, rate

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def scene(client: Client) -> tuple[Client, Cast, Round]:
    """An annotator, signed in, with three of four items rated; nobody else has rated."""
    cast = make_project(dimensions=("fluency", "coherence"), documents=2)
    round = opened(cast)
    me = cast.annotators[0]
    for item, value in zip(cast.items, (2, 4, 4), strict=False):
        rate(cast, round, me, item, value)
    rate(cast, round, me, cast.items[0], 5, comment="It is all there.")
    rate(cast, round, me, cast.items[1], 3, key="coherence")
    client.force_login(me.user)  # type: ignore[arg-type]
    return client, cast, round


def items_with(round: Round, membership: Membership, **chosen: object) -> set[int]:
    return {each.item_id for each in own_items(round, membership, OwnFilter(**chosen))}  # type: ignore[arg-type]


def mark(round: Round, membership: Membership, item: int, key: str, **marks: bool) -> None:
    assignment = Assignment.objects.get(round=round, annotator=membership, item=item)
    answer = Answer(value=3 if "unsure" in marks else None, **marks)  # type: ignore[arg-type]
    save_rating(assignment=assignment, dimension=frozen(round, key), answer=answer, by=membership.user)


def test_items_are_searchable_by_ratings(scene: tuple[Client, Cast, Round]) -> None:
    _, cast, round = scene
    me = cast.annotators[0]
    first, second, third = (item.pk for item in cast.items[:3])
    assert items_with(round, me, dimension="fluency", value=4) == {second, third}
    assert items_with(round, me, dimension="coherence") == {second}
    assert items_with(round, me, value=3) == {second}
    assert items_with(round, me, marked=["changed"]) == {first}
    assert items_with(round, me, marked=["commented"]) == {first}
    assert items_with(round, me, marked=["unfinished"]) == {first, third, cast.items[3].pk}
    mark(round, me, cast.items[1].pk, "coherence", unsure=True)
    mark(round, me, cast.items[2].pk, "coherence", cannot_rate=True)
    assert items_with(round, me, marked=["flagged"]) == {second, third}
    assert items_with(round, me, marked=["unsure"]) == {second}
    assert items_with(round, me, marked=["cannot_rate"]) == {third}
    assert items_with(round, me, marked=["unsure", "commented"]) == set()
    assert items_with(round, me, marked=["unsure"], dimension="fluency") == set()
    assert items_with(round, me, marked=["unsure"], dimension="coherence") == {second}
    document = cast.items[2].document.key
    assert items_with(round, me, document=document) == {third, cast.items[3].pk}
    assert items_with(round, me, title=document) == {third, cast.items[3].pk}
    assert items_with(round, me, title="no such document") == set()
    assert items_with(round, cast.annotators[1]) == set()


def test_many_documents_are_searched_by_words_and_not_listed(
    scene: tuple[Client, Cast, Round], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, cast, _ = scene
    address = reverse("my_work", args=[cast.project.slug])
    assert list(client.get(address).context["form"].fields) == ["document", "dimension", "value", "marked"]
    monkeypatch.setattr(own_items_module, "MOST_DOCUMENTS_LISTED", 1)
    assert list(client.get(address).context["form"].fields) == ["title", "dimension", "value", "marked"]
    second = cast.items[2].document
    rows = client.get(address, {"title": second.key}).context["rows"]
    assert [row.assignment.item.document_id for row in rows] == [second.pk, second.pk]


def test_time_per_item_is_the_recent_average(
    scene: tuple[Client, Cast, Round], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, cast, round = scene
    me, address = cast.annotators[0], reverse("my_work", args=[cast.project.slug])
    rate(cast, round, me, cast.items[2], 3, key="coherence")
    mine = Assignment.objects.filter(annotator=me, completed_at__isnull=False).order_by("completed_at")
    for seconds, assignment in zip((40, 10), mine, strict=True):
        assignment.ratings.update(active_seconds=seconds / 2)
    assert "Half of your items took 25 s or less." in client.get(address).content.decode()
    for module in (own_items_module, views):
        monkeypatch.setattr(module, "TIMED_ITEMS", 1)
    assert "Half of your last 1 items took 10 s or less." in client.get(address).content.decode()


def test_the_page_lists_them_with_values_and_how_these_spread(scene: tuple[Client, Cast, Round]) -> None:
    client, cast, round = scene
    spreads = own_spreads(round, cast.annotators[0])
    assert [(each.dimension.key, each.given) for each in spreads] == [("fluency", 3), ("coherence", 1)]
    assert spreads[0].counts == [("1", 0), ("2", 0), ("3", 0), ("4", 2), ("5", 1)]
    address = reverse("my_work", args=[cast.project.slug])
    html = client.get(address).content.decode()
    assert "1 of 4 items rated" in html
    assert "It is all there." in html
    assert reverse("my_values", args=[cast.project.slug]) in html
    nothing = client.get(address, {"marked": "flagged"}).content.decode()
    assert "No item of yours has this." in nothing
    assert client.get(address, {"value": "many", "page": "x"}).status_code == 200


def test_the_spread_is_a_page_and_a_part_of_my_work(scene: tuple[Client, Cast, Round]) -> None:
    client, cast, _ = scene
    address = reverse("my_values", args=[cast.project.slug])
    page, part = (client.get(address, headers=headers).content.decode() for headers in ({}, HTMX))
    assert "<h1" in page
    assert "<h1" not in part
    for html in (page, part):
        assert re.findall(r"<dt[^>]*>(.*?)</dt>", html) == ["Fluency", "Coherence"]
        assert re.findall(r"</meter> (\d)", html)[:5] == ["0", "0", "0", "2", "1"]
    german = client.get(address, headers={"accept-language": "de"}).content.decode()
    assert "Wie Ihre Werte verteilt sind" in german


def test_queries_are_the_same_whatever_the_number_of_items(
    scene: tuple[Client, Cast, Round], django_assert_max_num_queries: object
) -> None:
    client, cast, round = scene
    address = reverse("my_work", args=[cast.project.slug])
    with django_assert_max_num_queries(22) as first:  # type: ignore[operator]
        client.get(address)
    for key in ("fluency", "coherence"):
        rate(cast, round, cast.annotators[0], cast.items[3], 1, key=key)
    with django_assert_max_num_queries(len(first)) as _:  # type: ignore[operator]
        client.get(address)


def test_before_round_one_there_is_nothing_to_list(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    html = client.get(reverse("my_work", args=[cast.project.slug])).content.decode()
    assert "Round I has not been opened yet." in html
    assert not Assignment.objects.exists()


def test_project_list_shows_remaining_and_new_work(scene: tuple[Client, Cast, Round]) -> None:
    client, cast, round = scene
    assert "3 items left to rate" in client.get("/").content.decode()
    reworded = "The wording was changed since you rated last."
    assert reworded not in client.get("/").content.decode()
    reword_guidelines(project=cast.project, guidelines="Read twice.", note="Clearer.", by=cast.admin)
    assert reworded in client.get("/").content.decode()
    assert cast.annotators[0].user
    acknowledge_wording(annotator=cast.annotators[0], version=2, by=cast.annotators[0].user)
    assert reworded not in client.get("/").content.decode()
    for annotator in cast.annotators[1:]:
        rate(cast, round, annotator, cast.items[0], 1)
    close_round_one(project=cast.project, by=cast.admin)
    assert "to rate" not in client.get("/").content.decode()
    open_round_two(project=cast.project, by=cast.admin)
    html = client.get("/").content.decode()
    assert "1 dispute needs you" in html
    assert "something new" not in html
    dispute = Dispute.objects.get()
    note_look(dispute=dispute, rater=cast.annotators[0])
    post_message(dispute=dispute, author=cast.annotators[1], text="Is it?")
    assert "something new in 1" in client.get("/").content.decode()


def test_the_guidelines_have_a_page_before_during_and_after_the_round(client: Client) -> None:
    cast = make_project(dimensions=("fluency",))
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    address = reverse("guideline", args=[cast.project.slug])
    assert "this can still change" in client.get(address).content.decode()
    round = opened(cast)
    html = client.get(address).content.decode()
    assert "Fluency" in html
    assert "Version" not in html
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    reword_guidelines(project=cast.project, guidelines="Read twice.", note="Clearer.", by=cast.admin)
    html = client.get(address).content.decode()
    assert "This is what will apply in Round II" in html
    assert "<ins>Read twice.</ins>" in html
    open_round_two(project=cast.project, by=cast.admin)
    html = client.get(address).content.decode()
    assert "will apply" not in html
    assert "Version 2, in force" in html
