"""What axe-core finds wrong with a page."""

import importlib.util
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

SPEC = importlib.util.find_spec("axe_playwright_python")
assert SPEC
assert SPEC.origin
AXE = Path(SPEC.origin).with_name("axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NEVER_SERIOUS = {"region": {"enabled": False}}  # and slow
RUN = """async ([options, impacts]) => {
    const { violations } = await axe.run({ resultTypes: ["violations"], preload: false, ...options });
    return violations.filter(({ impact }) => impacts.includes(impact)).flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html}\\n${node.failureSummary}`));
}"""
SERIOUS = ["serious", "critical"]
ALL = ["minor", "moderate", *SERIOUS]


def bring_axe(context: BrowserContext) -> None:
    """Let every page of this profile have axe-core."""
    context.add_init_script(path=AXE)


def every_violation(page: Page) -> list[str]:
    """Return "rule: element" for each violation of WCAG 2.2 AA and of what axe-core calls best practice."""
    return _found(page, {"runOnly": RULES}, ALL)


def serious_violations(page: Page) -> list[str]:
    """Return "rule: element" for each violation that axe-core calls serious or critical."""
    return _found(page, {"runOnly": RULES, "rules": NEVER_SERIOUS}, SERIOUS)


def poor_contrasts(page: Page) -> list[str]:
    """Return "rule: element" for each text that is hard to tell from its ground."""
    return _found(page, {"runOnly": {"type": "rule", "values": ["color-contrast"]}}, ALL)


def _found(page: Page, options: dict[str, Any], impacts: list[str]) -> list[str]:
    found: list[str] = page.evaluate(RUN, [options, impacts])
    return found
