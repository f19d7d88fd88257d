"""A changed password, second factor or address ends other sessions, is logged, and is mailed to its owner."""

import logging
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client, override_settings

from annotate.api.tokens import make_token, usable_token
from annotate.core.models import AccountMail, Role, User
from annotate.people.commands import first_account_token, invite, save_preferences
from annotate.people.invitations import change_token, invitation_token
from annotate.people.second_factor import remove_second_factor
from tests.factories import PASSWORD, make_project, make_user
from tests.people.mails import sent_mails
from tests.people.test_second_factor import set_up, with_password
from tests.people.test_sessions import is_signed_in, sign_in

pytestmark = pytest.mark.django_db

NEW = {"password1": "another fine pass", "password2": "another fine pass"}
Act = Callable[[Client, User], object]


def change_password(client: Client, _user: User) -> None:
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **NEW})


def add_factor(client: Client, _user: User) -> None:
    set_up(client)


def remove_factor(client: Client, _user: User) -> None:
    with_password(client).post("/accounts/2fa/totp/deactivate/")


def remove_passkey(client: Client, user: User) -> None:
    key = Authenticator.objects.get(user=user, type="webauthn").pk
    with_password(client).post(f"/accounts/2fa/webauthn/keys/{key}/remove/")


def make_codes(client: Client, _user: User) -> None:
    with_password(client).post("/accounts/2fa/recovery-codes/generate/")


def change_address(client: Client, user: User) -> None:
    client.post(f"/account/address/{change_token(user, 'new@example.org')}/")


CHANGES: list[tuple[Act, str, str]] = [
    (change_password, "password.changed", "Your password was changed"),
    (add_factor, "second_factor.added", "A second factor was added"),
    (remove_factor, "second_factor.removed", "A second factor was removed"),
    (remove_passkey, "second_factor.removed", "A second factor was removed"),
    (make_codes, "recovery_codes.made", "You have new recovery codes"),
    (change_address, "address.changed", "Your e-mail was changed"),
]


def prepared(user: User, act: Act) -> Client:
    """Sign in, with the factor that the act needs."""
    client = sign_in(user)
    if act in (remove_factor, make_codes):
        set_up(client)
    if act is remove_passkey:
        Authenticator.objects.create(user=user, type="webauthn", data={"name": "phone"})
    sent_mails()
    return client


def another_session(user: User) -> Client:
    """Sign in elsewhere without the second factor."""
    client = Client()
    client.force_login(user)
    UserSession.objects.create(user=user, session_key=client.session.session_key, ip="192.0.2.1")
    assert is_signed_in(client)
    return client


@pytest.mark.parametrize(("act", "event", "subject"), CHANGES)
def test_a_change_is_mailed_and_logged_and_ends_sessions(
    act: Act, event: str, subject: str, caplog: pytest.LogCaptureFixture
) -> None:
    user = make_user()
    here, before = prepared(user, act), len(sent_mails())
    there = another_session(user)
    _, token = make_token(user=user, name="n", scopes=["read"], lasts=timedelta(days=1))
    with caplog.at_level(logging.INFO, logger="concord.security"):
        act(here, user)
    assert caplog.messages.count(f"{event} account={user.pk}") == 1
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)
    assert usable_token(token) is not None
    told = [(mail.to[0], mail.subject) for mail in sent_mails()[before:]]
    receivers = ["new@example.org", user.email] if act is change_address else [user.email]
    assert told == [(each, f"Concord: {subject}") for each in receivers]
    assert not AccountMail.objects.exists()


def test_password_change_by_a_mailed_link_is_notified_too() -> None:
    user = make_user()
    there, client = another_session(user), Client()
    client.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"http://testserver(\S+)", str(sent_mails()[0].body))
    assert link
    client.post(client.get(link[1])["Location"], NEW)
    assert (is_signed_in(client), is_signed_in(there)) == (True, False)
    assert sent_mails()[-1].subject == "Concord: Your password was changed"
    assert "If it was not you" in str(sent_mails()[-1].body)


def test_an_operator_who_removes_a_factor_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    user, operator = make_user(), make_user()
    there = prepared(user, make_codes)
    before = len(sent_mails())
    with caplog.at_level(logging.INFO, logger="concord.security"):
        remove_second_factor(user=user, by=operator)
    assert f"second_factor.removed account={user.pk} by={operator.pk}" in caplog.messages
    assert not is_signed_in(there)
    [message] = sent_mails()[before:]
    assert (message.to, message.subject) == ([user.email], "Concord: A second factor was removed")


def test_a_mail_about_a_change_is_in_the_language_of_its_owner() -> None:
    user = make_user()
    save_preferences(user=user, language="de")
    change_address(sign_in(user), user)
    assert sent_mails()[-1].subject == "Concord: Ihre Adresse wurde geändert"


@override_settings(EMAIL_BACKEND="django.core.mail.backends.console.EmailBackend")
def test_without_a_mail_server_no_change_is_mailed() -> None:
    user = make_user()
    change_password(sign_in(user), user)
    assert not AccountMail.objects.exists()


# What a password may be, wherever one is chosen.


def sign_up(password: str) -> Any:
    cast = make_project()
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="zaphod@example.org")
    client = Client()
    client.get(f"/invitations/{invitation_token(offer)}/")
    entered = {"name": "Trillian Quux", "email": "zaphod@example.org"}
    client.post("/accounts/signup/", {**entered, "password1": password, "password2": password})
    return User.objects.filter(email="zaphod@example.org").first()


def make_first_account(password: str) -> Any:
    entered = {"name": "Trillian Quux", "email": "zaphod@example.org"}
    address = f"/first-account/{first_account_token()}/"
    Client().post(address, {**entered, "password1": password, "password2": password})
    return User.objects.filter(email="zaphod@example.org").first()


def change(password: str) -> Any:
    user = make_user("zaphod@example.org", name="Trillian Quux")
    entered = {"oldpassword": PASSWORD, "password1": password, "password2": password}
    sign_in(user).post("/accounts/password/change/", entered)
    return User.objects.get(pk=user.pk)


def reset(password: str) -> Any:
    user = make_user("zaphod@example.org", name="Trillian Quux")
    client = Client()
    client.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"http://testserver(\S+)", str(sent_mails()[0].body))
    assert link
    client.post(client.get(link[1])["Location"], {"password1": password, "password2": password})
    return User.objects.get(pk=user.pk)


CHOOSING = [sign_up, make_first_account, change, reset]


@pytest.mark.parametrize("choose", CHOOSING)
@pytest.mark.parametrize("password", ["Trillian Quux", "trillianquux1", "zaphod@example.org", "zaphod01"])
def test_own_name_and_email_are_no_password(choose: Callable[[str], Any], password: str) -> None:
    user = choose(password)
    assert user is None or user.check_password(PASSWORD)


@pytest.mark.parametrize("choose", CHOOSING)
@pytest.mark.parametrize("password", ["8350917264", "another fine pass"])
def test_a_long_password_of_digits_is_one(choose: Callable[[str], Any], password: str) -> None:
    assert choose(password).check_password(password)
