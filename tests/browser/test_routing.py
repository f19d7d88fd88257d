"""An admin routes what a judge cannot be trusted with; an annotator rates just that, in a real browser."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.models import AssignedUnit, Rating, Round
from judges.models import RoutingPolicy
from tests.browser.people import signed_in
from tests.factories import Cast
from tests.judges.routing import routing_project


@pytest.fixture
def cast(live_server: LiveServer) -> Cast:
    """Three systems, two dimensions, judgments of both methods; nobody has rated."""
    return routing_project(documents=12, annotators=2)


def test_an_admin_moves_r_and_routes_and_an_annotator_rates_the_routed_dimensions(
    context: BrowserContext, cast: Cast
) -> None:
    page = signed_in(context, cast.admin)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"/projects/{cast.project.slug}/judges/routing/")
    page.get_by_role("link", name="New policy").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("judge 1.000")
    move_r(page)
    page.get_by_label("Audit share").fill("0.3")
    page.get_by_role("button", name="Save the policy").click()
    expect(page.get_by_text("Policy 1 is saved.")).to_be_visible()
    expect(preview).to_contain_text("time of people")
    page.get_by_role("button", name="Route these units").click()
    expect(page.get_by_text("into Round I, which is open")).to_be_visible()
    policy = RoutingPolicy.objects.get()
    assert policy.status == "routed"
    assert AssignedUnit.objects.count() == 2 * policy.units.count() > 0
    annotator_rates(context, cast)
    page.reload()
    expect(page.locator("tfoot").nth(1)).to_contain_text("all")
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)


def move_r(page: Page) -> None:
    """The slider and the number go together, and the preview follows them."""
    preview, slider = page.locator("#preview"), page.get_by_label("Threshold r, as a slider")
    slider.fill("1")
    expect(page.get_by_label("Threshold r", exact=True)).to_have_value("1")
    expect(preview).to_contain_text("Nothing stays with the judge.")
    page.get_by_label("Threshold r", exact=True).fill("0.5")
    expect(slider).to_have_value("0.5")
    expect(preview).not_to_contain_text("Nothing stays with the judge.")
    expect(preview.locator("td.routing-judge")).to_have_count(3)


def annotator_rates(context: BrowserContext, cast: Cast) -> None:
    """Only the routed dimensions of an item stand on the page; with them it is complete."""
    context.clear_cookies()
    annotator = cast.annotators[0]
    page = signed_in(context, annotator.user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    place = Round.objects.get().assignments.filter(annotator=annotator).earliest("position")
    asked = [
        unit.dimension for unit in place.units.select_related("dimension").order_by("dimension__position")
    ]
    rows = page.locator("fieldset.row")
    expect(rows).to_have_count(len(asked))
    for dimension in asked:
        page.get_by_role("group", name=dimension.name, exact=True).locator("label.point").nth(2).click()
    expect(page.locator("#progress [data-done]")).to_have_text("1")
    expect(page.locator("#save-mark")).to_contain_text("Saved")
    place.refresh_from_db()
    assert place.completed_at is not None
    assert Rating.objects.filter(assignment=place, value=3).count() == len(asked)
    for word in ("Reasoner", "Chooser", "system-1", "system-2", "system-3", "policy"):
        without_text = page.content().replace(place.item.text, "")
        assert word not in without_text
    page.close()
    context.clear_cookies()
    signed_in(context, cast.admin).close()
