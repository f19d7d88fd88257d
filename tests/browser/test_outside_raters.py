"""A person from a crowd platform in a real browser: from the link on a phone to the completion code."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import OutsideRater, OutsideStudy, Rating
from annotate.people.outside import save_study
from annotate.people.views.outside import StudyForm
from tests.browser.axe import bring_axe, violations_in_any_theme
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

ENTERED = {
    "is_open": "on",
    "most_raters": "5",
    "consent": "# About this study\n\nWe study *texts*.",
    "questions": "First language? | English | another",
    "items_per_rater": "2",
    "completion_code": "C-DONE",
    "completion_url": "https://app.example.org/complete?cc=C-DONE",
    "pay_rule": "none",
}


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(annotators=1)
    opened(cast)
    return cast


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_rater_goes_from_the_link_to_the_code(cast: Cast, phone: BrowserContext) -> None:
    form = StudyForm(ENTERED)
    assert form.is_valid(), form.errors
    study = save_study(project=cast.project, values=form.cleaned_data, by=cast.admin)
    bring_axe(phone)
    page, seen = phone.new_page(), set[int]()
    page.goto(f"/join/{study.token}/?PROLIFIC_PID=pid-1&STUDY_ID=study-1&SESSION_ID=session-1")
    expect(page.get_by_role("heading", name="About this study")).to_be_visible()
    assert fits(page)
    assert violations_in_any_theme(page, seen) == []
    page.get_by_role("button", name="I agree").tap()
    page.get_by_label("another").check()
    assert fits(page)
    assert violations_in_any_theme(page, seen) == []
    page.get_by_role("button", name="Continue").tap()
    for number in (1, 2):
        expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
        page.locator(".row .point", has_text="4").first.tap()
        expect_stored(page, Rating.objects.count, number)
        page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_label("Your code")).to_have_value("C-DONE")
    back = page.get_by_role("link", name="Back to the platform")
    expect(back).to_have_attribute("href", "https://app.example.org/complete?cc=C-DONE")
    assert fits(page)
    assert violations_in_any_theme(page, seen) == []
    rater = OutsideRater.objects.get()
    assert (rater.outcome, rater.platform_id) == ("completed", "pid-1")
    assert rater.answers == [{"question": "First language?", "answer": "another"}]


def test_admin_opens_the_link_by_keyboard(cast: Cast, context: BrowserContext) -> None:
    page = signed_in(context, cast.admin)
    page.goto(f"/projects/{cast.project.slug}/settings/")
    page.get_by_role("link", name="Let people from a crowd platform join").press("Enter")
    page.get_by_label("The link is open").press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Write the consent text before you open the link.")).to_be_visible()
    page.get_by_label("Consent text").focus()
    page.keyboard.type("We study texts.")
    page.get_by_role("button", name="Save").press("Enter")
    link = page.get_by_label("Link for the platform")
    study = OutsideStudy.objects.get()
    assert study.token in link.input_value()
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in link.input_value()
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits(page)
