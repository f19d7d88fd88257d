"""Signing in by a provider of OpenID Connect: whose account it is, who gets one, and what is refused."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client

from annotate.api.tokens import make_token, tokens_of
from annotate.core.models import ApiToken, AuditEntry, Invitation, Membership, Role, User
from annotate.core.password_again import PROVIDER_ASKED_AT
from annotate.people.commands import accept_invitation, change_address, invite
from annotate.people.installation import block_person
from annotate.people.invitations import change_token, invitation_token, is_proven, mark_proven
from concord.environment import one_of, single_sign_on
from tests.factories import Cast, make_user
from tests.people.mails import sent_mails
from tests.people.oidc import SECRET, Provider, providing
from tests.people.test_second_factor import ACTIVATE, AUTHENTICATE, code_of, set_up
from tests.people.test_sessions import is_signed_in, sign_in

pytestmark = pytest.mark.django_db

ANN = {"sub": "a1", "email": "ann@example.org", "email_verified": True, "name": "Ann Ota"}
BUTTON = "/accounts/oidc/university/login/"


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with providing() as running:
        settings.SOCIALACCOUNT_PROVIDERS = running.setting
        running.claims = dict(ANN)
        yield running


@pytest.fixture
def ann() -> User:
    """An account whose address is proven."""
    user = make_user("ann@example.org")
    mark_proven(user)
    return user


def come_back(client: Client, provider: Provider, **sent: str) -> HttpResponse:
    """Press the button, sign in there, and follow the way back."""
    there = client.post(BUTTON, sent)["Location"]
    assert there.startswith(f"{provider.url}/authorize?")
    return client.get(f"{BUTTON}callback/", provider.authorize(there))  # type: ignore[return-value]


def invited_account(cast: Cast, email: str = "ann@example.org") -> User:
    """An account that took an invitation for its address; the link may have been opened by anybody."""
    user = make_user(email)
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email=email)
    accept_invitation(token=invitation_token(offer), user=user)
    return user


def sign_in_long_ago(client: Client, provider: Provider) -> None:
    """As if an hour had passed; the session at the provider is still open."""
    provider.password_at -= 3600
    session = client.session
    session[PROVIDER_ASKED_AT] -= 3600
    for each in session["account_authentication_methods"]:
        each["at"] -= 3600
    session.save()


def test_sign_in_page_has_a_button_for_each_provider_and_calls_none(
    client: Client, provider: Provider
) -> None:
    assert "Sign in with University" in client.get("/accounts/login/").content.decode()
    assert provider.asked == []


def test_without_a_provider_there_is_no_button_and_no_way(client: Client) -> None:
    assert "Sign in with" not in client.get("/accounts/login/").content.decode()
    assert client.post(BUTTON).status_code == 404
    assert client.post("/accounts/oidc/openid_connect/login/").status_code == 404


def test_user_with_an_account_is_signed_in_to_it(client: Client, provider: Provider, ann: User) -> None:
    assert come_back(client, provider, next="/account/sessions/")["Location"] == "/account/sessions/"
    assert is_signed_in(client)
    assert client.session["_auth_user_id"] == str(ann.pk)
    assert ann.has_usable_password()
    kept = SocialAccount.objects.get()
    assert (kept.user, kept.provider, kept.uid, kept.extra_data) == (ann, "university", "a1", {})


def test_the_identity_decides_once_it_is_known(client: Client, provider: Provider, ann: User) -> None:
    come_back(client, provider)
    provider.claims = {**ANN, "email": "new@example.org", "email_verified": False}
    again = Client()
    come_back(again, provider)
    assert again.session["_auth_user_id"] == str(ann.pk)
    assert User.objects.get().email == "ann@example.org"


def test_each_project_has_the_first_sign_in_in_its_log(
    client: Client, provider: Provider, cast: Cast
) -> None:
    mark_proven(cast.admin)
    provider.claims = {**ANN, "email": cast.admin.email.upper()}
    come_back(client, provider)
    come_back(Client(), provider)
    entry = AuditEntry.objects.get(act="person.single_sign_on")
    facts = {"email": cast.admin.email, "provider": "university", "address_was_proven": True}
    assert (entry.project, entry.actor, entry.after) == (cast.project, cast.admin, facts)


@pytest.mark.parametrize("verified", [False, None, "false", "true", 0, 1])
def test_unverified_email_cannot_claim_an_account(
    client: Client, provider: Provider, ann: User, verified: object
) -> None:
    provider.claims = {**ANN, "email_verified": verified}
    answer = come_back(client, provider)
    assert answer.status_code == 403
    assert "has not verified your e-mail" in answer.content.decode()
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def test_account_with_an_unproven_email_is_not_handed_over(client: Client, provider: Provider) -> None:
    user = make_user("ann@example.org")
    answer = come_back(client, provider)
    assert (answer.status_code, "Forgotten password" in answer.content.decode()) == (403, True)
    assert not is_signed_in(client)
    assert sign_in(user)


def test_followed_password_link_proves_the_email(client: Client, provider: Provider) -> None:
    make_user("ann@example.org")
    client.post("/accounts/password/reset/", {"email": "ann@example.org"})
    link = str(sent_mails()[0].body).partition("http://testserver")[2].split()[0]
    form = client.get(link)["Location"]
    client.post(form, {"password1": "another fine pass", "password2": "another fine pass"})
    other = Client()
    come_back(other, provider)
    assert is_signed_in(other)


def test_changed_email_is_proven_and_the_old_one_leads_nowhere(
    client: Client, provider: Provider, ann: User
) -> None:
    change_address(user=ann, token=change_token(ann, "ann@new.example.org"))
    assert come_back(client, provider).status_code == 403
    provider.claims = {**ANN, "email": "ann@new.example.org"}
    come_back(client, provider)
    assert client.session["_auth_user_id"] == str(ann.pk)


def test_of_an_invited_account_all_other_ways_in_end(client: Client, provider: Provider, cast: Cast) -> None:
    user = invited_account(cast)
    stranger = sign_in(user)
    set_up(stranger)
    make_token(user=user, name="a", scopes=["read"], lasts=timedelta(days=1))
    come_back(client, provider)
    assert is_signed_in(client)
    assert not is_signed_in(stranger)
    user.refresh_from_db()
    assert not user.has_usable_password()
    assert not Authenticator.objects.exists()
    assert all(token.revoked_at for token in tokens_of(user))
    assert is_proven(user)


def test_a_second_factor_is_still_asked_for(client: Client, provider: Provider, ann: User) -> None:
    secret = set_up(sign_in(ann))
    assert come_back(client, provider)["Location"] == AUTHENTICATE
    assert not is_signed_in(client)
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_signed_in(client)


@pytest.mark.parametrize("known", [False, True])
def test_who_is_blocked_stays_out(client: Client, provider: Provider, ann: User, known: bool) -> None:
    if known:
        come_back(Client(), provider)
    block_person(user=ann)
    assert come_back(client, provider)["Location"] == "/accounts/inactive/"
    assert not is_signed_in(client)
    assert SocialAccount.objects.exists() == known


# Accounts that are made by a first sign-in


def test_unknown_user_gets_no_account(client: Client, provider: Provider) -> None:
    answer = come_back(client, provider)
    assert answer.status_code == 403
    assert "ann@example.org has no account here and no invitation" in answer.content.decode()
    assert not User.objects.exists()


def test_with_the_setting_anyone_gets_one_and_sees_no_project(
    client: Client, provider: Provider, settings: Any, cast: Cast
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    provider.claims = {**ANN, "email": "Ann@Example.org"}
    assert come_back(client, provider)["Location"] == "/"
    user = User.objects.get(email="ann@example.org")
    assert (user.name, user.has_usable_password(), is_proven(user)) == ("Ann Ota", False, True)
    assert cast.project.name not in client.get("/").content.decode()
    assert not Membership.objects.filter(user=user).exists()


def test_open_sign_up_still_requires_a_verified_email(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    provider.claims = {**ANN, "email_verified": False}
    assert come_back(client, provider).status_code == 403
    del provider.claims["email"]
    assert come_back(client, provider).status_code == 403
    assert not User.objects.exists()


def test_user_with_an_invitation_by_email_gets_an_account(
    client: Client, provider: Provider, cast: Cast
) -> None:
    invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="Ann@example.org")
    come_back(client, provider)
    assert is_signed_in(client)
    assert not Membership.objects.filter(user__email="ann@example.org").exists()


@pytest.mark.parametrize("email", ["", "ann@example.org"])
def test_who_opened_the_link_joins_the_project(
    client: Client, provider: Provider, cast: Cast, email: str
) -> None:
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email=email)
    client.get(f"/invitations/{invitation_token(offer)}/")
    assert "Sign in with University" in client.get("/accounts/signup/").content.decode()
    assert come_back(client, provider)["Location"] == f"/projects/{cast.project.slug}/"
    assert Membership.objects.get(user__email="ann@example.org").role == Role.ANNOTATOR


def test_link_for_another_email_creates_no_account(client: Client, provider: Provider, cast: Cast) -> None:
    offer = invite(project=cast.project, by=cast.admin, role=Role.ADMIN, email="prof@example.org")
    client.get(f"/invitations/{invitation_token(offer)}/")
    assert come_back(client, provider).status_code == 403
    assert not User.objects.filter(email="ann@example.org").exists()
    assert Invitation.objects.get(pk=offer.pk).accepted_at is None


def test_stale_session_cannot_set_a_first_password(client: Client, provider: Provider, cast: Cast) -> None:
    invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="ann@example.org")
    come_back(client, provider)
    new = {"password1": "another fine pass", "password2": "another fine pass"}
    client.post("/accounts/password/set/", new)
    client.post("/accounts/password/change/", new)
    assert not User.objects.get(email="ann@example.org").has_usable_password()


def test_user_without_a_password_signs_in_again_instead_of_confirming(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    come_back(client, provider)
    token = {"name": "a", "scopes": ["read"], "days": 30}
    assert client.post("/account/tokens/", token).status_code == 200
    sign_in_long_ago(client, provider)
    assert client.get("/account/tokens/").status_code == 200
    for page, sent in (("/account/tokens/", token), ("/account/address/", {"email": "b@example.org"})):
        refused = client.post(page, sent)
        assert (refused.status_code, "Sign in again" in refused.content.decode()) == (403, True)
    assert ApiToken.objects.count() == 1
    assert come_back(client, provider, next="/account/tokens/")["Location"] == "/account/tokens/"
    client.post("/account/tokens/", token)
    assert ApiToken.objects.count() == 2


def test_a_session_that_is_open_at_the_provider_proves_nothing(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    come_back(client, provider)
    sign_in_long_ago(client, provider)
    token = {"name": "a", "scopes": ["read"], "days": 30}
    for claims in ({}, {"auth_time": True}, {"auth_time": None}):
        provider.asks_again, provider.id_token = False, claims
        come_back(client, provider)
        assert client.post("/account/tokens/", token).status_code == 403
    provider.asks_again, provider.id_token = True, {}
    there = client.post(f"{BUTTON}?auth_params=prompt%3Dnone")["Location"]
    assert parse_qs(urlsplit(there).query)["prompt"] == ["login"]
    client.get(f"{BUTTON}callback/", provider.authorize(there))
    assert client.post("/account/tokens/", token).status_code == 200


def test_user_with_a_code_but_no_password_confirms_by_the_code(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    come_back(client, provider)
    page = client.get(ACTIVATE).content.decode()
    secret = client.session["mfa.totp.secret"]
    assert secret in page
    client.post(ACTIVATE, {"code": code_of(secret)})
    sign_in_long_ago(client, provider)
    assert "/accounts/2fa/reauthenticate/" in client.get("/account/again/").content.decode()
    client.post("/accounts/2fa/reauthenticate/", {"code": code_of(secret)})
    assert client.post("/account/tokens/", {"name": "a", "scopes": ["read"], "days": 30}).status_code == 200


def test_stale_session_cannot_set_up_a_second_factor(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.SSO_ACCOUNTS = "anyone"
    come_back(client, provider)
    client.get(ACTIVATE)
    sign_in_long_ago(client, provider)
    secret = client.session["mfa.totp.secret"]
    assert client.post(ACTIVATE, {"code": code_of(secret)}).status_code == 403
    assert not Authenticator.objects.exists()


def test_a_key_of_an_endpoint_is_not_taken_at_their_open_computer(
    client: Client, provider: Provider, cast: Cast
) -> None:
    mark_proven(cast.admin)
    cast.admin.set_unusable_password()
    cast.admin.save()
    provider.claims = {**ANN, "email": cast.admin.email}
    come_back(client, provider)
    sign_in_long_ago(client, provider)
    page = f"/projects/{cast.project.slug}/judges/endpoints/new/"
    sent = {
        "name": "Lab",
        "base_url": "https://api.openai.com/v1",
        "key": "sk-1",
        "calls_in_flight": 4,
        "timeout_seconds": 60,
    }
    refused = client.post(page, {**sent, "password": "anything"})
    assert (refused.status_code, "You have no password here" in refused.content.decode()) == (422, True)
    come_back(client, provider)
    assert client.post(page, sent).status_code == 302


# What comes from elsewhere


def test_token_with_a_foreign_signature_is_rejected(client: Client, provider: Provider, ann: User) -> None:
    provider.signing_key = ec.generate_private_key(ec.SECP256R1())
    answer = come_back(client, provider)
    assert "Signing in failed" in answer.content.decode()
    assert not is_signed_in(client)
    assert "/keys" in provider.asked


@pytest.mark.parametrize(
    "claims",
    [{"aud": "another"}, {"iss": "https://elsewhere.example"}, {"exp": 1}, {"sub": "b2"}],
    ids=["audience", "issuer", "expired", "subject"],
)
def test_token_for_another_sign_in_is_rejected(
    client: Client, provider: Provider, ann: User, claims: dict[str, Any]
) -> None:
    provider.id_token = claims
    assert "Signing in failed" in come_back(client, provider).content.decode()
    assert not is_signed_in(client)


def test_unresponsive_provider_on_the_callback_is_reported(
    client: Client, provider: Provider, ann: User
) -> None:
    there = client.post(BUTTON)["Location"]
    back = provider.authorize(there)
    provider.status = 503
    cache.clear()  # of what the provider said before
    assert "Signing in failed" in client.get(f"{BUTTON}callback/", back).content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("known", "claimed"),
    [("ivy@example.org", "\u0131vy@example.org"), ("\u0131vy@example.org", "ivy@example.org")],
)
def test_similar_email_is_a_different_one(
    client: Client, provider: Provider, cast: Cast, known: str, claimed: str
) -> None:
    mark_proven(make_user(known))
    invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email=known)
    provider.claims = {**ANN, "email": claimed}
    answer = come_back(client, provider)
    assert (answer.status_code, "no account here" in answer.content.decode()) == (403, True)
    assert not is_signed_in(client)


def test_callback_without_a_start_is_rejected(client: Client, provider: Provider, ann: User) -> None:
    begun = client.post(BUTTON)["Location"]
    victim = Client()
    answer = victim.get(f"{BUTTON}callback/", provider.authorize(begun))
    assert "Signing in failed" in answer.content.decode()
    assert not is_signed_in(victim)


def test_other_sites_cannot_start_it(provider: Provider, ann: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.get(BUTTON)["Location"] == "/accounts/login/"
    assert strict.post(BUTTON).status_code == 403
    assert provider.asked == []


def test_signed_in_account_cannot_connect_an_identity(provider: Provider, ann: User, cast: Cast) -> None:
    client = sign_in(cast.admin)
    assert come_back(client, provider, process="connect").status_code == 403
    assert not SocialAccount.objects.exists()
    assert client.get("/accounts/3rdparty/")["Location"] == "/account/preferences/"
    assert client.get("/accounts/3rdparty/signup/")["Location"] == "/accounts/login/"


def test_log_names_the_failed_provider(
    client: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.status = 500
    assert "Signing in failed" in client.post(BUTTON).content.decode()
    assert "Single sign-on by university failed" in caplog.text
    assert SECRET not in caplog.text


def test_who_changes_their_mind_there_is_back_at_the_sign_in_page(client: Client, provider: Provider) -> None:
    state = provider.authorize(client.post(BUTTON)["Location"])["state"]
    answer = client.get(f"{BUTTON}callback/", {"error": "access_denied", "state": state}, follow=True)
    assert answer.redirect_chain[-1][0] == "/accounts/login/"


# Settings

VARIABLES = {
    "CONCORD_SSO": "university",
    "CONCORD_SSO_UNIVERSITY_NAME": "University",
    "CONCORD_SSO_UNIVERSITY_URL": "https://login.example.org/realms/main",
    "CONCORD_SSO_UNIVERSITY_CLIENT": "concord",
    "CONCORD_SSO_UNIVERSITY_SECRET": "secret",
}


def set_variables(patch: pytest.MonkeyPatch, **changed: str) -> None:
    for name, value in {**VARIABLES, **changed}.items():
        patch.setenv(name, value)


def test_environment_configures_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert single_sign_on() == {"openid_connect": {"APPS": []}}
    second = {name.replace("UNIVERSITY", "LAB"): value for name, value in VARIABLES.items()}
    set_variables(monkeypatch, **{**second, "CONCORD_SSO": "university,lab"})
    apps = single_sign_on()["openid_connect"]["APPS"]
    assert [each["provider_id"] for each in apps] == ["university", "lab"]
    assert apps[0]["settings"]["server_url"] == "https://login.example.org/realms/main"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"CONCORD_SSO_UNIVERSITY_SECRET": ""}, "CONCORD_SSO_UNIVERSITY_SECRET"),
        ({"CONCORD_SSO_UNIVERSITY_URL": "http://login.example.org"}, "CONCORD_SSO_UNIVERSITY_URL"),
        ({"CONCORD_SSO": "Our University"}, "CONCORD_SSO"),
        ({"CONCORD_SSO_ACCOUNTS": "all"}, "CONCORD_SSO_ACCOUNTS"),
    ],
)
def test_error_names_the_wrong_setting(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], named: str
) -> None:
    set_variables(monkeypatch, **changed)
    with pytest.raises(ImproperlyConfigured, match=f"^{named} "):
        one_of("CONCORD_SSO_ACCOUNTS", "invited", "anyone"), single_sign_on()
