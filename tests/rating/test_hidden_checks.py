"""Hidden checks in Round I: gold and repeats that look like work and count in nothing."""

import random
import re
from datetime import UTC, datetime
from itertools import groupby

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.errors import FrozenError, InvalidValueError, NotReadyError, RoundClosedError
from annotate.core.models import Assignment, Dispute, GoldItem, Item, Rating, Round
from annotate.exports.registry import TABLES
from annotate.people.queries import loads_of
from annotate.quality.commands import RightValue, describe_gold, mark_gold
from annotate.quality.queries import SIGNALS, raters_with_signals
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.commands.units import WantedUnit, ask_for_units
from annotate.rating.planning import GAP, Checking, Turn, due, insert_checks, keep_back
from annotate.rating.queries.hidden_checks import CheckComparison, checks_of
from annotate.rating.queries.own_items import ends_of_blocks
from annotate.rating.queries.plans import shared_out
from annotate.rating.queries.work import first_unfinished
from annotate.results.commands import current_page
from annotate.results.queries.reliability_data import rated_items
from annotate.results.registry import result_of
from annotate.watching.queries.overview import own_work
from tests.factories import Cast, make_project
from tests.rating.rounds import frozen, opened

pytestmark = pytest.mark.django_db


@given(st.integers(0, 60), st.integers(0, 5), st.integers(0, 7), st.integers(0, 7), st.integers(0, 99))
def test_checks_come_as_often_as_asked(
    items: int, gold: int, gold_every: int, repeat_every: int, seed: int
) -> None:
    checking, hidden = Checking(gold_every, repeat_every), list(range(1000, 1000 + gold))
    order = insert_checks(range(items), hidden, checking, random.Random(seed))
    assert [turn.item for turn in order if not turn.check] == list(range(items))
    met = [turn.item for turn in order if turn.check == "gold"]
    assert met == hidden[: min(items // gold_every, gold) if gold_every else 0]
    again = [turn.item for turn in order if turn.check == "repeat"]
    assert len(set(again)) == len(again) <= (items // repeat_every if repeat_every else 0)
    positions = {turn.item: index for index, turn in enumerate(order) if not turn.check}
    for index, turn in enumerate(order):
        if turn.check == "repeat":
            assert index - positions[turn.item] >= GAP
    assert order == insert_checks(range(items), hidden, checking, random.Random(seed))


def test_all_checks_that_are_behind_come_at_once() -> None:
    order = [Turn(n) for n in range(40)]
    checks = due(order, [100, 101, 102], Checking(10, 20), random.Random(1))
    assert [turn.item for turn in checks if turn.check == "gold"] == [100, 101, 102]
    assert sum(turn.check == "repeat" for turn in checks) == 2


def test_checks_are_due_only_if_configured() -> None:
    assert due([Turn(n) for n in range(50)], [7], Checking(), random.Random(1)) == []


@pytest.fixture
def cast() -> Cast:
    """Make a project of 15 items and one hidden gold item, which is right at 5; one rater an item."""
    cast = make_project(documents=16, systems=1, annotators=2, raters_per_item=1)
    gold = mark_gold(project=cast.project, item=cast.items[0], use="hidden")
    right = {cast.dimensions[0].pk: RightValue(5, "It is perfect.")}
    describe_gold(project=cast.project, gold=gold, explanation="", values=right)
    return cast


def rate_all(round: Round, cast: Cast, value: int = 3) -> list[Assignment]:
    """Let the first annotator rate whatever comes, as it comes; repeats one point higher."""
    me, met = cast.annotators[0], list[Assignment]()
    while True:
        position = first_unfinished(round, me)
        if position is None and reserve_items(round=round, annotator=me):
            position = first_unfinished(round, me)
        if position is None:
            return met
        assignment = Assignment.objects.select_related("round__guideline").get(
            annotator=me, position=position, round__number__in=(1, Round.CHECKS)
        )
        met.append(assignment)
        given = value + (assignment.plan == Assignment.Plan.REPEAT)
        save_rating(assignment=assignment, dimension=frozen(round), answer=Answer(value=given), by=me.user)


@pytest.mark.parametrize("kind", ["queue", "everyone"])
def test_checks_are_met_among_the_items_and_counted_nowhere(cast: Cast, kind: str) -> None:
    choose_plan(project=cast.project, kind=kind, gold_every=5, repeat_every=12)
    round, me = opened(cast), cast.annotators[0]
    met = rate_all(round, cast)
    assert [assignment.position for assignment in met] == list(range(1, 18))  # 15 items, one gold, one repeat
    plans = [assignment.plan for assignment in met]
    assert (plans.count("gold"), plans.count("repeat")) == (1, 1)
    shown = own_work(me).progress
    assert shown
    assert shown.done == 17  # what the annotator sees tells nothing apart
    assert loads_of(cast.project)[me.pk].done == 15
    assert len(rated_items(round)["fluency"].items) == 15
    assert cast.items[0].pk not in rated_items(round)["fluency"].items
    assert sum(shared_out(round).plan.loads) == (15 if kind == "queue" else 30)
    for table in ("ratings", "final_values", "history"):
        assert len(list(TABLES[table].rows(cast.project))) == 15
    assert Rating.objects.count() == 17
    kept = current_page(project=cast.project, result=result_of(cast.project, SIGNALS))
    first = raters_with_signals(cast.project, kept)[0]
    assert first.signals.items == 15
    assert first.checks.repeats == {"Fluency": CheckComparison(1, 0, 1)}
    assert first.checks.gold == {"Fluency": CheckComparison(1, 0, 0)}
    assert first.checks.all_gold == CheckComparison(1, 0, 0)
    assert {name: each.others for name, each in first.checks.calibrations.items()} == {"Fluency": 1}


def test_their_rater_learns_of_them_on_my_work_after_each_block(cast: Cast, client: Client) -> None:
    choose_plan(project=cast.project, kind="everyone", gold_every=5, repeat_every=12)
    round = opened(cast)
    met = rate_all(round, cast)
    page = reverse("my_work", args=[cast.project.slug])
    held = "Items that came a second time, the same value:"
    figures = f"{held} Fluency 0 of 1, within one point 1 of 1 Beside reference values, Fluency : 2 below"

    def read(annotator: int = 0) -> str:
        client.force_login(cast.annotators[annotator].user)  # type: ignore[arg-type]
        html = re.sub(r"<[^>]*>", " ", client.get(page).content.decode())
        return " ".join(html.split())

    assert (
        f"In your first 17 items, as you had rated them when you finished the block. {NEXT} {figures}"
        in read()
    )
    for (
        assignment
    ) in met:  # what is changed later changes no figure, which would tell a check from other items
        save_rating(
            assignment=assignment, dimension=frozen(round), answer=Answer(value=1), by=cast.annotators[0].user
        )
    assert figures in read()
    Assignment.objects.filter(pk=met[-1].pk).update(completed_at=None)
    assert held not in read()  # the block is not finished
    assert held not in read(annotator=1)
    close_round_one(project=cast.project, by=cast.admin)
    assert f"{held} Fluency 1 of 1" in read()
    assert NEXT not in read()


NEXT = "More is added after the next block."


def test_blocks_end_one_after_the_other() -> None:
    first, second, third = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3))
    assert ends_of_blocks([first, second], is_last=False, size=3) == []
    assert ends_of_blocks([first, second], is_last=True, size=3) == [second, second]
    assert ends_of_blocks([third, first, second, second], is_last=False, size=2) == [third] * 4
    assert ends_of_blocks([first, None, second, second], is_last=True, size=2) == []
    assert ends_of_blocks([first, second, third], is_last=False, size=2) == [second, second]


def test_checks_close_with_round_one_and_open_no_dispute(cast: Cast) -> None:
    choose_plan(project=cast.project, kind="queue", gold_every=5, repeat_every=1)
    round = opened(cast)
    check = next(assignment for assignment in rate_all(round, cast) if assignment.plan == "repeat")
    assert own_work(cast.annotators[0]).round_one == round
    close_round_one(project=cast.project, by=cast.admin)
    assert not Dispute.objects.exists()
    assert list(cast.project.rounds.all()) == [round]
    with pytest.raises(RoundClosedError):
        save_rating(
            assignment=check,
            dimension=frozen(round),
            answer=Answer(value=1),
            by=cast.annotators[0].user,
        )


def test_a_page_of_a_check_looks_like_any_other(client: Client, cast: Cast) -> None:
    choose_plan(project=cast.project, kind="queue", gold_every=5)
    round, me = opened(cast), cast.annotators[0]
    reserve_items(round=round, annotator=me)
    gold = Assignment.objects.get(plan="gold")
    assert me.user
    client.force_login(me.user)
    page = client.get(f"/projects/{cast.project.slug}/rate/{gold.position}/").content.decode()
    other = client.get(f"/projects/{cast.project.slug}/rate/1/").content.decode()
    assert '<span class="soft">Round I</span>' in page
    assert gold.item.text in page
    new_words = {word for word in page.lower().split() if word not in other.lower()}
    assert not {"gold", "repeat", "check"} & new_words
    assert counter(page) == counter(other)


def counter(page: str) -> list[str]:
    return re.findall(r"data-(?:done|total|today)>\d+<", page)


def test_without_checks_there_is_no_round_of_them(cast: Cast) -> None:
    choose_plan(project=cast.project, kind="queue", gold_every=0)
    opened(cast)
    assert Round.all_rounds.count() == 1
    assert not checks_of(cast.project)


def test_a_gold_item_is_no_work_of_round_one_and_is_not_routed(cast: Cast) -> None:
    round = opened(cast)
    assert not Assignment.objects.filter(round=round, item=cast.items[0]).exists()
    unit = WantedUnit(cast.items[0].pk, cast.dimensions[0].pk, 1.0)
    with pytest.raises(NotReadyError, match="1 of these items have gold values"):
        ask_for_units(round=round, units=[unit], raters=2, origin="a policy", seed=1)


def test_gold_is_marked_described_and_given_back_before_the_round(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    base = f"/projects/{cast.project.slug}/gold/"
    item = Item.objects.get(document__key="product-2")
    entered = {"document": "product-2", "system": "system-1", "use": "practice"}
    made = client.post(base, entered)
    gold = GoldItem.objects.get(item=item)
    assert made["Location"] == f"{base}{gold.pk}/"
    key = cast.dimensions[0].pk
    assert client.post(f"{base}{gold.pk}/", {f"value-{key}": "9"}).status_code == 422
    client.post(f"{base}{gold.pk}/", {f"value-{key}": "4", f"why-{key}": "Because.", "explanation": "All."})
    assert list(gold.values.values_list("value", "explanation")) == [(4, "Because.")]
    wrong = client.post(base, {**entered, "system": "system-9"})
    assert (wrong.status_code, "There is no item of this document" in wrong.content.decode()) == (422, True)
    with pytest.raises(InvalidValueError):
        describe_gold(project=cast.project, gold=gold, explanation="", values={key: RightValue(0)})
    client.post(f"{base}{gold.pk}/", {"unmark": "1"})
    assert not GoldItem.objects.filter(item=item).exists()
    opened(cast)
    assert client.post(base, entered).status_code == 409
    with pytest.raises(FrozenError):
        mark_gold(project=cast.project, item=item, use="hidden")


def test_only_admins_see_gold(client: Client, cast: Cast) -> None:
    base = f"/projects/{cast.project.slug}/gold/"
    gold = GoldItem.objects.get()
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        for address in (base, f"{base}{gold.pk}/"):
            assert client.get(address).status_code == 404
        assert client.post(f"{base}bar/", {"practice_bar": "80"}).status_code == 404


def test_repeats_come_with_a_new_item_of_their_document() -> None:
    document_of = {item: item // 13 for item in range(416)}
    for seed in range(20):
        order = insert_checks(range(416), [], Checking(repeat_every=12), random.Random(seed), document_of)
        assert sorted(turn.item for turn in order if not turn.check) == list(range(416))
        positions = {turn.item: index for index, turn in enumerate(order) if not turn.check}
        repeats = [index for index, turn in enumerate(order) if turn.check]
        assert len(repeats) >= 25
        visits = [list(group) for _, group in groupby(order, key=lambda turn: document_of[turn.item])]
        alone = [visit for visit in visits if all(turn.check for turn in visit)]
        assert not alone
        for index in repeats:
            assert index - positions[order[index].item] >= GAP


def test_new_item_of_a_return_comes_first_or_last() -> None:
    document_of = {item: item // 5 for item in range(100)}
    orders = [
        insert_checks(range(100), [], Checking(repeat_every=30), random.Random(seed), document_of)
        for seed in range(20)
    ]
    firsts = {
        order[index - 1].item // 5 == turn.item // 5
        for order in orders
        for index, turn in enumerate(order)
        if turn.check
    }
    assert firsts == {True, False}


def test_counter_of_a_return_counts_this_visit_only(client: Client) -> None:
    cast = make_project(documents=6, systems=4, annotators=1)
    choose_plan(project=cast.project, kind="everyone", work_order="by_document", repeat_every=12)
    round, me = opened(cast), cast.annotators[0]
    assert me.user
    repeat = Assignment.objects.get(plan="repeat", annotator=me)
    first = Assignment.objects.get(round=round, annotator=me, item=repeat.item)
    client.force_login(me.user)
    for assignment, items in ((first, 3), (repeat, 2)):
        html = client.get(
            reverse("rate_item", args=[cast.project.slug, assignment.position])
        ).content.decode()
        assert re.search(rf"item \d of {items} ·", html)


def test_repeats_of_the_shared_queue_accompany_a_reserved_item() -> None:
    cast = make_project(documents=15, systems=6, annotators=3)
    choose_plan(project=cast.project, kind="queue", work_order="by_document", repeat_every=12)
    round = opened(cast)
    while sum([reserve_items(round=round, annotator=each) for each in cast.annotators]):
        pass
    repeats, alone = 0, 0
    for annotator in cast.annotators:
        met = Assignment.objects.filter(annotator=annotator).order_by("position")
        assert [place.position for place in met] == list(range(1, len(met) + 1))
        assert met.filter(round=round).count() == len(cast.items)
        visits = [
            list(group) for _, group in groupby(met, key=lambda assignment: assignment.item.document_id)
        ]
        repeats += met.filter(plan="repeat").count()
        alone += sum(all(assignment.plan == "repeat" for assignment in visit) for visit in visits)
    assert repeats == 3 * 7
    assert not alone


def test_next_items_are_of_one_document_and_kept_ones_come_last() -> None:
    items = [(1, 10), (2, 10), (3, 10), (4, 20), (5, 20), (6, 30)]
    assert keep_back(items, set(), None) == ([1, 2], [3])
    assert keep_back(items[2:], set(), 10) == ([4], [3, 5])
    assert keep_back(items[2:], {10}, 20) == ([4], [3, 5])
    assert keep_back(items, {10}, 20) == ([4, 5], [1, 2, 3])  # no more than three are kept
    assert keep_back(items[5:], {10}, 20) == ([6], [])
    assert keep_back(items[:3], {10}, 20) == ([1, 2, 3], [])
