"""Two raters answer a question of every kind by keys and by touch, at 1280 and 390 pixels."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.guideline import DimensionSpec
from annotate.core.models import Rating
from annotate.setup.commands import add_dimension
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import Cast, make_project
from tests.questions.asking import OPTIONS, add_question, make_questions
from tests.rating.rounds import opened

KINDS = ("labels", "parts", "spans", "text")


def stored_pieces() -> dict[str, object]:
    """Return the stored answer of each question."""
    return dict(Rating.objects.values_list("dimension__key", "data"))


def begin(
    live_server: LiveServer, context: BrowserContext, *kinds: str, systems: int = 2
) -> tuple[Page, Cast]:
    cast = make_questions(*kinds, annotators=1, systems=systems, documents=1)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    return page, cast


def select_words(page: Page, start: int, end: int) -> None:
    """Select characters of the output."""
    page.evaluate(
        """([start, end]) => {
            const node = document.querySelector('.summary .text').firstChild;
            const range = document.createRange();
            range.setStart(node, start); range.setEnd(node, end);
            getSelection().removeAllRanges(); getSelection().addRange(range);
        }""",
        [start, end],
    )


def test_outputs_are_answered_by_keys(live_server: LiveServer, context: BrowserContext) -> None:
    page, _ = begin(live_server, context, *KINDS)
    expect(page.locator(".row.focused .row-name")).to_have_text("Labels")
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator(".row.focused .row-name")).to_have_text("Parts")
    for key in "121":
        page.keyboard.press(key)
    expect(page.locator(".row.focused .row-name")).to_have_text("Spans")
    select_words(page, 0, 4)
    page.keyboard.press("2")
    expect(page.locator("[data-span-list] li")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".row.focused .row-name")).to_have_text("Text")
    page.locator(".row.focused textarea.question-text").fill("Short and dull.")
    page.locator(".row.focused [data-move-on]").click()
    expect(page.locator("#progress")).to_contain_text("1 of 2")
    span = {"part": 0, "start": 0, "end": 4, "category": "accuracy", "severity": "major"}
    stored = {
        "labels": {"labels": ["grammar", "wrong-word"]},
        "parts": {"parts": ["yes", "no", "yes"]},
        "spans": {"spans": [span]},
        "text": {"text": "Short and dull."},
    }
    expect_stored(page, stored_pieces, stored)
    page.reload()
    expect(page.locator("[data-span-list] li")).to_contain_text("Accuracy, major")
    expect(page.locator(".question-text")).to_have_value("Short and dull.")


def test_comparisons_are_answered_by_keys(live_server: LiveServer, context: BrowserContext) -> None:
    page, cast = begin(live_server, context, "preference", systems=2)
    expect(page.locator(".side")).to_have_count(2)
    page.keyboard.press("1")
    expect(page.locator("#progress")).to_contain_text("1 of 1")
    rating = Rating.objects.get()
    assert rating.data is not None
    order = rating.data["order"]
    assert rating.value == (-2 if order[0] == 0 else 2)
    first = page.locator(".side .text").first
    side = (
        cast.project.documents.get().items.exclude(kind="output").get().sides.order_by("position")[order[0]]
    )
    expect(first).to_have_text(side.output.text)


@pytest.mark.parametrize("width", [1280, 390])
def test_ranking_works_by_touch(live_server: LiveServer, browser: Browser, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, has_touch=True)
    page, _ = begin(live_server, context, "ranking", systems=3)
    for number, rank in enumerate((2, 1, 3)):
        page.locator("[data-entry]").nth(number).locator(f"input[value='{rank}']").tap()
    expect(page.locator("#progress")).to_contain_text("1 of 1")
    rating = Rating.objects.get()
    assert rating.data is not None
    shown = [rating.data["ranks"][side] for side in rating.data["order"]]
    assert shown == [2, 1, 3]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_answer_is_undone_and_submitted_again(live_server: LiveServer, context: BrowserContext) -> None:
    page, _ = begin(live_server, context, "labels")
    page.keyboard.press("0")
    expect_stored(page, stored_pieces, {"labels": {"labels": []}})
    page.keyboard.press("1")
    expect_stored(page, stored_pieces, {"labels": {"labels": ["grammar"]}})
    page.locator("[data-act=undo]").click()
    expect_stored(page, stored_pieces, {"labels": {"labels": []}})
    expect(page.locator("[data-none]")).to_be_checked()


def stored_numbers() -> dict[str, float | None]:
    """Return the stored numbers."""
    return dict(Rating.objects.values_list("dimension__key", "value"))


def test_a_hidden_answer_comes_back_with_the_one_that_hid_it(
    live_server: LiveServer, context: BrowserContext
) -> None:
    cast = make_project(dimensions=(), annotators=1, raters_per_item=1, documents=1, systems=1)
    add_question(cast.project, "labels")
    spec = DimensionSpec("Harm", "How bad.", shown_if={"dimension": "labels", "values": ["grammar"]})
    add_dimension(project=cast.project, dimension=spec)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    harm = page.locator('.row[data-key="harm"]')
    expect(harm).to_have_attribute("hidden", "")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    expect_stored(page, stored_numbers, {"labels": 1, "harm": 4})
    page.locator('[data-go="labels"]').click()
    page.keyboard.press("0")
    expect(harm).to_have_attribute("hidden", "")
    expect(page.locator("#progress")).to_contain_text("1 of 1")
    expect_stored(page, stored_numbers, {"labels": 0, "harm": None})
    page.locator("[data-act=undo]").click()
    expect_stored(page, stored_numbers, {"labels": 1, "harm": 4})
    expect(page.locator("#notices .notice")).to_have_count(0)


def test_not_applicable_is_an_answer_to_every_kind(live_server: LiveServer, context: BrowserContext) -> None:
    cast = make_project(dimensions=(), annotators=1, raters_per_item=1, documents=1, systems=1)
    spec = DimensionSpec("Errors", "Which.", kind="labels", options=OPTIONS["labels"], not_applicable=True)
    add_dimension(project=cast.project, dimension=spec)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    expect(page.locator(".row.focused")).to_have_count(1)
    page.keyboard.press("1")
    expect_stored(page, stored_numbers, {"errors": 1})
    page.locator(".row.focused").press("n")
    expect_stored(page, stored_numbers, {"errors": None})
    assert Rating.objects.get().not_applicable
    page.locator('[data-go="errors"]').click()
    page.keyboard.press("2")
    expect_stored(page, stored_numbers, {"errors": 1})
    assert not Rating.objects.get().not_applicable
