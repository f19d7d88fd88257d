"""A rater goes through disputes by item and document, finds them, and sees the own values."""

from datetime import timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotate.core.models import Dispute, Item
from annotate.disputes.commands.disputes import answer_dispute, note_look, post_message
from annotate.disputes.forms import WorkFilterForm
from annotate.disputes.queries.disputes import (
    WorkFilter,
    count_needing_and_new,
    count_remaining,
    disputes_on_text,
    sections_of,
    work_list,
)
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.rating.queries import own_items
from tests.conftest import Clock
from tests.disputes.disputed_texts import make_disputed_texts
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return make_disputed_texts()


def test_the_list_has_an_items_disputes_together_with_the_own_value(cast: Cast) -> None:
    me = cast.annotators[0]
    answer_dispute(dispute=Dispute.objects.get(number=1), rater=me, value=2)
    needs, waits, _ = sections_of(work_list(me), me)
    assert sorted(len(item.disputes) for item in needs.items) == [1, 2, 2, 2]
    assert {value for item in needs.items for _, value in item.disputes} == {"1"}
    assert [(each.number, value) for item in waits.items for each, value in item.disputes] == [(1, "2")]


def test_filter_finds_disputes_by_dimension_document_and_news(cast: Cast, client: Client) -> None:
    me, other = cast.annotators[0], cast.annotators[2]
    document = cast.items[0].document

    def numbers(**chosen: object) -> set[int]:
        work = work_list(me, WorkFilter(**chosen))  # type: ignore[arg-type]
        return {each.number for each in (*work.needing_me, *work.waiting, *work.done)}

    assert len(numbers()) == 8
    own = Dispute.objects.filter(item__document=document, dimension__key="fluency")
    assert numbers(dimension="fluency", document=document.key) == set(own.values_list("number", flat=True))
    assert numbers(is_new=True) == set()
    text = Item.objects.get(pk=cast.items[2].pk).text
    found = set(Dispute.objects.filter(item=cast.items[2]).values_list("number", flat=True))
    assert numbers(words=text[:-1].upper()) == found
    assert numbers(words="Product 2") > found
    assert numbers(words=document.key) == numbers(document=document.key)
    looked_at = Dispute.objects.get(number=3)
    note_look(dispute=looked_at, rater=me)
    post_message(dispute=looked_at, author=other, text="Is it?")
    assert numbers(is_new=True) == {3}
    post_message(dispute=Dispute.objects.get(number=4), author=other, text="I did not say so.")
    assert numbers(is_new=True) == {3, 4}  # all is new before the first visit
    answer_dispute(dispute=Dispute.objects.get(number=1), rater=me, value=2)
    assert numbers(waits="others") == {1}
    assert numbers(waits="me", is_new=True) == {3, 4}
    assert numbers(waits="nobody") == set()
    client.force_login(me.user)  # type: ignore[arg-type]
    address = reverse("disputes", args=[cast.project.slug])
    html = client.get(address, {"is_new": "1", "waits": "me"}).content.decode()
    assert "Dispute 3" in html
    assert "Dispute 5" not in html
    assert "Wait for others" not in html
    html = client.get(address, {"words": "nowhere said"}).content.decode()
    assert "Show all" in html
    assert "Dispute 3" not in html
    assert "Dispute 4" in client.get(address, {"dimension": "nonsense"}).content.decode()


def test_a_page_leads_to_the_items_other_disputes_and_to_the_next_document(
    cast: Cast, client: Client
) -> None:
    me, middle = cast.annotators[:2]
    first = Dispute.objects.get(number=1)
    there = disputes_on_text(first, me, {first.dimension_id: "1"})
    assert [(each.dispute.number, each.is_at_work, each.needs_me, each.held) for each in there] == [
        (1, True, True, "1"),
        (2, False, True, ""),
    ]
    assert not any(each.needs_me for each in disputes_on_text(first, middle, {}))
    left = count_remaining(me, Dispute.objects.select_related("item").get(number=1))
    assert (left.disputes, left.following, left.next_document) == (7, 2, 5)
    last = count_remaining(me, Dispute.objects.select_related("item").get(number=8))
    assert (last.following, last.next_document) == (7, 1)  # what is left about the text, then round again
    client.force_login(me.user)  # type: ignore[arg-type]
    html = client.get(reverse("dispute", args=[cast.project.slug, 1])).content.decode()
    assert "7 others need you" in html
    assert "disputed text 1 of 2 · document 1 of 2" in html
    for number in (2, 5):
        assert reverse("dispute", args=[cast.project.slug, number]) in html


def test_the_time_left_follows_from_the_pauses_between_answers(
    clock: Clock, cast: Cast, client: Client
) -> None:
    me = cast.annotators[0]
    client.force_login(me.user)  # type: ignore[arg-type]
    pages = [reverse("disputes", args=[cast.project.slug]), reverse("dispute", args=[cast.project.slug, 8])]

    def told() -> list[bool]:
        return ["about 6 min to go" in client.get(page).content.decode() for page in pages]

    for number, pause in ((1, 0), (2, 60), (3, 3600), (4, 120)):  # an hour is a break
        clock.now += timedelta(seconds=pause)
        answer_dispute(dispute=Dispute.objects.get(number=number), rater=me, value=2)
    assert told() == [False, False]
    clock.now += timedelta(seconds=240)
    answer_dispute(dispute=Dispute.objects.get(number=5), rater=me, value=2)
    assert told() == [True, False]  # three disputes of two minutes; beside the last of them two are left
    assert "about 4 min to go" in client.get(pages[1]).content.decode()


def test_the_last_document_has_no_next_one(cast: Cast) -> None:
    me = cast.annotators[0]
    for number in range(1, 5):
        answer_dispute(dispute=Dispute.objects.get(number=number), rater=me, value=2)
    left = count_remaining(me, Dispute.objects.select_related("item").get(number=8))
    assert (left.disputes, left.following, left.next_document) == (3, 7, None)


def test_an_own_post_is_no_news_though_the_dispute_was_never_viewed(cast: Cast) -> None:
    me, other = cast.annotators[0], cast.annotators[2]
    dispute = Dispute.objects.get(number=3)
    post_message(dispute=dispute, author=me, text="Is it?")  # as by the API
    assert count_needing_and_new(me)[1] == 0
    post_message(dispute=dispute, author=other, text="It is.")
    assert count_needing_and_new(me)[1] == 1
    note_look(dispute=dispute, rater=me)
    assert count_needing_and_new(me)[1] == 0


def test_the_first_of_each_part_are_read_and_all_of_them_counted(cast: Cast) -> None:
    me = cast.annotators[0]
    first, all_of_them = work_list(me, most=2), work_list(me)
    assert len(all_of_them.needing_me) == first.counts.needing_me == 8
    assert first.needing_me == all_of_them.needing_me[:2]


def test_many_documents_are_searched_by_words_and_not_listed(
    cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    address = reverse("disputes", args=[cast.project.slug])
    assert "document" in client.get(address).context["form"].fields
    monkeypatch.setattr(own_items, "MOST_DOCUMENTS_LISTED", 1)
    assert list(client.get(address).context["form"].fields) == ["waits", "is_new", "dimension", "words"]


def test_the_list_sorts_titles_by_their_numbers_and_shows_first_words(client: Client) -> None:
    cast = make_project(documents=12, systems=1)
    for number, item in enumerate(cast.items):
        Item.objects.filter(pk=item.pk).update(text=f"Words of text {number}, " + "and more " * 40)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    me = cast.annotators[0]
    needs, *_ = sections_of(work_list(me), me)
    assert [each.document for each in needs.items] == [f"Product {number}" for number in range(1, 13)]
    client.force_login(me.user)  # type: ignore[arg-type]
    html = client.get(reverse("disputes", args=[cast.project.slug])).content.decode()
    assert "Words of text 0, and more" in html
    assert "and more " * 30 not in html
    titles = [title for _, title in WorkFilterForm(QueryDict(), membership=me).fields["document"].choices]  # type: ignore[attr-defined]
    assert titles[1:4] == ["Product 1", "Product 2", "Product 3"]
