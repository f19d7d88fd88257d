"""Rating and discussing where little fits: text of twice the size, and a page enlarged to 400 %."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.annotators_pages import Visit, while_discussing, while_rating
from tests.browser.people import signed_in
from tests.browser.waiting import add_style

# What stands outside of the page or of what scrolls, apart from what only screen readers are to have.
LOST = """() => [...document.querySelectorAll("main *, header *")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest(".visually-hidden"))
    .filter((each) => {
        const { left, right, width } = each.getBoundingClientRect();
        const { overflowX, overflowY, whiteSpace, textOverflow } = getComputedStyle(each);
        if (textOverflow === "ellipsis") return false; // said in full elsewhere
        const isCut = /hidden|clip/.test(overflowY) && each.scrollHeight > each.clientHeight + 1;
        const isWide = overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1;
        return isCut || isWide || (width > 2 && (left < -1 || right > innerWidth + 1));
    })
    .map((each) => each.outerHTML.slice(0, 120))"""
CONTROLS = "main :is(button, input:not([type=hidden]), textarea, summary, a)"
UNREACHED = """(controls) => [...document.querySelectorAll(controls)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .filter((each) => {
        each.scrollIntoView({ block: "center" });
        const { top, bottom } = each.getBoundingClientRect();
        return top < 0 || bottom > innerHeight;
    })
    .map((each) => each.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(("visited", "at"), [(while_rating, 1), (while_discussing, 3)])
def test_nothing_is_lost_and_only_up_and_down_is_scrolled(
    context: BrowserContext, transactional_db: None, visited: Callable[[], Visit], at: int
) -> None:
    visit = visited()
    page = signed_in(context, visit.user)
    browser = context.new_cdp_session(page)
    for width, height, text in [(1280, 800, 16), (1280, 800, 32), (640, 400, 16), (320, 256, 16)]:
        page.set_viewport_size({"width": width, "height": height})
        browser.send("Page.setFontSizes", {"fontSizes": {"standard": text}})
        page.goto(visit.addresses[at])
        assert lost(page) == [], (width, height, text)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(visit.addresses[at])
    add_style(page, "html { font-size: 200% }")  # enlarged after it was laid out for a screen
    assert lost(page) == []


def lost(page: Page) -> list[str]:
    """Return what is cut off, makes the page wider than its window, or cannot be scrolled to."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found: list[str] = page.evaluate(LOST) + page.evaluate(UNREACHED, CONTROLS)
    return found
