"""Signing people in, in a browser."""

import time

from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import User
from tests.factories import PASSWORD
from tests.people.mails import sent_mails


def sign_in_at_the_door(page: Page, email: str) -> None:
    """Sign in as a person does."""
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


def prove_address(page: Page, email: str) -> None:
    """Give the address of a new account, and follow the link that is mailed to it."""
    page.get_by_label("E-mail address").fill(email)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    [message] = [each for each in sent_mails() if each.to == [email]]
    page.goto(next(line for line in str(message.body).splitlines() if line.startswith("http")))


def signed_in(context: BrowserContext, user: User | None, *, lasting: bool = False) -> Page:
    """Return a new page of this person, whose session begins without the sign-in page.

    lasting: the browser keeps the session when it is ended, as it does after the sign-in page.
    """
    assert user is not None
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    expires = time.time() + settings.SESSION_COOKIE_AGE if lasting else -1
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": value, "domain": "localhost", "path": "/"}
    cookie |= {"expires": expires}
    context.add_cookies([cookie])  # type: ignore[list-item]
    return context.new_page()
