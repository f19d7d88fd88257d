"""Sources and outputs as Markdown and as chats, in a real browser: marking, finding and the outline."""

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Dispute, Document, Item, Rating, Round
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two
from tests.browser.axe import bring_axe, violations_in_any_theme
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, wait_until
from tests.factories import Cast, make_project
from tests.rating.rounds import rate

WIDTHS = [1280, 390]
OUTPUT = """\
# Two 🥾 boots

The **left boot** is `sturdy`, and $x^2$ holds for it.

| size | price |
|---|---|
| 42 | cheap \\| fair |

```python
def f(x):
    return "boot"
```
"""
SOURCE = "## Fit\n\nThe boots *pinch*.\n\n## Look\n\nBrown.\n\n## Price\n\n" + "Fair. " * 200
CALL = {"type": "function", "function": {"name": "look_up", "arguments": '{"of": "boots"}'}}
CHAT = json.dumps(
    [
        {"role": "user", "content": 'Are they "good"?\nSay so.'},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "name": "look_up", "content": "four stars"},
        {"role": "assistant", "content": "They are **good**."},
    ]
)
SELECT = """([part, first, last]) => {
    const text = document.querySelector(`.text[data-part="${part}"]`);
    const nodes = [];
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) nodes.push(walker.currentNode);
    const start = nodes.find((node) => node.data.includes(first));
    const end = nodes.slice(nodes.indexOf(start)).find((node) => node.data.includes(last));
    const range = document.createRange();
    range.setStart(start, start.data.indexOf(first));
    range.setEnd(end, end.data.indexOf(last) + last.length);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
}"""
MARKED = """([name, passages]) =>
    [...(CSS.highlights.get(name) ?? [])].map(range => range.toString()).join("|") === passages.join("|")"""
IS_NARROW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=1)
    parts = [
        {"label": "Source", "text": SOURCE, "format": "markdown"},
        {"label": "Chat", "text": CHAT, "format": "chat"},
    ]
    Document.objects.update(parts=parts)
    Item.objects.update(text=OUTPUT, format="markdown")
    open_round_one(project=cast.project, by=cast.admin)
    return cast


@pytest.fixture(params=WIDTHS)
def rating(cast: Cast, context: BrowserContext, request: pytest.FixtureRequest) -> Page:
    page = signed_in(context, cast.annotators[0].user)
    page.set_viewport_size({"width": request.param, "height": 800})
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def stored_passages() -> list[tuple[int, str]]:
    """Return the part and the words of each stored passage, cut from the source."""
    texts = [OUTPUT, SOURCE, CHAT]
    return [
        (each["part"], texts[each["part"]][each["start"] : each["end"]])
        for rating in Rating.objects.exclude(evidence=None)
        for each in rating.evidence or ()
    ]


def mark(page: Page, part: int, first: str, last: str) -> None:
    page.evaluate(SELECT, [part, first, last])
    page.keyboard.press("e")


def test_passages_are_stored_with_offsets_of_the_source(rating: Page) -> None:
    mark(rating, 0, "boots", "boots")
    mark(rating, 0, "left", "boot")
    mark(rating, 0, "holds", "holds")
    mark(rating, 0, "fair", "fair")
    mark(rating, 0, "return", "return")
    rating.keyboard.press("4")
    words = ["boots", "left boot", "holds", "fair", "return"]
    expect_stored(rating, stored_passages, [(0, each) for each in words])
    rating.reload()
    rating.keyboard.press("ArrowUp")
    wait_until(rating, MARKED, ["evidence", words])
    expect(rating.locator("[data-key=fluency] .evidence-quote")).to_have_text([f"❝ {each}" for each in words])
    assert rating.evaluate(IS_NARROW)


def test_a_passage_across_markup_and_a_formula_is_whole(rating: Page) -> None:
    mark(rating, 0, "is ", "it.")
    rating.keyboard.press("4")
    expect_stored(rating, stored_passages, [(0, "is `sturdy`, and $x^2$ holds for it.")])


def test_a_formula_is_marked_as_a_whole(rating: Page) -> None:
    rating.evaluate(
        """() => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector(".formula mi"));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }"""
    )
    rating.keyboard.press("e")
    rating.keyboard.press("4")
    expect_stored(rating, stored_passages, [(0, "$x^2$")])
    expect(rating.locator("[data-key=fluency] .evidence-quote")).to_have_text("❝ x^2")


def test_a_passage_of_a_chat_is_stored_as_the_json_writes_it(rating: Page) -> None:
    mark(rating, 2, "good", "?")
    rating.keyboard.press("4")
    expect_stored(rating, stored_passages, [(2, 'good\\"?')])
    expect(rating.locator(".turn")).to_have_count(4)
    expect(rating.locator("details.turn-tool")).not_to_have_attribute("open", "")


def test_words_are_selectable_in_rendered_items(rating: Page) -> None:
    if rating.viewport_size == {"width": 390, "height": 800}:
        rating.locator("[data-sheet]").first.click()
    rating.locator("[data-find]").fill("boots pinch")
    expect(rating.locator("[data-find-count]")).to_have_text("1 of 1")
    rating.locator("[data-find]").fill("four stars")
    expect(rating.locator("details.turn-tool")).to_have_attribute("open", "")
    rating.locator("[data-find]").press("Escape")
    rating.keyboard.press("e")
    rating.keyboard.press("4")
    expect_stored(rating, stored_passages, [(2, "four stars")])


def test_an_outline_leads_to_headings(rating: Page) -> None:
    if rating.viewport_size == {"width": 390, "height": 800}:
        rating.locator("[data-sheet]").first.click()
    outline = rating.locator(".outline")
    expect(outline).to_have_count(1)  # the chat has no headings
    outline.locator("summary").click()
    outline.get_by_role("link", name="Price").click()
    expect(rating.get_by_role("heading", name="Price")).to_be_focused()
    expect(rating.get_by_role("heading", name="Price")).to_be_in_viewport()
    assert "#" not in rating.url


def test_rendered_items_are_accessible_in_every_theme(rating: Page) -> None:
    bring_axe(rating.context)
    rating.reload()
    expect(rating.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    if rating.viewport_size == {"width": 390, "height": 800}:
        rating.locator("[data-sheet]").first.click()
    rating.locator("details.turn-tool summary").click()
    assert violations_in_any_theme(rating, set()) == []


def test_rater_marks_appear_in_the_rendered_items_of_a_dispute(cast: Cast, context: BrowserContext) -> None:
    round = Round.objects.get()
    for annotator, value in zip(cast.annotators, (1, 5, 5), strict=True):
        for key in ("fluency", "coherence"):
            rate(cast, round, annotator, cast.items[0], value, key=key)
    words = "left boot** is `sturdy`"
    start = OUTPUT.index(words)
    first = Rating.objects.order_by("pk")[0]
    Rating.objects.filter(pk=first.pk).update(
        evidence=[{"part": 0, "start": start, "end": start + len(words)}]
    )
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    page = signed_in(context, cast.annotators[1].user)
    page.goto(
        f"/projects/{cast.project.slug}/disputes/{Dispute.objects.get(dimension=first.dimension).number}/"
    )
    marks = page.locator(".text[data-part='0'] mark")
    expect(marks).to_have_text(["left boot", " is ", re.compile(r"^sturdy\s*marked by A$")])
    mark(page, 0, "sturdy", "holds")
    expect(page.locator("[data-evidence] .evidence-quote")).to_contain_text("sturdy, and")
