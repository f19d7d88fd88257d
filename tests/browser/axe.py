"""What axe-core finds wrong with a page."""

import importlib.util
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, ViewportSize

SPEC = importlib.util.find_spec("axe_playwright_python")
assert SPEC
assert SPEC.origin
AXE = Path(SPEC.origin).with_name("axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (options) => {
    const always = { resultTypes: ["violations"], preload: false, iframes: false };
    const { violations } = await axe.run({ ...always, ...options });
    return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html}\\n${node.failureSummary}`));
}"""
SCREEN, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=700)
THEMES = ("light", "dark", "contrast")
# As root.html and styles.html say it of who chose this theme.
LOOK = """theme => {
    document.documentElement.dataset.theme = theme;
    document.querySelector("link[href*=contrast]").media = theme === "contrast" ? "all" : "not all";
}"""


def bring_axe(context: BrowserContext) -> None:
    """Let every page of this profile have axe-core."""
    context.add_init_script(path=AXE)


def resize(page: Page, size: ViewportSize) -> None:
    """Change the window and wait until the page has taken it in, as its observers do with the next frames."""
    page.set_viewport_size(size)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def every_violation(page: Page) -> list[str]:
    """Return "rule: element" for each violation of WCAG 2.2 AA and of what axe-core calls best practice."""
    return _run_axe(page, {"runOnly": RULES})


def poor_contrasts(page: Page) -> list[str]:
    """Return "rule: element" for each text that is hard to tell from its ground."""
    return _run_axe(page, {"runOnly": {"type": "rule", "values": ["color-contrast"]}})


def violations_in_any_theme(page: Page) -> list[str]:
    """Return all violations in the light theme; others change colours alone, so only these are looked at."""
    found = []
    for theme in THEMES:
        page.evaluate(LOOK, theme)
        seen = every_violation(page) if theme == "light" else poor_contrasts(page)
        found += [f"{page.viewport_size}, {theme}: {each}" for each in seen]
    return found


def _run_axe(page: Page, options: dict[str, Any]) -> list[str]:
    found: list[str] = page.evaluate(RUN, options)
    return found
