"""An admin sets up questions of other kinds, makes comparisons and previews, at 1280 and 390 pixels."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dimension, Item
from tests.browser.people import signed_in
from tests.factories import make_project


@pytest.mark.parametrize("width", [1280, 390])
def test_questions_are_set_up_sampled_and_previewed(
    live_server: LiveServer, browser: Browser, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, has_touch=width < 400)
    cast = make_project(dimensions=("fluency",), systems=3)
    home = f"{live_server.url}/projects/{cast.project.slug}"
    page = signed_in(context, cast.admin)

    def fits() -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth") <= width)

    page.goto(f"{home}/dimensions/new/")
    page.locator("input[name=kind][value=spans]").check()
    expect(page.get_by_label("Severities")).to_have_value("minor = 1\nmajor = 5\ncritical = 25")
    page.get_by_label("Name", exact=True).fill("Errors")
    page.get_by_label("Definition").fill("Everything that is wrong.")
    page.locator("#id_categories").fill("Accuracy: says something else\nFluency")
    page.get_by_label("Ask only if").select_option(label="Fluency")
    page.locator("#condition").get_by_label("1", exact=False).first.check()
    assert fits()
    page.get_by_role("button", name="Save the dimension").click()
    expect(page.get_by_text("Errors is saved.")).to_be_visible()
    errors = Dimension.objects.get(key="errors")
    assert errors.options is not None
    assert [each["key"] for each in errors.options["categories"]] == ["accuracy", "fluency"]
    assert errors.shown_if == {"dimension": "fluency", "values": [1]}

    page.goto(f"{home}/dimensions/new/")
    page.locator("input[name=kind][value=preference]").check()
    page.get_by_label("two: slightly better, better").check()
    page.get_by_label("Name", exact=True).fill("Better")
    page.get_by_label("Definition").fill("The better one.")
    page.get_by_role("button", name="Save the dimension").click()
    expect(page.get_by_text("none are drawn yet")).to_be_visible()
    assert fits()
    page.get_by_role("link", name="Draw comparisons").click()
    expect(page.get_by_text("Drawing adds 6 comparisons of 2 outputs.")).to_be_visible()
    page.get_by_label("Comparisons of each document").fill("2")
    page.get_by_label("Comparisons of each document").blur()
    expect(page.get_by_text("Drawing adds 4 comparisons of 2 outputs.")).to_be_visible()
    page.get_by_role("button", name="Draw comparisons").click()
    expect(page.get_by_text("4 comparisons are drawn.")).to_be_visible()
    assert Item.objects.exclude(kind="output").count() == 4
    assert fits()

    page.goto(f"{home}/preview/?item=7")
    expect(page.locator(".side")).to_have_count(2)
    expect(page.get_by_text("Output 1 is slightly better").first).to_be_visible()
    page.goto(f"{home}/preview/")
    expect(page.locator(".row.focused .row-name")).to_have_text("Fluency")
    context.close()
