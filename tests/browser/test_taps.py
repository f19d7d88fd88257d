"""Taps and clicks rate what they hit, on long texts, at every size, with a pause between down and up."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dimension, Dispute, Rating
from annotate.disputes.commands.disputes import post_message
from annotate.people.commands import save_preferences
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.browser.conftest import PATIENCE
from tests.browser.dock import point, start_rating
from tests.browser.long_texts import make_long_project
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, stop_clock, wait_until
from tests.factories import Cast
from tests.rating.rounds import opened, rate

SIZES = [(390, 844), (844, 390), (768, 1024), (640, 400), (1280, 800)]
PAUSE = 80  # milliseconds between down and up, as of a person; a browser takes 500 for a long press
SAVES = re.compile(r".*/rate/\d+/[a-z-]+/$")
# What each click hit, and by how much what was pressed had moved since.
WATCH = """
window.clicks = [];
let pressed = null;
addEventListener("pointerdown", ({ target }) => {
    pressed = { target, top: target.getBoundingClientRect().top };
}, { capture: true });
addEventListener("click", ({ target }) => {
    if (!pressed) return;
    const { top } = pressed.target.getBoundingClientRect();
    window.clicks.push({ hit: target === pressed.target, moved: Math.round(Math.abs(top - pressed.top)) });
}, { capture: true });
"""
# Where the middle of an element can be hit, once it is scrolled into view; null where something covers it.
MIDDLE = """(element) => {
    const middle = () => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
    };
    const isFree = () => element.contains(document.elementFromPoint(middle().x, middle().y));
    if (!isFree()) element.scrollIntoView({ block: "center", behavior: "instant" });
    return isFree() ? middle() : null;
}"""

# Scroll an element so that the end of the window covers the lower third of it.
TO_EDGE = """(element) => {
    const { top, height } = element.getBoundingClientRect();
    window.scrollBy({ top: top + height * 2 / 3 - innerHeight, behavior: "instant" });
}"""

# The page sends answers two seconds after the last one. test_keys.py and test_rating.py test this pause.
SEND = "() => { Unsent.flush(); }"


@dataclass(frozen=True)
class Pointer:
    """A mouse or a finger on a page."""

    page: Page
    down: Callable[[float, float], None]
    up: Callable[[float, float], None]

    def tap(self, element: Locator) -> None:
        """Press an element, and lift the pointer after a pause; the click must hit the element."""
        x, y = self.press(element)
        self.page.wait_for_timeout(PAUSE)
        self.lift(x, y)

    def press(self, element: Locator) -> tuple[float, float]:
        give_up = time.monotonic() + PATIENCE / 1000
        while (middle := element.evaluate(MIDDLE)) is None and time.monotonic() < give_up:
            self.page.wait_for_timeout(20)  # a busy machine still shows the question before
        assert middle is not None, "something covers what is to be tapped"
        self.down(middle["x"], middle["y"])
        return middle["x"], middle["y"]

    def lift(self, x: float, y: float) -> None:
        """Lift the pointer where it was pressed, and check what the click hit."""
        clicks = self.page.evaluate("window.clicks.length")
        self.up(x, y)
        wait_until(self.page, "before => window.clicks.length > before", clicks)
        assert self.page.evaluate("window.clicks.at(-1)") == {"hit": True, "moved": 0}


def finger(page: Page) -> Pointer:
    touch = page.context.new_cdp_session(page)

    def down(x: float, y: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})

    def up(_x: float, _y: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    return Pointer(page, down, up)


def mouse(page: Page) -> Pointer:
    def down(x: float, y: float) -> None:
        page.mouse.move(x, y)
        page.mouse.down()

    def up(x: float, y: float) -> None:
        page.mouse.move(x, y)
        page.mouse.up()

    return Pointer(page, down, up)


POINTERS = {"finger": finger, "mouse": mouse}


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return make_long_project()


@pytest.fixture(params=POINTERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def device(browser: Browser, live_server: LiveServer, kind: str) -> Iterator[BrowserContext]:
    """Give a profile of a phone, or of a computer."""
    context = browser.new_context(
        base_url=live_server.url,
        viewport={"width": 390, "height": 844},
        has_touch=kind == "finger",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    context.add_init_script(WATCH)
    yield context
    context.close()


def at_first_item(device: BrowserContext, cast: Cast, width: int = 390, height: int = 844) -> Page:
    page = signed_in(device, cast.annotators[0].user)
    page.set_viewport_size({"width": width, "height": height})
    start_rating(page, cast.project.slug)
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def step(page: Page, key: str) -> Locator:
    return page.locator(f'[data-go="{key}"]')


def keys(cast: Cast) -> list[str]:
    return list(Dimension.objects.filter(project=cast.project).values_list("key", flat=True))


def stored() -> dict[str, float | None]:
    return dict(Rating.objects.values_list("dimension__key", "value"))


def wait_for_stored(page: Page, expected: dict[str, float | None]) -> None:
    """Send all answers of the page now, and wait until the database has exactly these values."""
    page.evaluate(SEND)
    expect_stored(page, stored, expected)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_tap_rates_the_point_that_it_hits(
    device: BrowserContext, cast: Cast, kind: str, width: int, height: int
) -> None:
    opened(cast)
    page = at_first_item(device, cast, width, height)
    pointer = POINTERS[kind](page)
    expected: dict[str, float | None] = {}
    for key in keys(cast):
        pointer.tap(point(page, key, 4))
        expected[key] = 4
    wait_for_stored(page, expected)
    for key in keys(cast)[::-1]:
        pointer.tap(step(page, key))
        pointer.tap(point(page, key, 2))
        expect(page.locator(f'[data-key="{key}"] input:checked')).to_have_value("2")
        expected[key] = 2
        wait_for_stored(page, expected)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_taps_at_one_position_rate_one_question_each(
    device: BrowserContext, cast: Cast, kind: str, width: int, height: int
) -> None:
    opened(cast)
    page = at_first_item(device, cast, width, height)
    pointer = POINTERS[kind](page)
    middle = point(page, keys(cast)[0], 4).evaluate(MIDDLE)
    for _ in keys(cast):
        pointer.down(middle["x"], middle["y"])
        pointer.lift(middle["x"], middle["y"])
        page.wait_for_timeout(200)
    wait_for_stored(page, dict.fromkeys(keys(cast), 4))


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_positions_seen_before_a_tap_are_hit_after_it(
    device: BrowserContext, cast: Cast, kind: str, width: int, height: int
) -> None:
    opened(cast)
    page = at_first_item(device, cast, width, height)
    pointer = POINTERS[kind](page)
    first, _second, _third, fourth, *_ = keys(cast)
    points = [point(page, first, 2), step(page, fourth), point(page, first, 5)]
    for x, y in [tuple(each.evaluate(MIDDLE).values()) for each in points]:
        pointer.down(x, y)
        pointer.lift(x, y)
        page.wait_for_timeout(200)
    wait_for_stored(page, {first: 2, fourth: 5})


def test_tap_at_the_viewport_edge_does_not_scroll_under_the_finger(
    device: BrowserContext, cast: Cast, kind: str
) -> None:
    opened(cast)
    page = at_first_item(device, cast, 844, 390)
    pointer = POINTERS[kind](page)
    expected: dict[str, float | None] = {}
    for key in keys(cast):
        point(page, key, 3).evaluate(TO_EDGE)
        before = page.evaluate("scrollY")
        pointer.tap(point(page, key, 3))
        expected[key] = 3
        wait_for_stored(page, expected)
        assert page.evaluate("scrollY") == before


def test_tap_after_typing_a_comment_rates_its_target(device: BrowserContext, cast: Cast, kind: str) -> None:
    opened(cast)
    page = at_first_item(device, cast)
    first, second, *_ = keys(cast)
    page.locator(f'[name="{first}-cannot_rate"]').check()
    expect(step(page, first).locator(".says")).to_have_text("Cannot rate: say why in a comment")
    page.locator(f'[name="{first}-comment"]').fill("A line.\n" * 6)
    pointer = POINTERS[kind](page)
    pointer.tap(step(page, second))
    pointer.tap(point(page, second, 2))
    expect(point(page, second, 2)).to_be_checked()
    expect(step(page, first).locator(".says")).to_have_text("Cannot rate")
    wait_for_stored(page, {first: None, second: 2})


def test_news_of_another_window_waits_until_the_finger_is_lifted(
    device: BrowserContext, cast: Cast, kind: str
) -> None:
    opened(cast)
    page = at_first_item(device, cast)
    other = device.new_page()
    other.goto(page.url)
    first, *_, last = keys(cast)
    page.bring_to_front()
    pointer = POINTERS[kind](page)
    pointer.tap(step(page, last))
    x, y = pointer.press(point(page, last, 2))
    point(other, first, 5).evaluate("radio => radio.click()")
    other.evaluate(SEND)
    expect(point(page, first, 5)).to_be_checked()
    expect(page.locator("#notices")).to_be_empty()
    pointer.lift(x, y)
    expect(page.locator("#notices")).to_contain_text("was just changed to 5 in another window")
    wait_for_stored(page, {first: 5, last: 2})


def test_rejection_appears_after_the_finger_is_lifted(device: BrowserContext, cast: Cast, kind: str) -> None:
    opened(cast)
    page = at_first_item(device, cast)
    held: list[Route] = []
    page.route(SAVES, lambda route: held.append(route))
    first, *_, last = keys(cast)
    pointer = POINTERS[kind](page)
    pointer.tap(point(page, first, 3))
    page.evaluate(SEND)
    expect_stored(page, lambda: len(held), 1)  # "Saving…" stands there before anything is sent
    pointer.tap(step(page, last))
    x, y = pointer.press(point(page, last, 2))
    held[0].fulfill(status=409, json={"message": "The round is over."})
    page.unroute(SAVES)
    wait_until(page, "Unsent.count() === 0")
    expect(page.locator(".is-refused, #refused p")).to_have_count(0)
    pointer.lift(x, y)
    expect(page.locator("#refused")).to_contain_text("The round is over.")
    wait_for_stored(page, {last: 2})


def test_ending_the_pause_before_the_next_item_moves_nothing_under_the_finger(
    device: BrowserContext, cast: Cast, kind: str
) -> None:
    opened(cast)
    assert cast.annotators[0].user
    save_preferences(user=cast.annotators[0].user, goes_on=True)
    device.clock.install()  # before the page is opened: a clock set back later counts time below zero
    page = at_first_item(device, cast, 844, 390)
    stop_clock(page)
    pointer = POINTERS[kind](page)
    for key in keys(cast):
        pointer.tap(point(page, key, 3))
        page.clock.run_for(10)
    expect(page.locator("#advance")).to_be_visible()
    pointer.press(point(page, keys(cast)[-1], 5))
    expect(page.locator("#advance")).to_be_visible()
    page.keyboard.press("Shift")
    expect(page.locator("#advance")).to_be_hidden()


@pytest.mark.parametrize("kind", ["mouse"])
def test_pointer_lifted_elsewhere_rates_nothing(device: BrowserContext, cast: Cast) -> None:
    opened(cast)
    page = at_first_item(device, cast, 1280, 800)
    third = keys(cast)[2]
    pointer = mouse(page)
    pointer.tap(step(page, third))
    pointer.press(point(page, third, 2))
    page.mouse.move(-50, 400)
    page.mouse.up()
    expect(page.locator(".row.focused")).to_have_attribute("data-key", third)
    expect(page.locator("input:checked")).to_have_count(0)
    assert stored() == {}


@pytest.mark.parametrize("kind", ["mouse"])
def test_key_after_a_lost_press_turns_to_the_next_question(device: BrowserContext, cast: Cast) -> None:
    opened(cast)
    page = at_first_item(device, cast)
    first, second, *_ = keys(cast)
    mouse(page).press(point(page, first, 2))
    expect(page.locator(".row.focused")).to_have_attribute("data-key", first)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row.focused")).to_have_attribute("data-key", second)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (640, 400), (1280, 800)])
def test_every_answer_in_a_dispute_is_the_one_that_is_hit_while_others_write(
    device: BrowserContext, cast: Cast, kind: str, width: int, height: int
) -> None:
    round = opened(cast)
    key = keys(cast)[0]
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value, key=key)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    page = signed_in(device, cast.annotators[0].user)
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"/projects/{cast.project.slug}/disputes/{dispute.number}/")
    pointer = POINTERS[kind](page)
    pointer.tap(page.get_by_label("Stay on this dispute"))
    expect(page.get_by_label("Stay on this dispute")).to_be_checked()
    for value in (4, 1):
        mine = Rating.objects.filter(
            assignment__round__number=2, assignment__annotator=cast.annotators[0]
        ).values_list("value", flat=True)
        x, y = pointer.press(page.locator(f'#answer-buttons button[data-keys="{value}"]'))
        said = f"What do you think of {value}? " * 8
        with page.expect_response(lambda response: "seen=" in response.url and response.status == 200):
            post_message(dispute=dispute, author=cast.annotators[1], text=said)
        expect(page.locator("#discussion")).not_to_contain_text(said)
        pointer.lift(x, y)
        expect(page.locator("#answered")).to_contain_text(f"you changed to {value}.")
        expect(page.locator("#discussion")).to_contain_text(said)
        assert list(mine) == [value]
