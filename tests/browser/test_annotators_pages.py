"""Annotators' pages are without any violation that axe-core knows, in every look, on a screen and a phone."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.annotators_pages import (
    Visit,
    at_the_end,
    before_the_door,
    in_practice,
    while_discussing,
    while_rating,
    with_new_wording,
)
from tests.browser.axe import PHONE, SCREEN, bring_axe, resize, violations_in_any_theme
from tests.browser.focus import problems_of_focus
from tests.browser.people import signed_in

RATED = ".rating-body"
TARGETS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
RATING = ".point input, .answer-buttons :is(button, input), label.plain input[type=radio]"
SMALL = """([targets, least]) => [...document.querySelectorAll(targets)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches(".skip"))
    .map((each) => [each, (each.closest("label") ?? each).getBoundingClientRect()])
    .filter(([, { width, height }]) => width < least || height < least)
    .map(([each, { width, height }]) => `${each.outerHTML.slice(0, 90)} is ${width} x ${height}`)"""


@pytest.mark.parametrize(
    "visited",
    [
        before_the_door,
        in_practice,
        while_rating,
        while_discussing,
        with_new_wording,
        at_the_end,
    ],
)
def test_nothing_is_wrong_in_any_look(
    context: BrowserContext, transactional_db: None, visited: Callable[[], Visit]
) -> None:
    visit = visited()
    bring_axe(context)
    page = signed_in(context, visit.user) if visit.user else context.new_page()
    seen: set[int] = set()
    found = [f"{address}: {each}" for address in visit.addresses for each in problems(page, address, seen)]
    assert not found, "\n\n".join(found)


def problems(page: Page, address: str, seen: set[int]) -> Iterator[str]:
    """Yield what is wrong with a page; on a phone targets and focus are measured, too."""
    for size in (SCREEN, PHONE):
        resize(page, size)
        if size is SCREEN or page.locator(RATED).count():
            page.goto(address)  # the width at which work is loaded decides what stands where
        yield from violations_in_any_theme(page, seen)
        yield from small_targets(page, is_phone=size is PHONE)
        if size is PHONE:  # where bars lie over the page
            yield from problems_of_focus(page)


def small_targets(page: Page, *, is_phone: bool) -> list[str]:
    """Return targets under 24 pixels, and on a phone those that rate under 44."""
    found: list[str] = page.evaluate(SMALL, [TARGETS, 24])
    return found + (page.evaluate(SMALL, [RATING, 44]) if is_phone else [])
