"""What a person prefers holds on the next page and in another browser; texts run in their own direction."""

from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dimension, Document, Item
from tests.browser.people import signed_in
from tests.factories import make_project
from tests.rating.rounds import discussed, opened

HEBREW = "מגפיים טובים, 10 מתוך 10."
DIRECTION = "element => getComputedStyle(element).direction"
# Where the first letters of a text are painted, and where its box is.
BEGINS = """element => {
    const range = document.createRange();
    const node = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(node, 0);
    range.setEnd(node, 1);
    const [letter, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
    return box.right - letter.right < letter.left - box.left ? "right" : "left";
}"""


def test_dark_and_german_hold_on_the_next_page_and_in_another_browser(
    browser: Browser, context: BrowserContext, live_server: LiveServer
) -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    opened(cast)
    user = cast.annotators[0].user
    page = signed_in(context, user)
    page.goto("/account/preferences/")
    for choice in ("Dark", "Deutsch"):
        page.get_by_label(choice, exact=True).check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Meine Einstellungen")
    elsewhere = browser.new_context(base_url=live_server.url, color_scheme="light")
    for each in (page, signed_in(elsewhere, user)):
        each.goto(f"/projects/{cast.project.slug}/rate/")
        looks_as_chosen(each)
    elsewhere.close()


def looks_as_chosen(page: Page) -> None:
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_label("✕ nicht bewertbar").first).to_be_visible()


def test_a_device_that_wants_less_movement_gets_none(context: BrowserContext, transactional_db: None) -> None:
    cast = make_project()
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    show = "line => { line.hidden = false; return document.getAnimations().length; }"
    assert page.locator("#advance").evaluate(show) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator("#advance").evaluate(show) == 1


def test_right_to_left_content_keeps_its_direction_in_mixed_pages(
    context: BrowserContext, transactional_db: None
) -> None:
    cast = make_project()
    parts = [{"label": HEBREW, "text": HEBREW}, {"label": "Review 2", "text": "Good boots."}]
    Document.objects.update(title=HEBREW, parts=parts)
    Item.objects.update(text=HEBREW)
    Dimension.objects.update(name="שטף", definition=HEBREW)
    dispute = discussed(cast, 1, 3, 5)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/1/")
    rating_reads_right(page)
    page.goto(f"/projects/{cast.project.slug}/disputes/{dispute.number}/")
    expect(page.locator("html")).not_to_have_attribute("dir", "rtl")
    texts = page.locator(".text[data-part]")
    assert [texts.nth(at).evaluate(BEGINS) for at in (0, 1)] == ["right", "left"]
    assert page.locator(".summary .text").evaluate(BEGINS) == "right"
    assert page.locator("h1 [dir]").evaluate(DIRECTION) == "rtl"
    reply = page.get_by_label("Reason, or a message")
    assert reply.evaluate(DIRECTION) == "ltr"
    reply.fill(HEBREW)
    assert reply.evaluate(DIRECTION) == "rtl"
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".thread .text")).to_contain_text(HEBREW)
    assert page.locator(".thread .text").evaluate(BEGINS) == "right"
    assert page.locator(".axis").evaluate(DIRECTION) == "ltr"  # a scale of numbers grows to the right


def rating_reads_right(page: Page) -> None:
    assert page.locator(".summary .text").evaluate(BEGINS) == "right"
    assert [page.locator(".text[data-part]").nth(at).evaluate(BEGINS) for at in (0, 1)] == ["right", "left"]
    assert page.locator(".row-name").first.evaluate(DIRECTION) == "rtl"
    values = page.locator(".row .point input").evaluate_all("all => all.map(each => each.value)")
    lefts = page.locator(".row .point").evaluate_all("all => all.map(each => each.offsetLeft)")
    assert values == ["1", "2", "3", "4", "5"]
    assert lefts == sorted(lefts)
