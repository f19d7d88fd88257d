"""Going through a page by keyboard, and what is wrong with where the focus is."""

from collections.abc import Iterator

from playwright.sync_api import Page

MOST = 80  # stops of Tab on one page
NAME = "document.activeElement.ariaLabel || document.activeElement.innerText || document.activeElement.name"
NOWHERE = "nothing has the focus"
# What shows the focus of a radio button is the span beside it; and it may lie behind something else.
PROBLEM = """() => {
    const focused = document.activeElement;
    if (focused === document.body) return "nothing has the focus";
    const shown = focused.matches(".point input") ? focused.nextElementSibling : focused;
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(shown);
    const accent = Object.assign(document.createElement("i"), { style: "color: var(--accent)" });
    focused.closest("dialog, body").append(accent);
    const isSeen = outlineStyle === "solid" && parseFloat(outlineWidth) >= 3
        && outlineColor === getComputedStyle(accent).color;
    accent.remove();
    const what = focused.outerHTML.slice(0, 120);
    if (!isSeen) return `no outline (${outlineStyle} ${outlineWidth} ${outlineColor}): ${what}`;
    const { left, right, top, bottom } = shown.getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
    const [above, below] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
    const at = [0.2, 0.5, 0.8].map((share) => above + share * (below - above));
    const there = at.map((y) => document.elementFromPoint(x, y));
    const isThere = (each) => focused.contains(each) || shown.contains(each);
    return there.some(isThere) ? "" : `behind ${there[1]?.outerHTML.slice(0, 80)}: ${what}`;
}"""


def problems_of_focus(page: Page) -> Iterator[str]:
    """Go through a page by Tab from its beginning, and yield what is wrong at its stops."""
    page.evaluate("document.activeElement.blur(); getSelection().setPosition(document.body, 0)")
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            return
        if problem := page.evaluate(PROBLEM):
            yield problem


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has the focus is called so, and see that the focus is seen at every stop."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        problem = page.evaluate(PROBLEM)
        if problem == NOWHERE:  # between the page's end and its beginning
            continue
        assert not problem
        if name in str(page.evaluate(NAME)):
            return
    raise AssertionError(f"Tab does not reach {name}")
