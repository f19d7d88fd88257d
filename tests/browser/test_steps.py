"""Half points are rated by keys and by touch, and quarter points are typed, on a phone too."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.guideline import DimensionSpec
from annotate.core.models import Rating
from annotate.setup.commands import add_dimension
from tests.browser.conftest import PATIENCE
from tests.browser.dock import turn_to
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

SCALES = (
    DimensionSpec("Clarity", "Is it clear?", scale_step=0.5),
    DimensionSpec("Depth", "Does it go far?", scale_step=0.25, scale_maximum=10, not_applicable=True),
    DimensionSpec("Style", "Does it read well?"),
)


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    cast = make_project(dimensions=(), documents=1, systems=1)
    for dimension in SCALES:
        add_dimension(project=cast.project, dimension=dimension)
    opened(cast)
    return cast


def stored_values() -> dict[str, float | None]:
    return dict(Rating.objects.values_list("dimension__name", "value"))


def at_work(context: BrowserContext, cast: Cast, server: LiveServer) -> Page:
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{server.url}/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def test_a_digit_and_a_key_for_a_step_rate_half_points(
    live_server: LiveServer, context: BrowserContext, cast: Cast
) -> None:
    page = at_work(context, cast, live_server)
    expect(page.locator("[data-key=clarity] .by-key")).to_have_text(
        "1 to 5 in steps of 0.5: a digit, then . for one step more."
    )
    for key in ("3", ".", "7", ".", "2", "5", "Enter", "4", "."):
        page.keyboard.press(key)
    expect_stored(page, stored_values, {"Clarity": 3.5, "Depth": 7.25, "Style": 4})
    page.reload()
    expect(page.locator('[name="clarity-value"]:checked')).to_have_value("3.5")
    expect(page.locator('[name="depth-value"][type=number]')).to_have_value("7.25")


def test_the_highest_point_has_no_step_above_it(
    live_server: LiveServer, context: BrowserContext, cast: Cast
) -> None:
    page = at_work(context, cast, live_server)
    for key in ("4", ".", ".", "."):
        page.keyboard.press(key)
    expect(page.locator('[name="clarity-value"]:checked')).to_have_value("5")


def test_half_points_are_tapped_on_a_phone_in_the_reader_s_language(
    live_server: LiveServer, browser: Browser, cast: Cast
) -> None:
    size: ViewportSize = {"width": 390, "height": 844}
    context = browser.new_context(viewport=size, has_touch=True, locale="de-DE", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = at_work(context, cast, live_server)
    half = page.locator('.point[data-name="3,5"] input[name="clarity-value"]')
    box = half.bounding_box()
    assert box
    assert min(box["width"], box["height"]) >= 44
    half.tap()
    turn_to(page, "style")
    page.locator('.point[data-name="4"] input[name="style-value"]').tap()
    turn_to(page, "depth")
    field = page.locator('[name="depth-value"][type=number]')
    field.tap()
    expect(field).to_have_attribute("inputmode", "decimal")
    field.fill("7.25")
    field.blur()
    expect_stored(page, stored_values, {"Clarity": 3.5, "Depth": 7.25, "Style": 4})
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    page.reload()
    expect(page.locator('[name="clarity-value"]:checked')).to_have_value("3.5")
    expect(page.locator('[name="depth-value"][type=number]')).to_have_value("7.25")
    context.close()


def test_value_off_the_steps_is_rejected_with_its_message(
    live_server: LiveServer, context: BrowserContext, cast: Cast
) -> None:
    page = at_work(context, cast, live_server)
    turn_to(page, "depth")
    field = page.locator('[name="depth-value"][type=number]')
    field.fill("7.3")
    field.blur()
    sentence = "Depth is rated from 1 to 10 in steps of 0.25; 7.3 is not on this scale."
    expect(page.locator("#refused")).to_contain_text(sentence)
    field.fill("7.5")
    field.blur()
    expect_stored(page, stored_values, {"Depth": 7.5})
