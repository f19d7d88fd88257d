"""The end of a document in a real browser: by keyboard at a desk, by taps on a phone."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from annotate.core.models import Dimension, Rating, RevisedValue, RevisedValueChange
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.places import own_order
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def cast(live_server) -> Cast:
    """Two documents of three items, of which the first annotator has rated all of one but the last item."""
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=3)
    for number, item in enumerate(cast.items):
        item.text = "The room was clean and the staff friendly. " * (1 + 40 * (number % 2))
        item.save(update_fields=["text"])
    choose_plan(project=cast.project, kind="everyone", revises_documents=True)
    round = opened(cast)
    for place, value in zip(own_order(round, cast.annotators[0])[:2], (2, 5), strict=True):
        for key in ("fluency", "coherence"):
            rate(cast, round, cast.annotators[0], place.item, value, key=key)
    return cast


def test_ten_is_typed_at_the_end_of_a_document(live_server, context: BrowserContext) -> None:
    cast = make_project(documents=1, systems=2)
    Dimension.objects.filter(project=cast.project).update(scale_minimum=0, scale_maximum=10)
    choose_plan(project=cast.project, kind="everyone", revises_documents=True)
    round = opened(cast)
    for item in cast.items:
        rate(cast, round, cast.annotators[0], item, 5)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/2/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".held.focused")).to_have_count(1)
    page.keyboard.press("1")
    page.keyboard.press("0")
    expect_stored(page, lambda: list(RevisedValueChange.objects.values_list("value_after")), [(10,)])


def at_last_item(cast: Cast, context: BrowserContext) -> Page:
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/3/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def shown(page: Page, dimension: str) -> Locator:
    """Wait until a dimension is shown and takes keys; return its items."""
    expect(page.locator("h2", has_text=dimension)).to_be_visible()
    expect(page.locator(".held.focused")).to_have_count(1)
    held = page.locator(".held")
    expect(held).to_have_count(3)
    return held


def revised() -> list[tuple[str, float | None, float, str]]:
    found = RevisedValue.objects.order_by("pk")
    return list(found.values_list("rating__dimension__key", "rating__value", "value", "comment"))


def test_a_document_is_compared_and_revised_by_keyboard(cast: Cast, browser: Browser, live_server) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=DESK, reduced_motion="reduce")
    page = at_last_item(cast, context)
    for key in ("4", "4", "Enter"):
        page.keyboard.press(key)
    held = shown(page, "Fluency")
    expect(held.nth(0)).to_contain_text("first value: 5")  # the highest first, with the answer just given
    expect(held.nth(1)).to_contain_text("first value: 4")
    top = [each["y"] for each in (held.nth(n).bounding_box() for n in range(3)) if each]
    assert top == [top[0]] * 3  # side by side
    page.keyboard.press("ArrowDown")
    page.keyboard.press("3")
    expect(held.nth(1).get_by_text("changed")).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.type("1 of 3 is better.")  # digits are words here
    page.keyboard.press("Escape")
    expect_stored(page, revised, [("fluency", 4, 3, "1 of 3 is better.")])
    with context.expect_page() as opened_by_key:
        page.keyboard.press("i")
    expect(opened_by_key.value.get_by_role("heading", name="Guidelines")).to_be_visible()
    opened_by_key.value.close()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    shown(page, "Coherence")
    page.keyboard.press("1")
    page.keyboard.press("Shift+Enter")
    shown(page, "Fluency")
    expect(held.nth(1)).to_contain_text("changed")
    page.keyboard.press("Enter")
    shown(page, "Coherence")
    expect(held.nth(2)).to_contain_text("first value: 5")  # sorted by what is held now
    expect_stored(page, lambda: revised()[1:], [("coherence", 5, 1, "")])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/projects/{cast.project.slug}/rate/4/")
    assert list(Rating.objects.order_by("pk").values_list("value", flat=True)) == [2, 2, 5, 5, 4, 4]
    context.close()


def test_a_document_is_revised_by_taps_and_nothing_is_lost(cast: Cast, browser: Browser, live_server) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=PHONE, has_touch=True, is_mobile=True)
    page = at_last_item(cast, context)
    for row in page.locator(".row").all():
        row.locator(".point", has_text="4").tap()
    page.get_by_role("link", name="Next").tap()
    held = shown(page, "Fluency")
    points = held.nth(0).locator(".points").bounding_box()
    assert points
    assert points["y"] + points["height"] <= PHONE["height"]  # what is decided about and the values, at once
    boxes = [each for each in (held.nth(n).bounding_box() for n in range(3)) if each]
    assert len({box["x"] for box in boxes}) == 1  # one below the other
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    long = held.filter(has=page.get_by_role("button", name="Show all of it")).first
    height = long.evaluate("element => element.offsetHeight")
    long.get_by_role("button", name="Show all of it").tap()
    expect_stored(page, lambda: long.evaluate("element => element.offsetHeight") > height, True)

    def value(card: int, of: int) -> None:
        held.nth(card).locator("label.point", has_text=str(of)).tap()

    context.set_offline(True)
    value(0, 3)
    expect(page.locator("#save-mark")).to_have_attribute("data-state", "unsaved")
    assert revised() == []
    context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect_stored(page, revised, [("fluency", 5, 3, "")])
    expect(page.locator("#save-mark")).to_have_attribute("data-state", "saved")
    page.get_by_role("link", name="Go on with the next document").tap()
    page.wait_for_url("**/rate/4/")
    page.go_back()
    shown(page, "Fluency")
    close_round_one(project=cast.project, by=cast.admin)
    value(0, 2)
    expect(held.nth(0).locator(".row-refusal")).to_contain_text("Not saved: Round I was closed")
    expect(held.nth(0).locator("input:checked")).to_have_value("2")
    expect(page.locator(".held fieldset:not(:disabled)")).to_have_count(0)
    assert RevisedValueChange.objects.count() == 1
    context.close()


def test_a_plan_offers_it_where_documents_end(context: BrowserContext, transactional_db: None) -> None:
    cast = make_project()
    page = signed_in(context, cast.admin)
    page.goto(f"/projects/{cast.project.slug}/assignment-plan/")
    offered = page.get_by_label("At the end of a document, raters may revise their values")
    offered.check()
    page.get_by_label("Fully mixed").check()
    expect(offered).to_be_hidden()
    page.get_by_role("button", name="Save the plan").click()
    expect(page.get_by_text("The plan is saved")).to_be_visible()
    page.get_by_label("By document").check()
    expect(offered).to_be_visible()
    expect(offered).not_to_be_checked()
