"""Waiting for a state, never for a time: for what is stored, and by setting the page's own clock on."""

import time
from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.conftest import PATIENCE

UNREAD = 400  # milliseconds; a key pressed sooner is taken for one meant for what was shown before


def expect_stored(page: Page, read: Callable[[], object], expected: object) -> None:
    """Wait until the database holds what is expected; meanwhile the page's requests go on."""
    until = time.monotonic() + PATIENCE / 1000
    while (found := read()) != expected and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert found == expected


def wait_until(page: Page, condition: str, arg: object = None) -> None:
    """Wait until a condition in the page's words is true; asked from outside, as pages forbid eval."""
    until = time.monotonic() + PATIENCE / 1000
    while not (true := page.evaluate(condition, arg)) and time.monotonic() < until:
        page.wait_for_timeout(20)
    assert true, condition


def add_style(page: Page, rules: str) -> None:
    """Add rules to the page, whose policy forbids style elements."""
    page.evaluate(
        """rules => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(rules);
            document.adoptedStyleSheets.push(sheet);
        }""",
        rules,
    )


def stop_clock(page: Page) -> None:
    """Let the page's time go on only when the test says so; `page.clock.install()` came before the page."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def read_news(page: Page) -> None:
    """Let so much of the page's time pass that a key is meant for what is shown; needs an installed clock."""
    page.clock.fast_forward(UNREAD)
