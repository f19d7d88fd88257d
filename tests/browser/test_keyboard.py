"""All that an annotator does, without a mouse: the focus is seen at every step, and never lost."""

from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Dispute, Document, Item, Post, Preferences, Rating
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.browser.focus import PROBLEM, tab_to
from tests.browser.waiting import expect_stored, read_news, wait_until
from tests.factories import PASSWORD, Cast, make_project
from tests.rating.rounds import opened, rate

FOCUSED = """(({ activeElement: it }) => it.closest(".row")?.dataset.key ?? (it.id || it.type))(document)"""

# What a failure says: what has the focus, and what the page shows.
SEEN = "document.activeElement.outerHTML.slice(0, 300) + ' in ' + document.body.innerText.slice(0, 3000)"


def expect_focus(page: Page, name: str) -> None:
    """Wait until what bears this name has the focus, and is seen: its dimension, its own id, or its type."""
    try:
        wait_until(page, f"name => {FOCUSED} === name", name)
    except AssertionError:
        raise AssertionError(f"{page.evaluate(SEEN)} instead of {name}") from None
    assert not page.evaluate(PROBLEM), page.evaluate(PROBLEM)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_an_annotator_works_through_both_rounds_without_a_mouse(
    context: BrowserContext, transactional_db: None
) -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=2)
    Document.objects.update(parts=[{"label": "Review 1", "text": "Sturdy boots that last."}])
    Item.objects.update(text="The boots last.")
    round = opened(cast)
    for annotator in cast.annotators[1:]:
        for item in cast.items:
            rate(cast, round, annotator, item, 5)
    page = context.new_page()
    page.clock.install()
    signs_in(page, cast)
    rates(page, cast)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    discusses(page, cast)
    prefers_the_dark(page)


def signs_in(page: Page, cast: Cast) -> None:
    user = cast.annotators[0].user
    assert user
    page.goto("/accounts/login/")
    tab_to(page, "login")
    page.keyboard.type(user.email)
    tab_to(page, "password")
    page.keyboard.type(PASSWORD)
    press(page, "Enter")
    page.wait_for_url("/")
    tab_to(page, cast.project.name)
    press(page, "Enter")
    page.wait_for_url(f"**/{cast.project.slug}/")
    tab_to(page, "Rate")
    press(page, "Enter")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)


def rates(page: Page, cast: Cast) -> None:
    expect_focus(page, "fluency")
    press(page, "/")
    expect_focus(page, "search")
    page.keyboard.type("boots")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 1")
    press(page, "Escape")
    expect_focus(page, "fluency")
    press(page, "Shift+Tab")  # also without the key
    expect_focus(page, "mark-evidence")
    press(page, "Enter")
    expect_focus(page, "fluency")
    press(page, "2")
    expect_focus(page, "coherence")
    press(page, "c")
    page.keyboard.type("Because 3 of 4 fit.")
    press(page, "Escape")
    expect_focus(page, "fluency")
    press(page, "u", "ArrowDown", "x")
    expect_focus(page, "coherence")
    press(page, "c")
    page.keyboard.type("No two sentences.")
    press(page, "Escape", "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "Escape")
    expect_focus(page, "coherence")
    press(page, "Enter")
    page.wait_for_url("**/rate/2/")
    expect_focus(page, "fluency")
    press(page, "1")
    expect_focus(page, "coherence")
    tab_to(page, "Jump to")
    press(page, "Enter")
    tab_to(page, "Flagged")
    own = Rating.objects.filter(assignment__annotator=cast.annotators[0]).order_by("pk")
    given = own.values_list("value", "unsure", "cannot_rate", "comment", "evidence")
    expected = [
        (2, True, False, "Because 3 of 4 fit.", [{"part": 1, "start": 7, "end": 12}]),
        (None, False, True, "No two sentences.", None),
        (1, False, False, "", None),
    ]
    expect_stored(page, lambda: list(given.all()), expected)
    press(page, "Enter")
    page.wait_for_url("**/mine/?marked=flagged")
    tab_to(page, "1. ")
    press(page, "Enter")
    page.wait_for_url("**/rate/1/")
    expect_focus(page, "fluency")


def discusses(page: Page, cast: Cast) -> None:
    page.goto(f"/projects/{cast.project.slug}/disputes/")
    tab_to(page, "Begin with the first")
    press(page, "Enter")
    page.wait_for_url("**/disputes/1/")
    wait_until(page, f"{FOCUSED} === 'content'")
    tab_to(page, "comment")
    page.keyboard.type("Is it 4 or 5?")
    tab_to(page, "Send alone")
    press(page, "Enter")
    expect(page.locator("#news")).to_have_text("Your message was received.")
    wait_until(page, "document.activeElement.name === 'only_send'")
    assert Post.objects.get().text == "Is it 4 or 5?"
    tab_to(page, "stay")
    press(page, "Space")
    read_news(page)
    press(page, "4")
    expect(page.locator("#news")).to_have_text("Dispute 1: you changed to 4. The unit is settled.")
    expect_focus(page, "stay")
    tab_to(page, "Undo")
    press(page, "Enter")
    expect(page.locator("#news")).to_have_text("You withdrew your answer.")
    expect_focus(page, "answer-buttons")
    tab_to(page, "comment")
    page.keyboard.type("4 it is.")
    press(page, "Escape")
    expect_focus(page, "answer-buttons")
    read_news(page)
    press(page, "3")
    expect(page.locator("#news")).to_contain_text("you changed to 3.")
    expect_focus(page, "answer-buttons")
    assert Dispute.objects.get(number=1).status == "open"
    answer = Rating.objects.get(assignment__round__number=2)
    assert (answer.value, answer.comment) == (3, "4 it is.")


def prefers_the_dark(page: Page) -> None:
    tab_to(page, "Preferences")
    press(page, "Enter")
    page.wait_for_url("**/preferences/")
    tab_to(page, "theme")
    press(page, "ArrowDown", "ArrowDown", "Enter")
    expect(page.locator("html[data-theme=dark]")).to_have_count(1)
    expect_stored(page, lambda: Preferences.objects.get().theme, "dark")
