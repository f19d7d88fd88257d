"""Signing in, played in a real browser."""

from playwright.sync_api import Page, expect

from tests.browser.people import sign_in_at_the_door
from tests.factories import make_user


def test_a_person_signs_in_and_is_known(page: Page) -> None:
    user = make_user()
    sign_in_at_the_door(page, user.email)
    page.goto("/accounts/logout/")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
