"""Results in a real browser: a page that is computed renews itself, and its plots take the page's colours."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate import tasks
from annotate.core.models import ComputedResult
from annotate.rating.commands.rounds import close_round_one
from annotate.results import figures
from tests.browser.people import signed_in
from tests.browser.waiting import wait_until
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

INK = "() => getComputedStyle(document.querySelector('#alpha svg text')).fill"


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(annotators=2, raters_per_item=2)
    round = opened(cast)
    for annotator, values in zip(cast.annotators, ([1, 2, 3, 4], [1, 2, 3, 2]), strict=True):
        for item, value in zip(cast.items, values, strict=True):
            rate(cast, round, annotator, item, value, comment=f"Because of {value}.")
    close_round_one(project=cast.project, by=cast.admin)
    return cast


def test_from_computing_over_a_plot_to_the_reason_of_a_rater(
    cast: Cast, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    page = signed_in(context, cast.researcher)
    page.goto(f"/projects/{cast.project.slug}/results/")
    page.get_by_role("link", name="Agreement", exact=True).last.click()
    expect(page.get_by_text("Computing the figures of the data as they are now")).to_be_visible()
    tasks.compute_result(ComputedResult.objects.get().pk)
    plot = page.get_by_role("group", name="Krippendorff’s alpha", exact=True)
    page.locator("#alpha").scroll_into_view_if_needed()  # a plot is drawn where it comes into view
    expect(plot).to_be_visible()
    light = page.evaluate(INK)
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"light => ({INK})() !== light", light)
    names_points(page)
    figure = page.locator("#alpha tbody summary")
    figure.click()
    expect(page.locator("#alpha .how")).to_contain_text("function krippendorff_alpha")
    follow_a_figure(page)
    expect(page.get_by_text("Because of 4.")).to_be_visible()


def names_points(page: Page) -> None:
    """A point is named under the pointer, and with the focus; arrows go from point to point."""
    points, name = page.locator("#alpha .plot-point"), page.locator(".plot-name")
    points.first.hover()
    expect(name).to_have_text(points.first.get_attribute("aria-label") or "")
    page.mouse.move(0, 0)
    expect(name).to_be_hidden()
    points.first.focus()
    page.keyboard.press("ArrowDown")
    expect(points.nth(1 % points.count())).to_be_focused()
    expect(name).to_have_text(points.nth(1 % points.count()).get_attribute("aria-label") or "")
    page.keyboard.press("Escape")
    expect(name).to_be_hidden()


def follow_a_figure(page: Page) -> None:
    """Go from alpha of the second document to its unit that raters disagree on."""
    page.locator("#round-1-by-document").get_by_role("link", name="n = 2").last.click()
    page.get_by_role("link", name="product-2").click()
