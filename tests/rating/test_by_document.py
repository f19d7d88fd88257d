"""Work by document: the items of a document in succession, in an order of each rater's own."""

import random
from itertools import groupby

import pytest
from django.urls import reverse

from annotate.core.models import Assignment, Dispute, Membership, Round
from annotate.quality.commands import RightValue, describe_gold, mark_gold
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.rating.planning import Checking, insert_checks, sort_by_group
from annotate.rating.queries.assignments import own_order
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

KINDS = ["queue", "everyone"]


def documents_of(round: Round, annotator) -> list[int]:
    while round.project.assignment_plan.kind == "queue" and reserve_items(round=round, annotator=annotator):
        pass
    return list(own_order(round, annotator).values_list("item__document", flat=True))


def cast_with(kind: str, work_order: str) -> Cast:
    cast = make_project(documents=6, systems=4)
    choose_plan(project=cast.project, kind=kind, work_order=work_order)
    return cast


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_each_document_is_met_once_in_an_order_of_each_raters_own(kind):
    cast = cast_with(kind, "by_document")
    round = opened(cast)
    assert round.work_order == "by_document"
    orders = [documents_of(round, annotator) for annotator in cast.annotators[:2]]
    for order in orders:
        assert len(order) == 24
        assert len(list(groupby(order))) == 6
    assert orders[0] != orders[1]
    items = [
        list(own_order(round, annotator).filter(item__document=orders[0][0]).values_list("item", flat=True))
        for annotator in cast.annotators
    ]
    assert items[0] != items[1] or items[0] != items[2]  # not the same order for everyone


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_fully_mixed_order_separates_items_of_a_document(kind):
    cast = cast_with(kind, "mixed")
    order = documents_of(opened(cast), cast.annotators[0])
    assert len(list(groupby(order))) > 6


@pytest.mark.django_db
@pytest.mark.parametrize("work_order", ["by_document", "mixed"])
def test_disputes_follow_the_order_of_work(work_order):
    cast = make_project(documents=5, systems=3, annotators=2, raters_per_item=2, dimensions=("a", "b"))
    choose_plan(project=cast.project, kind="everyone", work_order=work_order)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5), strict=True):
        for item in cast.items:
            for dimension in ("a", "b"):
                rate(cast, round, annotator, item, value, key=dimension)
    close_round_one(project=cast.project, by=cast.admin)
    disputes = Dispute.objects.order_by("number")
    units = list(disputes.values_list("item__document", "item", "dimension__key"))
    assert len(units) == 30
    if work_order == "mixed":
        assert len(list(groupby(document for document, _, _ in units))) > 5
        return
    assert len(list(groupby(document for document, _, _ in units))) == 5
    assert len(list(groupby(item for _, item, _ in units))) == 15
    assert [key for _, _, key in units] == ["a", "b"] * 15
    second = open_round_two(project=cast.project, by=cast.admin)
    own = Assignment.objects.filter(round=second, annotator=cast.annotators[0]).order_by("position")
    assert len(list(groupby(own.values_list("item__document", flat=True)))) == 5


Named = tuple[str, str]


def names_in_order(round: Round, annotator: Membership) -> list[Named]:
    own = Assignment.objects.filter(round=round, annotator=annotator).order_by("position")
    return list(own.values_list("item__document__key", "item__system__name"))


def orders_of_both_rounds(cast: Cast) -> dict[str, list[list[Named]]]:
    """What each annotator meets in Round I, in the checks hidden in it and in Round II, by pseudonym."""
    first = opened(cast)
    checks = Round.all_rounds.filter(project=cast.project, number=Round.CHECKS)
    for annotator, value in zip(cast.annotators, (1, 5), strict=True):
        for assignment in assignments_taken(first, annotator):
            rate(cast, first, annotator, assignment.item, value)
    close_round_one(project=cast.project, by=cast.admin)
    second = open_round_two(project=cast.project, by=cast.admin)
    return {
        annotator.pseudonym: [names_in_order(round, annotator) for round in (first, *checks, second)]
        for annotator in cast.annotators
    }


def assignments_taken(round: Round, annotator: Membership) -> list[Assignment]:
    while round.project.assignment_plan.kind == "queue" and reserve_items(round=round, annotator=annotator):
        pass
    return list(Assignment.objects.filter(round=round, annotator=annotator).select_related("item"))


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("work_order", ["by_document", "mixed"])
def test_the_order_follows_names_and_the_seed_not_the_keys_of_a_database(kind, work_order):
    casts = [make_project(documents=4, systems=4, annotators=2, raters_per_item=2) for _ in range(2)]
    for mine, copied in zip(*(cast.annotators for cast in casts), strict=True):
        copied.pseudonym = mine.pseudonym
        copied.save()
    for cast in casts:
        gold = mark_gold(project=cast.project, item=cast.items[0], use="hidden")
        right = {cast.dimensions[0].pk: RightValue(5, "")}
        describe_gold(project=cast.project, gold=gold, explanation="", values=right)
        choose_plan(project=cast.project, kind=kind, work_order=work_order, gold_every=5, repeat_every=12)
    original, copy = map(orders_of_both_rounds, casts)
    assert [len(order) for order in original[casts[0].annotators[0].pseudonym]] == [15, 2, 15]
    assert copy == original


def test_groups_follow_their_first_item():
    assert sort_by_group([5, 1, 6, 2], {1: 10, 2: 10, 5: 20, 6: 20}) == [5, 6, 1, 2]


def test_checks_come_only_between_documents_and_gold_next_to_its_own():
    document_of = {item: item // 10 for item in range(60)}
    items = [item for item in range(60) if item % 10]  # nine of each document; the tenth is gold
    gold = [50, 20, 0, 30]
    order = insert_checks(items, gold, Checking(gold_every=9), random.Random(1), document_of)
    assert sorted(turn.item for turn in order if turn.check) == [0, 20, 30, 50]
    work = [document_of[turn.item] for turn in order if not turn.check]
    assert len(list(groupby(work))) == 6
    met = [document_of[turn.item] for turn in order]
    assert len(list(groupby(met))) == 6  # each gold item stands with its document


@pytest.mark.django_db
def test_page_shows_the_current_position(client):
    cast = cast_with("everyone", "by_document")
    opened(cast)
    client.force_login(cast.annotators[0].user)
    html = client.get(reverse("rate_item", args=[cast.project.slug, 6])).content.decode()
    text = " ".join(html.split())
    assert text.count(" item 2 of 4 · document 2 of 6 <") == 2  # above the text on a phone
    plan = reverse("plan", args=[cast.project.slug])
    client.force_login(cast.admin)
    assert "Order of work: by document" in " ".join(client.get(plan).content.decode().split())


@pytest.mark.django_db
def test_shared_queue_has_an_unknown_number_of_documents(client):
    cast = cast_with("queue", "by_document")
    round = opened(cast)
    client.force_login(cast.annotators[0].user)
    reserve_items(round=round, annotator=cast.annotators[0], how_many=6)
    html = client.get(reverse("rate_item", args=[cast.project.slug, 6])).content.decode()
    text = " ".join(html.split())
    assert " item 2 of 4 · document 2 <" in text
