"""The colours of a theme are looked at once for each look of a text, and no look is passed over."""

from playwright.sync_api import BrowserContext, Page

from tests.browser.axe import AXE, poor_contrasts

POOR, FINE = "color: rgb(200, 200, 200)", "color: rgb(20, 20, 20)"


def open_page(context: BrowserContext, body: str) -> Page:
    page = context.new_page()
    page.set_content(f"<!doctype html><title>T</title><body style='background: white'>{body}")
    page.add_script_tag(path=AXE)
    return page


def test_strings_of_one_style_are_checked_once(context: BrowserContext) -> None:
    page = open_page(
        context, f"<p style='{POOR}'>One</p><p style='{POOR}'>Two</p><p style='{FINE}'>Three</p>"
    )
    seen: set[int] = set()
    (found,) = poor_contrasts(page, seen)
    assert "One" in found
    assert len(seen) == 2
    assert poor_contrasts(page, seen) == []


def test_string_on_another_background_counts_as_another_style(context: BrowserContext) -> None:
    page = open_page(context, f"<p style='{FINE}'>One</p>")
    seen: set[int] = set()
    assert poor_contrasts(page, seen) == []
    page.evaluate("document.body.style.background = 'rgb(40, 40, 40)'")
    (found,) = poor_contrasts(page, seen)
    assert "One" in found
    dark = f"<div style='background: black'><section><p style='{FINE}'>Two</p></section></div>"
    page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", dark)
    (found,) = poor_contrasts(page, seen)
    assert "Two" in found
