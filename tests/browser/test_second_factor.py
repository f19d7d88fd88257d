"""A second factor from beginning to end, in a real browser, each page looked at by axe-core."""

import re
from time import time

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import bring_axe, every_violation
from tests.browser.people import sign_in_at_the_door
from tests.factories import PASSWORD, make_user


def look(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert not every_violation(page)


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time()) // 30)))


def test_a_person_sets_it_up_signs_in_with_it_and_turns_it_off(context: BrowserContext, page: Page) -> None:
    user = make_user()
    bring_axe(context)
    sign_in_at_the_door(page, user.email)
    page.goto("/account/preferences/")
    page.get_by_role("link", name="Second factor").click()
    look(page, "Second factor")
    page.get_by_role("link", name="Set it up").click()
    look(page, "Your password again")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    look(page, "Set up the second factor")
    secret = page.get_by_label("The key", exact=True).input_value()
    page.get_by_label("Authenticator code").fill(code_of(secret))
    page.get_by_role("button", name="Turn it on").click()
    look(page, "Recovery codes")
    codes = re.findall(r"\d{8}", page.get_by_label("Recovery codes").input_value())
    page.get_by_role("link", name="Make new ones").click()
    look(page, "Make new recovery codes?")
    page.get_by_role("link", name="Keep them").click()
    look(page, "Second factor")
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(lambda url: "/logout/" not in url)
    sign_in_at_the_door(page, user.email)
    look(page, "Your code")
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("/")
    page.goto("/accounts/2fa/totp/deactivate/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    look(page, "Turn off the second factor?")
    page.get_by_role("button", name="Turn it off").click()
    expect(page.get_by_role("link", name="Set it up")).to_be_visible()
