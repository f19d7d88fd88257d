"""Configuring a project and joining it by link, played in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dimension, Invitation
from tests.browser.people import prove_address, signed_in
from tests.factories import Cast, make_project


@pytest.fixture
def cast(live_server: LiveServer) -> Cast:
    return make_project(dimensions=("fluency",))


@pytest.fixture
def page(context: BrowserContext, cast: Cast) -> Page:
    return signed_in(context, cast.admin)


def test_scale_rows_follow_its_ends_and_keep_their_labels(page: Page, cast: Cast) -> None:
    page.goto(f"/projects/{cast.project.slug}/dimensions/fluency/")
    page.get_by_label("Label of 3").fill("Middling")
    page.get_by_label("Highest value").fill("7")
    page.get_by_label("Lowest value").focus()
    expect(page.get_by_label("Label of 7")).to_be_visible()
    expect(page.get_by_label("Label of 3")).to_have_value("Middling")
    page.get_by_label("Highest value").fill("100")
    page.get_by_label("Lowest value").focus()
    page.get_by_label("Describe another value").fill("50")
    page.get_by_role("button", name="Add a row for it").click()
    page.get_by_label("Label of 50").fill("Half")
    page.get_by_label("Guidelines").fill("Look at **sentences**.")
    page.get_by_role("button", name="Update the preview").click()
    expect(page.locator("#preview strong")).to_have_text("sentences")
    expect(page.get_by_label("Label of 50")).to_have_value("Half")


def test_enter_in_a_field_saves(page: Page, cast: Cast) -> None:
    page.goto(f"/projects/{cast.project.slug}/dimensions/fluency/")
    page.get_by_label("Name", exact=True).fill("Style")
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_text("Style is saved.")).to_be_visible()
    assert Dimension.objects.get().name == "Style"


def test_without_scripts_a_scale_gets_its_rows_by_a_button(
    new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = signed_in(new_context(java_script_enabled=False), cast.admin)
    page.goto(f"/projects/{cast.project.slug}/dimensions/fluency/")
    page.get_by_label("Highest value").fill("6")
    page.get_by_role("button", name="Show the points of this scale").click()
    page.get_by_label("Label of 6").fill("Best")
    page.get_by_role("button", name="Save the dimension").click()
    expect(page.get_by_text("Fluency is saved.")).to_be_visible()
    assert Dimension.objects.get().points.get(value=6).label == "Best"


def test_a_link_leads_a_new_person_into_the_project(page: Page, context: BrowserContext, cast: Cast) -> None:
    page.goto(f"/projects/{cast.project.slug}/people/")
    page.get_by_role("radio", name="researcher").check()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link as researcher").input_value()
    context.clear_cookies()
    page.goto(link)
    page.get_by_role("link", name="Make an account").click()
    prove_address(page, "rita@example.org")
    page.get_by_label("Name", exact=True).fill("Rita")
    page.get_by_label("Password", exact=True).fill("a long enough pass")
    page.get_by_label("Password (again)").fill("a long enough pass")
    page.get_by_role("button", name="Make the account and join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(cast.project.name)
    assert Invitation.objects.get().accepted_at
