"""Reading beside rating, in a real browser: evidence, the same words in the other texts, finding, folding."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Document, Item, Rating
from annotate.rating.commands.rounds import open_round_one
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, wait_until
from tests.factories import Cast, make_project

PARTS = [
    {"label": "Review 1", "text": "🥾 Sturdy boots. The boots, sadly, pinch."},
    {"label": "Review 2", "text": "Bootstraps are fine; BOOTS are not."},
]
SELECT = """([part, words]) => {
    const text = document.querySelector(`.text[data-part="${part}"]`).firstChild;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(words));
    range.setEnd(text, text.data.indexOf(words) + words.length);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
}"""
MARKED = """([name, passages]) =>
    [...(CSS.highlights.get(name) ?? [])].map(range => range.toString()).join("|") === passages.join("|")"""


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=2)
    Document.objects.update(parts=PARTS)
    Item.objects.update(text="The boots are sturdy.")
    open_round_one(project=cast.project, by=cast.admin)
    return cast


@pytest.fixture
def rating(cast: Cast, context: BrowserContext) -> Page:
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def select(page: Page, part: int, words: str) -> None:
    page.evaluate(SELECT, [part, words])
    expect(page.locator("#mark-evidence")).to_be_visible()


def expect_marked(page: Page, name: str, passages: list[str]) -> None:
    wait_until(page, MARKED, [name, passages])


def given() -> list[object]:
    return list(Rating.objects.order_by("dimension").values_list("value", "evidence"))


def passage(part: int, start: int, end: int) -> dict[str, int]:
    return {"part": part, "start": start, "end": end}


def test_evidence_is_attached_by_key_shown_on_return_and_removed(rating: Page) -> None:
    select(rating, 1, "turdy boo")
    rating.keyboard.press("e")
    expect(rating.get_by_role("status")).to_contain_text(["evidence for Fluency"])
    select(rating, 0, "sturdy")
    rating.locator("#mark-evidence").click()
    rating.keyboard.press("4")
    # Whole words, counted in characters: the picture before them is one.
    both = [passage(0, 14, 20), passage(1, 2, 14)]
    expect_stored(rating, given, [(4, both)])
    expect_marked(rating, "evidence", [])  # the next dimension has the focus
    expect_marked(rating, "evidence-of-others", ["sturdy", "Sturdy boots"])
    rating.keyboard.press("ArrowUp")
    expect_marked(rating, "evidence", ["sturdy", "Sturdy boots"])
    rating.reload()
    expect(rating.locator("[data-key=fluency] .evidence-quote")).to_have_text(["❝ sturdy", "❝ Sturdy boots"])
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("Backspace")
    expect_stored(rating, given, [(4, both[:1])])
    rating.get_by_role("button", name="Remove evidence: sturdy").click()
    expect_stored(rating, given, [(4, None)])
    expect(rating.locator("[data-key=fluency] .evidence")).to_be_hidden()


def test_words_selected_in_the_summary_are_marked_in_every_part_of_the_document(rating: Page) -> None:
    select(rating, 0, "boots are")
    expect_marked(rating, "shared", ["boots", "boots", "BOOTS"])  # whole words, and not "are"
    expect(rating.locator(".document summary").nth(1)).to_have_attribute("data-shared", "1")
    select(rating, 0, "The")
    expect_marked(rating, "shared", ["The"])
    rating.keyboard.press("Escape")
    wait_until(rating, "!CSS.highlights.has('shared')")


def test_words_are_selected_as_evidence_by_keyboard(rating: Page) -> None:
    rating.keyboard.press("o")
    expect(rating.locator(".document details[open]")).to_have_count(0)
    rating.keyboard.press("/")
    rating.keyboard.type("boots")
    count = rating.locator("[data-find-count]")
    expect(count).to_have_text("1 of 4")
    assert not Rating.objects.exists()  # typing rates nothing
    expect(rating.locator(".document details[open]")).to_have_count(1)
    rating.keyboard.press("Shift+Enter")
    expect(count).to_have_text("4 of 4")
    expect(rating.locator(".document details[open]")).to_have_count(2)
    rating.keyboard.press("Escape")
    rating.keyboard.press("e")
    rating.keyboard.press("4")
    expect_stored(rating, given, [(4, [passage(2, 21, 26)])])
    rating.keyboard.press("Escape")
    expect(count).to_have_text("")
    rating.keyboard.press("c")
    rating.keyboard.type("1/2 of it")
    expect(rating.get_by_label("comment").nth(1)).to_have_value("1/2 of it")
