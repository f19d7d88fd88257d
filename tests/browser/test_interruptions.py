"""What a person gave while something broke: the server, the browser, the sign that a form is ours."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Rating, RatingChange
from tests.browser.conftest import FLAGS, NAMES
from tests.browser.people import signed_in
from tests.browser.test_rating import SAVES
from tests.browser.waiting import expect_stored, wait_until
from tests.browser.web_server import web_server
from tests.factories import Cast, make_project
from tests.rating.rounds import opened


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=3, systems=4)
    opened(cast)
    return cast


def begin(page: Page, cast: Cast, base: str = "") -> None:
    """Open the first item and wait until those after it are loaded."""
    page.goto(f"{base}/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)


def rate(page: Page, position: int) -> None:
    page.wait_for_url(f"**/rate/{position}/")
    for key in ("4", "2", "Enter"):
        page.keyboard.press(key)


def given() -> dict[int, list[float | None]]:
    """Return the values of each item by its position, in the order of the dimensions."""
    found: dict[int, list[float | None]] = {}
    for rating in Rating.objects.select_related("assignment").order_by("dimension__position"):
        found.setdefault(rating.assignment.position or 0, []).append(rating.value)
    return found


def test_answers_outlive_a_server_that_is_killed_and_arrive_once_when_it_is_back(
    context: BrowserContext, cast: Cast, tmp_path: Path
) -> None:
    with web_server(tmp_path) as server:
        page = signed_in(context, cast.annotators[0].user)
        begin(page, cast, server.url)
        rate(page, 1)
        page.wait_for_url("**/rate/2/")
        expect(page.locator("body[data-ahead=ready]")).to_be_visible()  # up to the ninth
        page.keyboard.press("4")  # perhaps on its way
        server.kill()
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        for position in range(3, 10):
            rate(page, position)
        expect(page.locator("#notices")).to_contain_text("no connection")
        expect(page.locator("#save-mark")).to_contain_text("waiting")
        assert len(given()) <= 2
        server.start()
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        expect_stored(page, given, {position: [4, 2] for position in range(1, 10)})
        page.keyboard.press("Enter")
        page.wait_for_url("**/rate/10/")
    changes = Counter(RatingChange.objects.values_list("rating", flat=True))
    assert set(changes.values()) == {1}


def test_answers_outlive_a_browser_that_is_ended(
    browser: Browser, live_server: LiveServer, cast: Cast, tmp_path: Path
) -> None:
    def start() -> BrowserContext:
        executable = next(filter(None, map(shutil.which, NAMES)))
        return browser.browser_type.launch_persistent_context(
            tmp_path, executable_path=executable, args=FLAGS, base_url=live_server.url
        )

    first = start()
    page = signed_in(first, cast.annotators[0].user, lasting=True)
    begin(page, cast)
    page.route(SAVES, lambda route: route.abort())
    rate(page, 1)
    rate(page, 2)
    expect(page.locator("#save-mark")).to_contain_text("4 waiting")
    first.close()
    assert given() == {}
    again = start()
    page = again.new_page()
    page.goto("/")  # any page sends what waits
    wait_until(page, "Unsent.count() === 0")
    begin(page, cast)
    page.wait_for_url("**/rate/3/")
    assert given() == {1: [4, 2], 2: [4, 2]}
    again.close()


def test_renewed_csrf_token_works_and_a_lost_one_prompts_on_the_page(
    context: BrowserContext, live_server: LiveServer, cast: Cast
) -> None:
    page = signed_in(context, cast.annotators[0].user)
    begin(page, cast)
    token = "0123456789abcdefghijklmnopqrstuv"
    context.add_cookies([{"name": "csrftoken", "value": token, "domain": "localhost", "path": "/"}])
    page.keyboard.press("4")
    expect_stored(page, given, {1: [4]})
    context.clear_cookies(name="csrftoken")
    page.keyboard.press("2")
    expect(page.locator("#refused")).to_contain_text("Coherence: 2")
    with context.expect_page() as door:
        page.get_by_role("link", name="Sign in").click()
    expect(page.locator("#refused")).to_be_empty()  # the page behind the door has sent what waited
    expect_stored(page, given, {1: [4, 2]})
    door.value.close()
