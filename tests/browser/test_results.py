"""Results in a real browser: pages renew themselves, charts obey the policy, values open their details."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.jobs import run_job
from annotate.core.models import ComputedResult
from annotate.rating.commands.rounds import close_round_one
from annotate.results import figures
from tests.browser.people import signed_in
from tests.browser.waiting import wait_until
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

INK = "() => getComputedStyle(document.querySelector('.chart svg .chart-point')).fill"
WATCH = """addEventListener("securitypolicyviolation", (event) => {
  (window.rejected ??= []).push(event.violatedDirective);
})"""


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(annotators=2, raters_per_item=2)
    round = opened(cast)
    for annotator, values in zip(cast.annotators, ([1, 2, 3, 4], [1, 2, 3, 2]), strict=True):
        for item, value in zip(cast.items, values, strict=True):
            rate(cast, round, annotator, item, value, comment=f"Because of {value}.")
    close_round_one(project=cast.project, by=cast.admin)
    return cast


def test_from_computing_over_a_chart_to_the_reason_of_a_rater(
    cast: Cast, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    page = signed_in(context, cast.researcher)
    page.add_init_script(WATCH)
    page.goto(f"/projects/{cast.project.slug}/results/agreement/")
    expect(page.get_by_text("Computing results for the current data")).to_be_visible()
    run_job("result", ComputedResult.objects.get().pk)
    chart = page.get_by_role("group", name="Krippendorff’s alpha", exact=True)
    expect(chart).to_be_visible()
    light = page.evaluate(INK)
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"light => ({INK})() !== light", light)
    names_points(page)
    opens_a_value(page)
    changes_the_tab(page)
    assert page.evaluate("window.rejected ?? []") == []
    monkeypatch.setattr(figures, "AT_ONCE", 500)
    follow_a_value(page)
    expect(page.get_by_text("Because of 4.")).to_be_visible()


def names_points(page: Page) -> None:
    """A point is named under the pointer, and with the focus; arrows go from point to point."""
    points, name = page.locator(".chart-point"), page.locator(".plot-name")
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


def opens_a_value(page: Page) -> None:
    """A value opens its interval and method under the pointer and by keyboard."""
    value = page.locator("#rounds .figure-value").first
    details = page.locator("#rounds .figure-details").first
    value.hover()
    expect(details).to_contain_text("function krippendorff_alpha")
    page.mouse.move(0, 0)
    expect(details).to_be_hidden()
    value.focus()
    page.keyboard.press("Enter")
    expect(details).to_be_visible()
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()


def changes_the_tab(page: Page) -> None:
    """A tab loads its table and chart in place, and has a URL."""
    page.get_by_role("link", name="By system").click()
    expect(page.locator("#round-1-by-system")).to_be_visible()
    expect(
        page.get_by_role("group", name="Krippendorff’s alpha by system (Round I, reliability)")
    ).to_be_visible()
    expect(page).to_have_url(page.url.partition("?")[0] + "?table=by-system")


def follow_a_value(page: Page) -> None:
    """Go from alpha of the second system to its unit that raters disagree on."""
    page.locator("#round-1-by-system .figure-value").last.click()
    page.get_by_role("link", name="Show the units").last.click()
    page.locator(".worst").first.get_by_role("link").click()
