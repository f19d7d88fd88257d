"""A passkey from beginning to end, in a real browser with a device, each page looked at by axe-core."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import AuditEntry
from tests.browser.axe import bring_axe, every_violation
from tests.browser.people import sign_in_at_the_door
from tests.factories import PASSWORD, make_project

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def device(context: BrowserContext, page: Page) -> dict[str, str]:
    """Give the page a device that keeps passkeys and knows its owner."""
    bring_axe(context)
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    return {"id": session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]}


def look(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert not every_violation(page)


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_passkey_signs_in_appears_with_the_password_and_is_removed(
    page: Page, device: dict[str, str]
) -> None:
    cast = make_project()
    sign_in_at_the_door(page, cast.admin.email)
    page.goto("/accounts/2fa/")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    look(page, "Add a passkey")
    page.get_by_label("Name").fill("My phone")
    page.get_by_role("button", name="Add it").click()
    look(page, "Recovery codes")
    sign_out(page)
    page.get_by_role("button", name="Use a passkey").click()
    look(page, "Your projects")
    sign_out(page)
    sign_in_at_the_door(page, cast.admin.email)
    look(page, "Your code")
    page.get_by_role("button", name="Use a passkey").click()
    look(page, "Your projects")
    page.goto("/accounts/2fa/")
    look(page, "Second factor")
    page.get_by_role("link", name="Remove My phone").click()
    look(page, "Your password again")
    page.get_by_role("button", name="Use a passkey").click()
    look(page, "Remove this passkey?")
    page.get_by_role("button", name="Remove it").click()
    look(page, "Second factor")
    expect(page.get_by_text("My phone")).to_have_count(0)
    entries = AuditEntry.objects.filter(act__startswith="person.second_factor").order_by("pk")
    assert [(entry.act, entry.after and entry.after["kind"]) for entry in entries] == [
        ("person.second_factor_added", "passkey My phone"),
        ("person.second_factor_removed", "passkey My phone"),
    ]


def test_user_without_a_passkey_sees_a_failure_message(page: Page, device: dict[str, str]) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The device returned no passkey")
