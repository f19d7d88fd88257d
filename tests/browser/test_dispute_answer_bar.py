"""The answer bar of a dispute: reasons, keys, values in view, states that change, and decisions."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Dispute, Item, Membership, Rating, Role
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from tests.browser.people import signed_in
from tests.browser.test_disputes import address, answers, at_dispute, dispute_all
from tests.browser.waiting import read_news, stop_clock
from tests.factories import Cast, make_member, make_project
from tests.rating.rounds import opened, rate

PHONE = {"viewport": {"width": 390, "height": 664}, "has_touch": True, "is_mobile": True}
DIMENSIONS = ("fluency", "coherence", "relevance", "consistency")


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """Four disputes of the values 1, 5 and 5."""
    cast = make_project()
    dispute_all(cast)
    return cast


# --- Keeping a value


def test_keep_asks_for_its_reason_and_enter_sends_it(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    question = page.locator(".keep-question")
    expect(question).to_be_hidden()
    page.keyboard.press("k")
    expect(question).to_contain_text("Why do you keep 1?")
    expect(page.locator("#comment")).to_be_focused()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert answers() == 0
    page.keyboard.type("The text says so.")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "The text says so."


def test_keep_with_a_written_reason_needs_one_action(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("Plainly.")
    page.get_by_role("button", name="Keep 1").click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "Plainly."


def test_keep_on_a_phone_shows_the_reasons_and_no_keyboard(
    new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = signed_in(new_context(**PHONE), cast.annotators[0].user)
    page.goto(address(cast))
    differ = page.get_by_role("button", name="We differ")
    expect(differ).to_be_hidden()
    page.get_by_role("button", name="Keep 1").tap()
    expect(differ).to_be_focused()
    page.get_by_role("button", name="The text supports it").tap()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_escape_withdraws_the_question_for_a_reason(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    expect(page.locator(".keep-question")).to_be_hidden()
    page.keyboard.press("4")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).value == 4


def test_values_are_in_scale_order_in_the_answer_bar(context: BrowserContext, cast: Cast) -> None:
    answer_dispute(dispute=Dispute.objects.get(number=1), rater=cast.annotators[0], value=3)
    page = at_dispute(context, cast)
    shown = page.locator("#answer-buttons > button:visible").all_inner_texts()
    assert [each.split()[:2] for each in shown] == [["1"], ["2"], ["Keep", "3"], ["4"], ["5"]]


# --- Keys that come too early


def test_a_key_right_after_a_new_dispute_is_visibly_ignored(context: BrowserContext, cast: Cast) -> None:
    page = signed_in(context, cast.annotators[0].user)
    page.clock.install()
    page.goto(address(cast))
    stop_clock(page)
    page.evaluate("dispatchEvent(new Event('pageshow'))")
    page.clock.run_for(200)
    page.keyboard.press("4")
    ignored = page.locator("#ignored")
    expect(ignored).to_have_text("4 was ignored: this dispute has just appeared. Press it again.")
    assert answers() == 0
    page.clock.run_for(200)  # 400 ms after the dispute appeared
    page.keyboard.press("4")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_a_key_while_an_answer_is_saved_is_visibly_ignored(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.route("**/answer/", lambda _: None)  # the request stays open
    page.keyboard.press("4")
    page.keyboard.press("2")
    expect(page.locator("#ignored")).to_have_text("2 was ignored: your last answer is being saved.")


# --- The values are in view


def test_values_are_above_the_bar_on_a_phone(
    new_context: Callable[..., BrowserContext], transactional_db: None
) -> None:
    cast = make_project(dimensions=DIMENSIONS, documents=1, systems=1)
    Item.objects.update(text="A sentence of a long text that was rated. " * 40)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5, 5), strict=True):
        for key in DIMENSIONS:
            rate(cast, round, annotator, cast.items[0], value, key=key)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    page = signed_in(new_context(**PHONE), cast.annotators[0].user)
    for number in range(1, len(DIMENSIONS) + 1):
        page.goto(address(cast, number))
        expect_values_in_view(page)
    page.goto(address(cast, 1))
    page.get_by_role("button", name="4", exact=True).tap()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    expect_values_in_view(page)


def expect_values_in_view(page: Page) -> None:
    expect(page.locator(".axis")).to_be_in_viewport(ratio=1)
    axis, bar = page.locator(".axis").bounding_box(), page.locator("#answer").bounding_box()
    assert axis
    assert bar
    assert axis["y"] + axis["height"] <= bar["y"]
    assert bar["y"] + bar["height"] <= 664 + 1


# --- States that change elsewhere


def test_dispute_settled_elsewhere_shows_a_message_instead_of_controls(
    context: BrowserContext, cast: Cast
) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("Half a thought.")
    for rater in cast.annotators[1:]:
        answer_dispute(dispute=Dispute.objects.get(number=1), rater=rater, value=1)
    dispute = Dispute.objects.get(number=1)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=None, comment="In another window.")
    bar = page.locator("#answer")
    expect(bar).to_contain_text("This dispute is settled. You need not answer.")
    expect(page.get_by_role("button", name="Keep 1")).to_be_hidden()
    expect(page.get_by_label("Reason")).to_have_value("Half a thought.")
    expect(bar).to_contain_text("What you wrote here was not sent.")
    given = answers()
    page.keyboard.press("5")
    assert answers() == given
    bar.get_by_text("Answer again").click()
    expect(page.get_by_role("button", name="Keep 1")).to_be_visible()


def test_a_dispute_decided_elsewhere_shows_the_decision_instead_of_controls(
    context: BrowserContext, cast: Cast
) -> None:
    page = at_dispute(context, cast)
    adjudicate(dispute=Dispute.objects.get(number=1), value=3, note="So it is.", by=cast.admin)
    bar = page.locator("#answer")
    expect(bar).to_contain_text("An adjudicator decided this dispute: 3.")
    expect(bar.get_by_role("button", name="Keep 1")).to_have_count(0)
    expect(page.get_by_label("Reason")).to_be_hidden()


def test_closed_round_shows_a_message_instead_of_controls(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    close_round_two(project=cast.project, by=cast.admin)
    expect(page.locator("#answer")).to_contain_text("Round II is closed")
    expect(page.get_by_role("button", name="Keep 1")).to_have_count(0)


def test_news_leaves_an_open_question_for_a_reason(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.keyboard.press("k")
    answer_dispute(dispute=Dispute.objects.get(number=1), rater=cast.annotators[1], value=4)
    expect(page.locator("#discussion")).to_contain_text("5 → 4")
    expect(page.locator(".keep-question")).to_be_visible()


# --- Adjudication


@pytest.fixture
def adjudicator(cast: Cast) -> Membership:
    """Someone who did not rate; discussion has not resolved disputes 1 and 3."""
    for number in (1, 3):
        for rater in cast.annotators:
            answer_dispute(dispute=Dispute.objects.get(number=number), rater=rater, value=None, differs=True)
    return make_member(cast.project, Role.ADJUDICATOR)


def test_an_adjudicator_decides_each_dispute_by_two_actions(
    context: BrowserContext, cast: Cast, adjudicator: Membership
) -> None:
    page = signed_in(context, adjudicator.user)
    page.clock.install()
    page.goto("/")
    expect(page.get_by_text("2 disputes were not resolved by discussion and wait for you.")).to_be_visible()
    page.get_by_role("link", name="Decide the first").click()
    page.wait_for_url(f"**{address(cast, 1)}")
    read_news(page)
    form = page.get_by_role("form", name="Decide this dispute")
    expect(form).to_be_in_viewport(ratio=1)
    form.get_by_role("radio", name="4").check()  # one action
    form.get_by_role("button", name="The text supports it").click()  # and another
    page.wait_for_url(f"**{address(cast, 3)}?after=1")
    expect(page.get_by_text("Dispute 1: decided as 4.")).to_be_visible()
    read_news(page)
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="2")).to_be_checked()
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("Two slips.")
    page.keyboard.press("Enter")
    expect(page.locator("#discussion")).to_contain_text("Decided by adjudication: 2.")
    decided = Dispute.objects.filter(status="adjudicated").order_by("number")
    assert [(each.number, each.adjudicated_value, each.events.last().note) for each in decided] == [  # type: ignore[union-attr]
        (1, 4, "The text supports it"),
        (3, 2, "Two slips."),
    ]


def test_the_decision_is_in_view_on_a_phone(
    new_context: Callable[..., BrowserContext], cast: Cast, adjudicator: Membership
) -> None:
    page = signed_in(new_context(**PHONE), adjudicator.user)
    page.goto(address(cast))
    expect(page.get_by_role("form", name="Decide this dispute")).to_be_in_viewport(ratio=1)
    expect(page.locator(".axis")).to_be_in_viewport(ratio=1)
