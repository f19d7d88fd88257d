"""Signing in, played in a real browser."""

from playwright.sync_api import Page, expect

from tests.factories import PASSWORD, make_user


def test_a_person_signs_in_and_is_known(page: Page) -> None:
    user = make_user()
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto("/accounts/logout/")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
