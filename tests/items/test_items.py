"""Items are found, listed and tagged, sent to people, and each has a page with all that is known of it."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.errors import NotReadyError
from annotate.core.models import AssignedUnit, Assignment, AuditEntry, Dispute, GoldItem, Item, ItemTag
from annotate.items.commands import send_to_people, tag_items
from annotate.items.queries import ItemFilter, items_of, select_keys
from annotate.quality.commands import mark_gold
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_project
from tests.questions.asking import open_questions
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Three documents of two items; the first item is rated 1, 3 and 5, the second by one rater."""
    cast = make_project(documents=3, systems=2)
    mark_gold(project=cast.project, item=cast.items[5], use=GoldItem.Use.PRACTICE)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value, comment=f"Worth {value}.")
    rate(cast, round, cast.annotators[0], cast.items[1], 2)
    rate(cast, round, cast.annotators[0], cast.items[1], 4, comment="Read again.")
    return cast


def numbers(cast: Cast, **chosen: object) -> list[int]:
    """Return which of the cast's items are found, in their order."""
    at = {item.pk: n for n, item in enumerate(cast.items)}
    return [at[key] for key in select_keys(cast.project, ItemFilter(**chosen))]  # type: ignore[arg-type]


def test_items_are_searchable_by_properties_and_progress(cast: Cast) -> None:
    assert numbers(cast) == [0, 1, 2, 3, 4, 5]
    assert numbers(cast, words=cast.items[2].text.upper()) == [2]
    assert numbers(cast, document=cast.items[2].document.key) == [2, 3]
    assert numbers(cast, system="system-1", order="newest") == [4, 2, 0]
    assert numbers(cast, state="complete") == [0]
    assert numbers(cast, state="begun") == [1]
    assert numbers(cast, state="waiting") == [2, 3, 4]
    assert numbers(cast, state="unasked", marked=("gold",)) == [5]
    assert numbers(cast, raters=1) == [0, 1]
    assert numbers(cast, raters=2) == [0]
    assert numbers(cast, order="fewest")[-2:] == [1, 0]
    assert numbers(cast, marked=("disputed",)) == []
    close_round_one(project=cast.project, by=cast.admin)
    assert numbers(cast, marked=("disputed", "open")) == [0]
    assert numbers(cast, apart=4) == [0]
    assert numbers(cast, apart=5) == []
    assert numbers(cast, order="apart")[0] == 0
    assert numbers(cast, marked=("unjudged",)) == [0, 1, 2, 3, 4, 5]
    assert numbers(cast, marked=("judged",)) == []


def test_an_items_metadata_are_hidden_like_its_system(cast: Cast, client: Client) -> None:
    item = cast.items[0]
    item.metadata, item.document.metadata = {"decoding": "greedy-41"}, {"genre": "news-41"}
    item.save()
    item.document.save()
    client.force_login(cast.admin)
    pages = [reverse("item", args=[cast.project.slug, item.pk]), reverse("items", args=[cast.project.slug])]

    def shown() -> list[str]:
        page, listed = (client.get(each).content.decode() for each in pages)
        named = [word for word in ("greedy-41", "news-41") if word in page]
        return named + [name for name in ("decoding", "genre") if f'<option value="{name}"' in listed]

    assert shown() == ["news-41", "genre"]
    close_round_one(project=cast.project, by=cast.admin)
    Dispute.objects.update(status=Dispute.Status.SETTLED)
    assert shown() == ["greedy-41", "news-41", "decoding", "genre"]
    found = client.get(pages[1], {"metadata": "genre", "metadata_value": "news-41"})
    assert [row.item.pk for row in found.context["rows"]] == [item.pk, cast.items[1].pk]
    assert found.context["form"].chips == [("Metadata: genre = news-41", "")]


def test_list_shows_items_and_a_filter_is_a_url(
    cast: Cast, client: Client, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.researcher)
    address = reverse("items", args=[cast.project.slug])
    with django_assert_max_num_queries(18):  # type: ignore[operator]
        html = client.get(address).content.decode()
    assert "6 items" in html
    client.force_login(cast.admin)
    assert "Select items first" not in client.get(address).content.decode()  # nothing was asked for yet
    client.force_login(cast.researcher)
    assert "3/3" in html
    assert ">System<" not in html  # while the round is open
    assert "Add the tag" not in html
    with django_assert_max_num_queries(18):  # type: ignore[operator]
        html = client.get(address, {"state": "complete", "order": "nonsense"}).content.decode()
    assert "1 item" in html
    assert "No item matches these filters." in client.get(address, {"words": "nowhere"}).content.decode()


def test_admin_tags_selected_or_filtered_items(cast: Cast, client: Client) -> None:
    address = reverse("items", args=[cast.project.slug])
    client.force_login(cast.researcher)
    assert client.post(address, {"act": "tag", "tag": "odd", "everything": "1"}).status_code == 404
    client.force_login(cast.admin)
    client.post(f"{address}?state=waiting", {"act": "tag", "tag": " to  read ", "everything": "1"})
    assert numbers(cast, tag="to read") == [2, 3, 4]
    client.post(address, {"act": "tag", "tag": "to read", "item": [cast.items[0].pk, cast.items[2].pk]})
    assert numbers(cast, tag="to read") == [0, 2, 3, 4]
    client.post(address, {"act": "untag", "tag": "to read", "item": [cast.items[2].pk, 10**9]})
    assert numbers(cast, tag="to read") == [0, 3, 4]
    counts = (
        AuditEntry.objects.filter(act__startswith="items.").order_by("pk").values_list("act", "after__items")
    )
    assert list(counts) == [("items.tagged", 3), ("items.tagged", 1), ("items.untagged", 1)]
    for wrong, said in (
        ({"act": "tag", "tag": "x"}, "Select items first"),
        ({"act": "send", "everything": "1"}, "Enter the number of raters"),
    ):
        answer = client.post(address, wrong)
        assert (answer.status_code, said in answer.content.decode()) == (422, True)
    answer = client.post(address, {"act": "tag", "tag": " ", "everything": "1"}, follow=True)
    assert "Give the tag a name." in answer.content.decode()
    other = make_project()
    tag_items(
        project=other.project,
        items=Item.objects.filter(document__project=other.project),
        tag="x",
        by=other.admin,
    )
    assert ItemTag.objects.filter(name="x", item__document__project=cast.project).count() == 0


def test_items_go_to_more_raters_while_round_one_is_open(cast: Cast) -> None:
    chosen = items_of(cast.project, ItemFilter(words=cast.items[0].text))
    assert send_to_people(project=cast.project, items=chosen, raters=4, by=cast.admin) == 1
    assert send_to_people(project=cast.project, items=chosen, raters=4, by=cast.admin) == 0
    assignment = Assignment.objects.get(item=cast.items[0], annotator=None)
    assert (assignment.plan, assignment.origin) == ("routed", "items chosen by an admin")
    everything = items_of(cast.project, ItemFilter())
    with pytest.raises(NotReadyError, match="gold values"):
        send_to_people(project=cast.project, items=everything, raters=4, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(NotReadyError, match="while Round I is open"):
        send_to_people(project=cast.project, items=chosen, raters=5, by=cast.admin)


def test_items_are_sent_only_with_dimensions_of_their_kind() -> None:
    cast = open_questions("labels", "preference")
    everything = items_of(cast.project, ItemFilter())
    assert send_to_people(project=cast.project, items=everything, raters=5, by=cast.admin) == len(everything)
    asked = AssignedUnit.objects.values_list("assignment__item__kind", "dimension__kind").distinct()
    assert set(asked) == {("output", "labels"), ("pair", "preference")}


def test_items_without_an_applicable_dimension_are_not_sent() -> None:
    cast = open_questions("preference")
    outputs = Item.objects.filter(document__project=cast.project, kind=Item.Kind.OUTPUT)
    with pytest.raises(NotReadyError, match="No dimension"):
        send_to_people(project=cast.project, items=outputs, raters=5, by=cast.admin)
    assert not AssignedUnit.objects.exists()


def test_the_page_of_an_item_has_all_that_is_known(cast: Cast, client: Client) -> None:
    close_round_one(project=cast.project, by=cast.admin)
    client.force_login(cast.researcher)
    html = client.get(reverse("item", args=[cast.project.slug, cast.items[0].pk])).content.decode()
    for said in (
        cast.items[0].text,
        "Worth 5.",
        "4 apart in Round I",
        "completely rated",
        "All items of this document",
    ):
        assert said in html
    html = client.get(reverse("item", args=[cast.project.slug, cast.items[1].pk])).content.decode()
    assert "2 versions" in html
    assert "<strong>2</strong>" in html  # what it was before
    other = make_project()
    assert client.get(reverse("item", args=[cast.project.slug, other.items[0].pk])).status_code == 404


def test_rater_in_an_open_round_sees_no_items(cast: Cast, client: Client) -> None:
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    assert client.get(reverse("items", args=[cast.project.slug])).status_code == 404
