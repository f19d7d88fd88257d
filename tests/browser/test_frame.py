"""The frame of a project's pages and its components, at 1280 and 390 pixels."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import bring_axe, every_violation
from tests.browser.people import signed_in
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db(transaction=True)
COMPONENTS = {
    *("stat tile", "status pill", "filter chips", "sortable table", "tabs", "drawer"),
    *("menu", "toast", "empty state", "chart card", "notices"),
}
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_style_guide_shows_each_component(
    new_context: Callable[..., BrowserContext], settings: Any, scheme: str
) -> None:
    settings.DEBUG = True
    context = new_context(color_scheme=scheme)
    bring_axe(context)
    page = context.new_page()
    page.goto("/styleguide/")
    shown = page.locator("[data-component]").evaluate_all("all => all.map(each => each.dataset.component)")
    assert set(shown) == COMPONENTS
    assert not every_violation(page)
    picture = page.screenshot(full_page=True)
    assert len(set(picture)) > 200  # an image, and not of one colour
    page.get_by_role("button", name="Open the drawer").click()
    expect(page.get_by_text("Escape closes it.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Escape closes it.")).to_be_hidden()
    page.get_by_text("Download", exact=True).click()
    expect(page.get_by_role("link", name="LaTeX")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="LaTeX")).to_be_hidden()


def test_style_guide_exists_in_debug_mode_only(page: Page) -> None:
    response = page.goto("/styleguide/")
    assert response
    assert response.status == 404


def items_page(context: BrowserContext, cast: Cast) -> Page:
    page = signed_in(context, cast.admin)
    page.goto(f"/projects/{cast.project.slug}/items/")
    return page


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE], ids=["desk", "phone"])
def test_first_item_is_within_320_pixels_of_the_top(
    new_context: Callable[..., BrowserContext], viewport: dict[str, int]
) -> None:
    page = items_page(new_context(viewport=viewport), make_project(documents=3))
    box = page.locator("tbody tr").first.bounding_box()
    assert box
    assert box["y"] <= 320


def test_sidebar_is_a_drawer_on_phones(new_context: Callable[..., BrowserContext]) -> None:
    page = items_page(new_context(viewport=PHONE), make_project(documents=1))
    people = page.get_by_role("link", name="People", exact=True)
    expect(people).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(people).to_be_visible()
    page.keyboard.press("Escape")
    expect(people).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    people.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("People")
    bar = page.locator(".bar").bounding_box()
    assert bar
    assert bar["height"] <= 56


def test_a_click_on_a_head_sorts_and_a_filter_applies_on_change(
    new_context: Callable[..., BrowserContext],
) -> None:
    cast = make_project(documents=3, systems=1)
    page = items_page(new_context(), cast)
    titles = page.locator("tbody th a")
    before = titles.all_inner_texts()
    page.get_by_role("button", name="Item", exact=True).click()
    assert titles.all_inner_texts() == sorted(before)
    page.get_by_role("button", name="Item", exact=True).click()
    assert titles.all_inner_texts() == sorted(before, reverse=True)
    page.get_by_label("Search").fill(cast.items[1].text)
    expect(titles).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?words="))
    chip = page.locator(".chip")
    expect(chip).to_contain_text("Search")
    chip.click()
    expect(titles).to_have_count(3)


def test_bulk_bar_appears_on_selection(new_context: Callable[..., BrowserContext]) -> None:
    cast = make_project(documents=2, systems=1)
    page = items_page(new_context(), cast)
    bar = page.locator(".bulk-bar")
    expect(bar).to_be_hidden()
    page.locator("tbody [name=item]").first.check()
    expect(bar).to_be_visible()
    bar.locator("summary", has_text="Tag").click()
    bar.get_by_label("Tag").fill("odd")
    bar.get_by_role("button", name="Add the tag").click()
    expect(page.locator(".messages")).to_contain_text("odd")
