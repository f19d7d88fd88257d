"""Keys that a person chose, and going on by itself, in a real browser."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Rating
from annotate.people.commands import save_preferences
from tests.browser.dock import point
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, stop_clock
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

GATHERED = 2_000  # milliseconds after which answers of an item are sent
PAUSE = 1_500  # milliseconds; longer than what is rated stays in view


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=3)
    opened(cast)
    return cast


def rating(cast: Cast, context: BrowserContext, **chosen: object) -> Page:
    user = cast.annotators[0].user
    assert user is not None
    save_preferences(user=user, **chosen)
    page = signed_in(context, user)
    page.clock.install()
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def values() -> list[tuple[str, float | None, bool]]:
    ratings = Rating.objects.order_by("assignment__position", "-dimension__key")
    return list(ratings.values_list("dimension__key", "value", "unsure"))


def test_left_hand_and_custom_keys_rate_and_appear_on_the_buttons(cast: Cast, context) -> None:
    own = {"values": "yxc", "comment": "v", "cannot_rate": "1", "not_applicable": "2"}
    page = rating(cast, context, key_set="left", own_keys=own)
    expect(page.locator('[data-key=fluency] [data-value-key="2"]')).to_have_text("X")
    expect(page.locator("[data-key=fluency] [data-key-of=unsure]")).to_have_text("Q")
    for key in ("x", "q", "Y", "w", "w", "4"):
        page.keyboard.press(key)
    expect_stored(page, values, [("fluency", 4, True), ("coherence", 1, False)])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("unsure")
    page.keyboard.press("u")  # a key of the other set
    page.get_by_role("link", name="Choose your keys").click()
    expect(page.get_by_label("unsure")).to_have_attribute("placeholder", "q")


def test_with_everything_rated_the_next_item_comes_by_itself_unless_one_stays(cast: Cast, context) -> None:
    page = rating(cast, context, goes_on=True)
    stop_clock(page)
    page.keyboard.press("4")
    expect(page.locator("#advance")).to_be_hidden()
    page.keyboard.press("4")
    expect(page.locator("#advance")).to_be_visible()
    page.clock.run_for(PAUSE)
    page.wait_for_url("**/rate/2/")
    page.keyboard.press("Shift+Enter")
    page.wait_for_url("**/rate/1/")
    page.keyboard.press("2")  # what was answered before is corrected in peace
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2/")
    for key in ("fluency", "coherence"):
        point(page, key, 3).click()
        page.clock.run_for(1)  # what a click moves, moves after it
    page.get_by_role("button", name="Stay").click()
    page.clock.run_for(1)
    expect(page.locator(".row.focused")).to_have_attribute("data-key", "coherence")
    expect(page.locator("#advance")).to_be_hidden()
    page.clock.run_for(PAUSE)
    assert page.url.endswith("/rate/2/")
    page.clock.run_for(GATHERED)
    expect_stored(page, lambda: [value for _, value, _ in values()], [2, 4, 3, 3])
