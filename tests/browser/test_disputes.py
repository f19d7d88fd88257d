"""Discussing a dispute in a browser: keys, other windows, the end of a session, and following others."""

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from annotate.commands.disputes import adjudicate, post_message
from annotate.commands.rounds import close_round_one, open_round_two
from annotate.models import Dispute, Rating, RatingChange
from tests.annotate.rounds import opened, rate
from tests.browser.people import signed_in
from tests.factories import PASSWORD, Cast, make_project

UNREAD = 400  # a key pressed sooner is taken for one meant for the page before


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """Four disputes of the values 1, 3 and 5."""
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast


def address(cast: Cast, number: int = 1) -> str:
    return f"/projects/{cast.project.slug}/disputes/{number}/"


def at_dispute(context: BrowserContext, cast: Cast, number: int = 1) -> Page:
    page = signed_in(context, cast.annotators[0].user)
    page.goto(address(cast, number))
    page.wait_for_timeout(UNREAD)
    return page


def answers() -> int:
    return RatingChange.objects.filter(rating__assignment__round__number=2).count()


def test_a_key_that_is_held_answers_one_dispute(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    for _ in range(40):
        page.keyboard.down("k")  # every one but the first is a repetition
        page.wait_for_timeout(25)
    page.keyboard.up("k")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_a_key_that_comes_as_soon_as_the_page_is_there_is_not_meant_for_it(
    context: BrowserContext, cast: Cast
) -> None:
    page = signed_in(context, cast.annotators[0].user)
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'k', bubbles: true})))"
    )
    page.goto(address(cast))
    page.wait_for_timeout(UNREAD)
    assert answers() == 0
    page.keyboard.press("k")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_keep_keeps_what_this_window_showed_or_nothing(context: BrowserContext, cast: Cast) -> None:
    one, other = at_dispute(context, cast), at_dispute(context, cast)
    one.keyboard.press("2")
    one.wait_for_url(f"**{address(cast, 2)}?after=1")
    other.get_by_label("Reason").fill("I stay with it.")
    other.get_by_role("button", name="Keep 1").click()
    expect(other.get_by_role("alert")).to_contain_text("your value is 2 now")
    expect(other.get_by_label("Reason")).to_have_value("I stay with it.")
    assert answers() == 1
    other.get_by_role("button", name="Keep 2").click()
    other.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "I stay with it."


def test_what_was_typed_outlives_the_session(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("A long and careful reason.")
    Session.objects.all().delete()
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("You are signed out, so nothing was saved.")
    expect(page.get_by_label("Reason")).to_have_value("A long and careful reason.")
    with context.expect_page() as opened_page:
        page.get_by_role("link", name="sign in").click()
    door = opened_page.value
    user = cast.annotators[0].user
    assert user
    door.get_by_label("Email").fill(user.email)
    door.get_by_label("Password").fill(PASSWORD)
    door.get_by_role("button", name="Sign in").click()
    door.wait_for_url(f"**{address(cast)}")
    page.get_by_role("button", name="4", exact=True).click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    given = Rating.objects.get(assignment__round__number=2)
    assert (given.value, given.comment) == (4, "A long and careful reason.")


def test_an_answer_that_does_not_arrive_says_so(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("Because.")
    context.set_offline(True)
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This was not saved")
    context.set_offline(False)
    page.get_by_role("button", name="4", exact=True).click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_without_scripts_an_answer_goes_on_to_the_next(
    browser: Browser, live_server: LiveServer, cast: Cast
) -> None:
    bare = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    page = signed_in(bare, cast.annotators[0].user)
    page.goto(address(cast))
    page.get_by_label("Reason").fill("Plainly.")
    page.get_by_role("button", name="Keep 1").click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "Plainly."
    bare.close()


# --- Following others


def refreshes(page: Page) -> list[str]:
    found: list[str] = []

    def note(request: Request) -> None:
        if "hx-request" in request.headers:
            found.append(request.url)

    page.on("request", note)
    return found


LIVE = 2_000  # milliseconds in which three people on a call see what another does


def test_three_people_on_a_call_see_each_others_changes_within_two_seconds(
    browser: Browser, live_server: LiveServer, cast: Cast
) -> None:
    contexts = [browser.new_context(base_url=live_server.url, reduced_motion="reduce") for _ in range(3)]
    a, b, c = (signed_in(each, place.user) for each, place in zip(contexts, cast.annotators, strict=True))
    for page in (a, b, c):
        page.set_viewport_size({"width": 390, "height": 700})
        page.goto(address(cast))
    box = a.get_by_label("Write to the other raters")
    box.fill("I am in the middle of")
    before = box.bounding_box()
    b.get_by_label("Write to the other raters").fill("Is it an error?")
    b.get_by_role("button", name="Send").click()
    for page in (a, c):
        expect(page.locator(".thread")).to_contain_text("Is it an error?", timeout=LIVE)
        expect(page.locator("#news")).to_contain_text("Rater B wrote: Is it an error?")
    assert box.bounding_box() == before
    a.keyboard.type(" a sentence.")  # the focus has stayed
    expect(box).to_have_value("I am in the middle of a sentence.")
    c.get_by_label("Stay on this dispute").check()
    c.get_by_role("button", name="2", exact=True).click()
    expect(c.locator("#answered")).to_contain_text("Dispute 1: you changed to 2.")
    for page, said in ((a, "You and Rater B are 2 apart."), (b, "Rater A and you are 2 apart.")):
        expect(page.locator(".apart")).to_have_text(said, timeout=LIVE)
        expect(page.locator("#news")).to_contain_text("Rater C: 5 → 2")
    b.wait_for_timeout(UNREAD)
    b.keyboard.press("2")
    b.wait_for_url(f"**{address(cast, 2)}?after=1")
    for page in (a, c):
        expect(page.locator(".apart")).to_have_text("The values have met. The unit is settled.", timeout=LIVE)
    b.wait_for_timeout(UNREAD)
    b.keyboard.press("z")
    b.wait_for_url(f"**{address(cast)}")
    expect(c.locator(".apart")).to_have_text("Rater A and Rater B are 2 apart.", timeout=LIVE)
    expect(box).to_have_value("I am in the middle of a sentence.")
    for context in contexts:
        context.close()


def test_others_are_followed_until_the_dispute_is_decided(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    dispute = Dispute.objects.get(number=1)
    post_message(dispute=dispute, author=cast.annotators[1], text="Is it an error?")
    expect(page.locator(".thread")).to_contain_text("Is it an error?")
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    expect(page.locator("#discussion")).to_contain_text("An admin decided: 3.")
    asked = refreshes(page)
    page.wait_for_timeout(3_000)
    assert asked == []


def test_a_hidden_window_asks_for_nothing_until_it_is_seen_again(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true})")
    turn = "window.away = {}; document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(turn.format("true"))
    page.wait_for_timeout(300)  # a request that was under way
    asked = refreshes(page)
    page.wait_for_timeout(3_000)
    assert asked == []
    with page.expect_request(lambda request: "seen=" in request.url):
        page.evaluate(turn.format("false"))


def passages(alias: str) -> list[dict[str, int]]:
    """Return the evidence of a rater's one answer."""
    answer = Rating.objects.get(assignment__round__number=2, assignment__annotator__alias=alias)
    return answer.evidence or []


def test_words_are_found_and_marked_as_evidence_for_an_answer_which_the_others_see_at_once(
    context: BrowserContext, browser: Browser, live_server: LiveServer, cast: Cast
) -> None:
    elsewhere = browser.new_context(base_url=live_server.url)
    other = signed_in(elsewhere, cast.annotators[1].user)
    other.goto(address(cast))
    page = at_dispute(context, cast)
    page.get_by_label("Stay on this dispute").check()
    page.locator("h1").click()
    page.keyboard.press("o")
    expect(page.locator(".document details[open]")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("review")
    expect(page.locator("[data-find-count]")).to_have_text(re.compile("1 of"))
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator("#answer .evidence-quote")).to_have_text(["❝ Review"])
    page.reload()  # nothing is lost before it is sent
    page.wait_for_timeout(UNREAD)
    page.keyboard.press("k")
    expect(other.locator(".document .marked")).to_have_text(["Reviewmarked by A"])
    assert passages("A") == [{"part": 1, "start": 0, "end": 6}]
    # Beside a mark, places are counted without who made it.
    other.evaluate("getSelection().selectAllChildren(document.querySelector('.text[data-part=\"1\"]'))")
    other.keyboard.press("e")
    other.keyboard.press("k")
    expect(page.locator(".document .marked").first).to_have_text("Reviewmarked by you B")
    length = len(cast.items[0].document.parts[0]["text"])
    assert passages("B") == [{"part": 1, "start": 0, "end": length}]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#answer .evidence")).to_be_hidden()
    expect(page.locator(".document .marked").first).not_to_contain_text("you")
    elsewhere.close()
