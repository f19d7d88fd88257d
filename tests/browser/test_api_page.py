"""Stories: an operation of the API is tried on its page."""

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Project
from tests.api.client import ApiClient
from tests.browser.axe import AXE
from tests.factories import Cast, make_project

FOUND = "axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))"


@pytest.fixture
def cast(live_server: LiveServer) -> Cast:
    return make_project()


def test_an_operation_is_tried_with_its_example(page: Page, cast: Cast) -> None:
    page.goto("/api/v1/")
    page.get_by_label("Token").fill(ApiClient(cast.admin).secret)
    operation = page.locator("#patchProject")
    operation.locator("summary").click()
    body = operation.get_by_label("Body")
    expect(operation.get_by_label("slug")).to_have_value("reviews-of-boots")
    assert "raters_per_item" in body.input_value()
    operation.get_by_label("slug").fill(cast.project.slug)
    body.fill('{"raters_per_item": 7}')
    operation.get_by_role("button", name="Send").click()
    expect(operation.locator("output")).to_contain_text('"raters_per_item": 7')
    assert Project.objects.get(pk=cast.project.pk).raters_per_item == 7
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(FOUND) == []


def test_steps_are_chosen_from_a_list_and_rejections_appear(page: Page, cast: Cast) -> None:
    page.goto("/api/v1/")
    operation = page.locator("#postRoundStep")
    operation.locator("summary").click()
    operation.get_by_label("slug").fill(cast.project.slug)
    operation.get_by_label("step").select_option("open-1")
    operation.get_by_role("button", name="Send").click()
    expect(operation.locator("output")).to_contain_text('"code": "token_unusable"')
