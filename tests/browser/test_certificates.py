"""An admin plans a calibration, draws it, and reads its certificates, in a real browser."""

import pytest
from playwright.sync_api import BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from judges.core.models import Calibration
from tests.browser.people import signed_in
from tests.factories import Cast
from tests.judges.certified import calibrated_project, rate_sample


@pytest.fixture
def cast(live_server: LiveServer) -> Cast:
    """A judge that is right where a second one agrees with it; nobody has rated."""
    return calibrated_project()


def test_guarantee_needs_follow_the_form_and_the_sample_is_computed(
    context: BrowserContext, cast: Cast
) -> None:
    page = signed_in(context, cast.admin)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"/projects/{cast.project.slug}/judges/certificates/new/")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("up to 5 wrong of 38 judge units")
    page.get_by_label("A unit counts as wrong").select_option("another_point")
    page.get_by_text("Size of the sample").click()
    page.get_by_label("Units to sample").fill("60")
    expect(preview.locator("dl")).to_contain_text("240")
    page.get_by_role("button", name="Create this sample").click()
    expect(page.get_by_text("The sample of Calibration 1 is ready.")).to_be_visible()
    rate_sample(cast, Calibration.objects.get())
    page.get_by_role("button", name="Compute the certificates").click()
    expect(page.get_by_role("heading", name="Fluency")).to_be_visible()
    expect(page.get_by_text("up to 20 % of the 72 units of Reasoner")).to_be_visible()
