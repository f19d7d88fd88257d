"""Practice in a real browser: the rating page by keyboard at a desk, by taps on a phone."""

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from annotate.core.models import PracticeAnswer, Rating
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, wait_until
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def cast(live_server) -> Cast:
    """Two items to practise on, with a reference of 3 on both dimensions, before an open Round I."""
    cast = make_project(dimensions=("fluency", "coherence"), documents=3)
    for item in cast.items[:2]:
        gold = mark_gold(project=cast.project, item=item, use="practice")
        right = {each.pk: RightValue(3, f"{each.name} deserves 3.") for each in cast.dimensions}
        describe_gold(project=cast.project, gold=gold, explanation="Read it slowly.", values=right)
    set_practice_bar(project=cast.project, bar=0)
    opened(cast)
    return cast


def stored() -> list[tuple[str, int | None, bool, bool]]:
    rows = PracticeAnswer.objects.order_by("gold_value__gold", "gold_value__dimension__position")
    fields = ("gold_value__dimension__key", "value", "unsure", "settled_at")
    return [(key, value, unsure, bool(at)) for key, value, unsure, at in rows.values_list(*fields)]


def begin(page: Page, cast: Cast) -> None:
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)


def test_items_are_practised_by_keyboard_and_lead_to_round_one(
    cast: Cast, browser: Browser, live_server
) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=DESK, reduced_motion="reduce")
    page = signed_in(context, cast.annotators[0].user)
    begin(page, cast)
    scale = page.locator(".row .points").first.bounding_box()
    page.keyboard.press("5")
    page.keyboard.press("u")  # about what was just rated
    for _ in range(2):  # it is never left open
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").first).to_contain_text("Rate every dimension")
    page.keyboard.press("2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("4")  # changed before the reference is seen
    expect(page.locator("[data-done]")).to_have_text("1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#feedback")).to_be_focused()
    first, second = page.locator(".row").all()
    expect(first).to_contain_text("You gave 4; the reference is 3. So far: 1 above the reference on 1 of 1.")
    expect(second).to_contain_text("1 below the reference on 1 of 1.")
    expect(first.locator(".point-reference input")).to_have_value("3")
    expect(second).to_contain_text("Coherence deserves 3.")
    box = page.locator(".row .points").first.bounding_box()
    assert scale
    assert box
    assert box["x"] == scale["x"]
    assert stored() == [("fluency", 4, True, True), ("coherence", 2, False, True)]
    page.keyboard.press("1")  # nothing can be changed any more
    page.keyboard.press("Enter")
    expect(page.locator("#feedback")).to_have_count(0)
    expect(page.locator(".row.focused")).to_contain_text("Fluency")
    context.set_offline(True)
    for key in ("4", "3", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#save-mark")).to_have_attribute("data-state", "unsaved")
    expect(page.get_by_role("alert").first).to_contain_text("no connection")
    assert len(stored()) == 2
    context.set_offline(False)
    page.keyboard.press("Enter")
    expect(page.locator(".row").first).to_contain_text("1 above the reference on 2 of 2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Practice is passed")).to_be_visible()
    expect(page.locator("main")).to_contain_text("1 above the reference on 2 of 2, 1.0 above it on average")
    page.get_by_role("link", name="Begin rating").press("Enter")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    expect(page).to_have_url(f"{live_server.url}/projects/{cast.project.slug}/rate/1/")
    assert not Rating.objects.exists()
    context.close()


def test_items_are_practised_by_taps(cast: Cast, browser: Browser, live_server) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=PHONE, has_touch=True, is_mobile=True)
    context.clock.install()
    page = signed_in(context, cast.annotators[0].user)
    begin(page, cast)
    for row in page.locator(".row").all():
        row.locator(".point", has_text="5").tap()
    expect_stored(page, stored, [("fluency", 5, False, False), ("coherence", 5, False, False)])
    page.get_by_role("link", name="Compare").tap()
    expect(page.locator(".row").last).to_contain_text("2 above the reference on 1 of 1")
    expect(page.locator("#feedback")).to_contain_text("Read it slowly.")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.clock.fast_forward(600)  # a second tap sooner is not meant for what the first one brought
    page.get_by_role("link", name="Next").tap()
    expect(page.get_by_role("link", name="Compare")).to_be_visible()
    wait_until(page, "scrollY === 0")
    context.close()
