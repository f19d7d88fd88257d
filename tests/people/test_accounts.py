"""Accounts: made by invitation, signed in and out, passwords forgotten."""

import re

import pytest
from django.test import Client

from annotate.core.models import Invitation, Membership, Role, User
from annotate.people.commands import deactivate_member, invite, withdraw_invitation
from annotate.people.invitations import invitation_token
from tests.factories import PASSWORD, Cast, make_project, make_user
from tests.people.mails import sent_mails

pytestmark = pytest.mark.django_db

NEW = {
    "name": "Ann Ota",
    "email": "ann@example.org",
    "password1": "a long enough pass",
    "password2": "a long enough pass",
}


@pytest.fixture
def cast() -> Cast:
    return make_project(annotators=2)


@pytest.fixture
def offer(cast: Cast) -> Invitation:
    return invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="ann@example.org")


def link(offer: Invitation) -> str:
    return f"/invitations/{invitation_token(offer)}/"


def test_a_visitor_with_a_link_makes_an_account_and_lands_in_the_project(
    client: Client, cast: Cast, offer: Invitation
) -> None:
    page = client.get(link(offer)).content.decode()
    assert cast.project.name in page
    found = re.search(r'href="(/accounts/signup/[^"]*)"', page)
    assert found
    form = client.get(found[1].replace("&amp;", "&")).content.decode()
    assert 'value="ann@example.org"' in form
    response = client.post("/accounts/signup/", NEW)
    assert response["Location"] == f"/projects/{cast.project.slug}/"
    membership = Membership.objects.get(user__email="ann@example.org")
    assert (membership.label, membership.alias, membership.role) == ("Ann Ota", "C", "annotator")


def test_sign_up_requires_an_invitation(client: Client) -> None:
    assert "You need an invitation" in client.get("/accounts/signup/").content.decode()
    client.post("/accounts/signup/", NEW)
    assert not User.objects.exists()


def test_a_used_invitation_in_the_session_opens_no_second_account(
    client: Client, cast: Cast, offer: Invitation
) -> None:
    client.get(link(offer))
    other = Client()
    other.get(link(offer))
    other.post("/accounts/signup/", NEW)
    client.post("/accounts/signup/", NEW | {"email": "second@example.org"})
    assert not User.objects.filter(email="second@example.org").exists()


def test_signing_up_needs_a_name_and_a_usable_password(client: Client, offer: Invitation) -> None:
    client.get(link(offer))
    page = client.post("/accounts/signup/", NEW | {"name": "", "password1": "1234", "password2": "1234"})
    assert page.content.decode().count('class="errorlist"') >= 2
    assert not User.objects.filter(email="ann@example.org").exists()


def test_a_person_with_an_account_signs_in_and_confirms(
    client: Client, cast: Cast, offer: Invitation
) -> None:
    page = client.get(link(offer)).content.decode()
    found = re.search(r'href="(/accounts/login/[^"]*)"', page)
    assert found
    login = client.get(found[1])
    assert 'name="next"' in login.content.decode()
    response = client.post(
        "/accounts/login/", {"login": cast.outsider.email, "password": PASSWORD, "next": link(offer)}
    )
    assert response["Location"] == link(offer)
    assert not Membership.objects.filter(user=cast.outsider).exists()
    assert "Join as" in client.get(link(offer)).content.decode()
    response = client.post(link(offer))
    assert response["Location"] == f"/projects/{cast.project.slug}/"
    assert Membership.objects.get(user=cast.outsider).alias == "C"


def test_own_link_after_a_closed_membership_explains_the_remedy(
    client: Client, cast: Cast, offer: Invitation
) -> None:
    client.force_login(cast.outsider)
    client.post(link(offer))
    assert client.post(link(offer))["Location"] == f"/projects/{cast.project.slug}/"
    deactivate_member(membership=Membership.objects.get(user=cast.outsider))
    response = client.post(link(offer))
    assert response.status_code == 410
    assert "Your membership as annotator in this project is closed." in response.content.decode()


def test_a_visitor_cannot_accept(client: Client, offer: Invitation) -> None:
    response = client.post(link(offer))
    assert "Make an account" in response.content.decode()
    offer.refresh_from_db()
    assert offer.accepted_at is None


def test_unusable_link_has_a_reason(client: Client, offer: Invitation) -> None:
    withdraw_invitation(invitation=offer)
    response = client.get(link(offer))
    assert response.status_code == 410
    assert "This invitation was withdrawn." in response.content.decode()
    client.post("/accounts/signup/", NEW)
    assert not User.objects.filter(email="ann@example.org").exists()


def test_forged_link_is_reported(client: Client, offer: Invitation) -> None:
    response = client.get(f"/invitations/{offer.pk}:forged/")
    assert response.status_code == 410
    assert "This link is incomplete" in response.content.decode()


def test_emails_differ_in_more_than_case(client: Client) -> None:
    User.objects.create_user("Ann@Example.org", PASSWORD)
    response = client.post("/accounts/login/", {"login": "ann@example.ORG", "password": PASSWORD})
    assert response["Location"] == "/"


def test_wrong_password_and_unknown_email_get_equal_messages(client: Client) -> None:
    user = make_user()
    known, unknown = (
        client.post("/accounts/login/", {"login": login, "password": "wrong"}).content.decode()
        for login in (user.email, "nobody@example.org")
    )
    reason = re.search(r'<ul class="errorlist[^>]*>.*?</ul>', known, re.S)
    assert reason
    assert reason[0] in unknown


def test_guessing_passwords_is_stopped(client: Client) -> None:
    user = make_user()
    for _ in range(5):
        client.post("/accounts/login/", {"login": user.email, "password": "wrong"})
    page = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert "Too many wrong passwords" in page.content.decode()


def test_a_forgotten_password_is_replaced_by_mail(client: Client) -> None:
    user = make_user()
    client.post("/accounts/password/reset/", {"email": user.email})
    assert sent_mails()[0].subject == "Concord: Choose a new password"
    found = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", str(sent_mails()[0].body))
    assert found
    form = client.get(found[1])
    page = client.post(form["Location"], {"password1": "another fine pass", "password2": "another fine pass"})
    assert page["Location"] == "/"
    user.refresh_from_db()
    assert user.check_password("another fine pass")
    assert "This link no longer works" in client.get(found[1], follow=True).content.decode()


def without_token(page: str) -> str:
    return re.sub(r'"X-CSRFToken": "\w+"', "", page)


def test_password_request_does_not_reveal_existing_accounts(client: Client) -> None:
    user = make_user()
    known, unknown = (
        client.post("/accounts/password/reset/", {"email": email}, follow=True)
        for email in (user.email, "nobody@example.org")
    )
    assert known.redirect_chain == unknown.redirect_chain
    assert without_token(known.content.decode()) == without_token(unknown.content.decode())
    assert sent_mails()[1].to == ["nobody@example.org"]
    assert "There is no such account." in str(sent_mails()[1].body)


@pytest.mark.parametrize(
    "path",
    [
        "login/",
        "signup/",
        "password/reset/",
        "password/reset/done/",
        "password/reset/key/done/",
        "password/reset/key/1-none/",
        "inactive/",
        "confirm-email/",
        "confirm-email/unknown/",
    ],
)
def test_pages_of_visitors_have_the_house_look(client: Client, path: str) -> None:
    page = client.get(f"/accounts/{path}").content.decode()
    assert "concord.css" in page
    assert page.count("<h1") == 1


@pytest.mark.parametrize("path", ["logout/", "password/change/", "reauthenticate/"])
def test_pages_of_people_who_are_signed_in_have_the_house_look(client: Client, path: str) -> None:
    client.force_login(make_user())
    page = client.get(f"/accounts/{path}").content.decode()
    assert "concord.css" in page
    assert page.count("<h1") == 1


def test_a_password_is_changed(client: Client) -> None:
    user = make_user()
    client.force_login(user)
    entered = {"oldpassword": PASSWORD, "password1": "another fine pass", "password2": "another fine pass"}
    client.post("/accounts/password/change/", entered)
    user.refresh_from_db()
    assert user.check_password("another fine pass")


def test_signing_out_ends_the_session(client: Client) -> None:
    client.force_login(make_user())
    response = client.post("/accounts/logout/", follow=True)
    assert "You are signed out." in response.content.decode()
    assert client.get("/").status_code == 302


def test_page_from_before_a_new_sign_in_reports_it_and_loses_nothing() -> None:
    client = Client(enforce_csrf_checks=True)
    cast = make_project()
    client.force_login(cast.admin)
    url = f"/projects/{cast.project.slug}/settings/"
    client.get(url)
    response = client.post(url, {"name": "Changed", "csrfmiddlewaretoken": "x" * 64})
    assert response.status_code == 403
    assert "Not saved: you signed in or out" in response.content.decode()
    cast.project.refresh_from_db()
    assert cast.project.name != "Changed"
