"""Signing in by a provider of OpenID Connect, in a real browser, each page looked at by axe-core."""

from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.models import Role
from annotate.people.commands import invite
from annotate.people.invitations import invitation_token
from tests.browser.axe import bring_axe, every_violation
from tests.factories import make_project
from tests.people.oidc import providing

ANN = {"sub": "a1", "email": "ann@example.org", "email_verified": True, "name": "Ann Ota"}


def test_unknown_user_gets_a_rejection_message_and_invited_user_joins(
    context: BrowserContext, page: Page, settings: Any
) -> None:
    cast = make_project()
    bring_axe(context)
    with providing() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = provider.setting
        provider.claims = dict(ANN)
        page.goto("/accounts/login/")
        assert not every_violation(page)
        page.get_by_role("button", name="Sign in with University").click()
        expect(page.get_by_role("alert")).to_contain_text("has no account here and no invitation")
        assert not every_violation(page)
        offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="ann@example.org")
        page.goto(f"/invitations/{invitation_token(offer)}/")
        page.get_by_role("link", name="Make an account").click()
        page.get_by_role("button", name="Sign in with University").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(cast.project.name)
