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
RUN = """async ({ unseen, ...options }) => {
    const always = { resultTypes: ["violations"], preload: false, iframes: false };
    const elements = unseen ? { include: window.unseen } : document;
    const { violations } = await axe.run(elements, { ...always, ...options });
    return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html}\\n${node.failureSummary}`));
}"""
# Finds the elements with text of their own that look like none of `seen`, and returns their looks. A look is
# the kind of an element with the colours of its text and of the grounds around it, as a number.
UNSEEN = """seen => {
    const numbered = (text) => {  // cyrb53
        let [a, b] = [0xdeadbeef, 0x41c6ce57];
        for (let i = 0; i < text.length; i++) {
            a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
            b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
        }
        a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
        b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
        return 4294967296 * (2097151 & b) + (a >>> 0);
    };
    const grounds = new Map();
    const known = new Set(seen);
    const added = [];
    window.unseen = [];
    for (const element of document.querySelectorAll("html, body, body *")) {
        const style = getComputedStyle(element);
        const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter,
            style.position, style.zIndex, style.mixBlendMode].join();
        const kind = `${element.localName}.${element.className.baseVal ?? element.className}`;
        const around = grounds.get(element.parentElement) ?? 0;
        const isPlain = own === "rgba(0, 0, 0, 0),none,1,none,static,auto,normal";
        const ground = isPlain ? around : numbered(`${around}/${kind} ${own}`);
        grounds.set(element, ground);
        const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!(hasText || element.matches("input, select, textarea")) || !element.checkVisibility()) continue;
        const look = numbered([ground, kind, style.color, style.fontSize, style.fontWeight, style.textShadow,
            element.disabled, element.ariaDisabled].join("|"));
        if (known.has(look)) continue;
        known.add(look);
        added.push(look);
        window.unseen.push(element);
    }
    return added;
}"""
# In one piece: between two, a page that looks for news would exchange the elements.
CONTRASTS = f"""async (seen) => {{
    const looks = ({UNSEEN})(seen);
    const runOnly = {{ type: "rule", values: ["color-contrast"] }};
    return [looks, looks.length ? await ({RUN})({{ runOnly, unseen: true }}) : []];
}}"""
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


def poor_contrasts(page: Page, seen: set[int]) -> list[str]:
    """Return "rule: element" for each text that is hard to tell from its ground.

    A text that looks like one of `seen` is not looked at; the looks of the others are added to `seen`.
    """
    found: list[str]
    looks, found = page.evaluate(CONTRASTS, list(seen))
    seen.update(looks)
    return found


def violations_in_any_theme(page: Page, seen: set[int]) -> list[str]:
    """Return all violations in the light theme, and texts of poor contrast in the others.

    Other themes change colours alone, so one text of each look is enough there. `seen` keeps the looks for
    the next page.
    """
    found = []
    for theme in THEMES:
        page.evaluate(LOOK, theme)
        violations = every_violation(page) if theme == "light" else poor_contrasts(page, seen)
        found += [f"{page.viewport_size}, {theme}: {each}" for each in violations]
    return found


def _run_axe(page: Page, options: dict[str, Any]) -> list[str]:
    found: list[str] = page.evaluate(RUN, options)
    return found
