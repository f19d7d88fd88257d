"""An address counts when it is proven, and what was done stands under the name of its time."""

import re
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client, override_settings
from django.utils import timezone

from annotate.core.models import AuditEntry, FormerName, Invitation, Role, User
from annotate.people.commands import invite
from annotate.people.invitations import change_token, invitation_token
from annotate.watching.queries.audit import AuditFilter, audit_page, audit_rows
from tests.factories import PASSWORD, Cast, make_project
from tests.people.mails import sent_mails
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db

PROFESSOR = "professor@example.org"
NEW = {"name": "Ann Ota", "password1": "a long enough pass", "password2": "a long enough pass"}
NO_MAIL = override_settings(EMAIL_BACKEND="django.core.mail.backends.console.EmailBackend")


@pytest.fixture
def cast() -> Cast:
    return make_project(annotators=2)


@pytest.fixture
def annotator(cast: Cast) -> User:
    user = cast.annotators[0].user
    assert user
    return user


def signed_in(user: User) -> Client:
    """A browser in which the password was given again just now."""
    client = Client()
    client.force_login(user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def mailed_link(to: str) -> str:
    [message] = [each for each in sent_mails() if each.to == [to]]
    found = re.search(r"http://testserver(\S+)", str(message.body))
    assert found
    return found[1]


def address_of(user: User) -> str:
    return User.objects.get(pk=user.pk).email


def test_email_change_requires_access_to_its_mailbox(annotator: User) -> None:
    client, before = signed_in(annotator), annotator.email
    answer = client.post("/account/address/", {"email": PROFESSOR})
    assert PROFESSOR in answer.content.decode()
    assert address_of(annotator) == before
    for action in ("action_add", "action_primary", "action_send", "action_remove"):
        client.post("/accounts/email/", {"email": PROFESSOR, action: ""}, follow=True)
    assert address_of(annotator) == before
    assert not Client().login(email=PROFESSOR, password=PASSWORD)
    forged = change_token(annotator, PROFESSOR)[:-1] + "!"
    assert client.post(f"/account/address/{forged}/").status_code == 410
    assert address_of(annotator) == before


def test_mailbox_owner_cannot_be_tricked_into_confirming(cast: Cast, annotator: User) -> None:
    signed_in(annotator).post("/account/address/", {"email": PROFESSOR})
    link = mailed_link(PROFESSOR)
    assert Client().post(link)["Location"].startswith("/accounts/login/")
    assert signed_in(cast.outsider).post(link).status_code == 410
    assert address_of(annotator) == annotator.email


def test_email_changes_on_link_confirmation_and_once(annotator: User) -> None:
    client, before = signed_in(annotator), annotator.email
    client.post("/account/address/", {"email": "New@Example.org"})
    link = mailed_link("new@example.org")
    assert "new@example.org" in client.get(link).content.decode()
    assert address_of(annotator) == before
    assert client.post(link)["Location"] == "/account/address/"
    assert address_of(annotator) == "new@example.org"
    assert "new@example.org" in str(sent_mails()[-1].body)
    assert sent_mails()[-1].to == [before]
    assert client.post(link).status_code == 410
    for email, is_let_in in ((before, False), ("new@example.org", True)):
        Client().post("/accounts/login/", {"login": email, "password": PASSWORD})
        answer = Client().post("/accounts/login/", {"login": email, "password": PASSWORD})
        assert (answer.status_code == 302) is is_let_in


def test_email_of_another_account_stays_theirs(cast: Cast, annotator: User) -> None:
    client = signed_in(annotator)
    answer = client.post("/account/address/", {"email": cast.admin.email})
    assert "If mail can reach" in answer.content.decode()
    assert client.post(mailed_link(cast.admin.email)).status_code == 422
    assert address_of(annotator) == annotator.email


def test_second_user_to_confirm_an_email_gets_a_message(cast: Cast, annotator: User) -> None:
    """The other account takes it just before this one writes; one connection plays both."""
    client = signed_in(annotator)
    taken: list[int] = []

    def other_account_first(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('UPDATE "annotate_user"') and not taken:
            taken.append(cast.researcher.pk)
            User.objects.filter(pk=cast.researcher.pk).update(email=PROFESSOR)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(other_account_first):
        answer = client.post(f"/account/address/{change_token(annotator, PROFESSOR)}/")
    assert (len(taken), answer.status_code) == (1, 422)
    assert "Another account uses this e-mail." in answer.content.decode()
    assert address_of(annotator) == annotator.email
    assert not FormerName.objects.exists()


def test_log_keeps_former_actor_names(cast: Cast, annotator: User) -> None:
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    before, admin_before = annotator.email, cast.admin.email
    for user, email in ((annotator, PROFESSOR), (cast.admin, "dean@example.org")):
        client = signed_in(user)
        client.post(f"/account/address/{change_token(user, email)}/")
        User.objects.filter(pk=user.pk).update(name="Prof. Important")
    rate(cast, round, cast.annotators[0], cast.items[1], 3)

    told = [row for row in audit_rows(cast.project, AuditFilter()) if row["act"] == "rating.rated"]
    assert [row["email"] for row in told] == [before, PROFESSOR]
    assert told[0]["who"] == annotator.name
    acts = {row.act: row for row in audit_page(cast.project, AuditFilter()).rows}
    assert (acts["round.opened"].who, acts["round.opened"].email) == (cast.admin.name, admin_before)
    changed = AuditEntry.objects.filter(act="person.address_changed").order_by("pk")[0]
    assert (changed.actor_email, changed.before, changed.after) == (
        before,
        {"email": before},
        {"email": PROFESSOR},
    )
    page = signed_in(cast.admin).get(f"/projects/{cast.project.slug}/audit/").content.decode()
    assert admin_before in page
    assert before in page


def test_entry_names_its_actor_or_has_none(cast: Cast) -> None:
    for wrong in ({"actor": cast.admin}, {"actor_email": PROFESSOR}):
        with pytest.raises(IntegrityError, match="actors_are_named"), transaction.atomic():
            AuditEntry.objects.create(project=cast.project, at=timezone.now(), act="a.b", **wrong)
    assert not FormerName.objects.exists()


@pytest.fixture
def open_offer(cast: Cast) -> Invitation:
    return invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR)


def opened_link(offer: Invitation) -> Client:
    client = Client()
    client.get(f"/invitations/{invitation_token(offer)}/")
    return client


def sign_up(client: Client, email: str) -> Any:
    return client.post("/accounts/signup/", {**NEW, "email": email})


def test_account_creation_requires_a_proven_email(open_offer: Invitation) -> None:
    client = opened_link(open_offer)
    sign_up(client, PROFESSOR)
    assert not User.objects.filter(email=PROFESSOR).exists()
    elsewhere = Client()
    assert PROFESSOR in elsewhere.get(mailed_link(PROFESSOR), follow=True).content.decode()
    sign_up(elsewhere, "another@example.org")
    assert not User.objects.filter(email="another@example.org").exists()
    assert sign_up(elsewhere, PROFESSOR)["Location"] == f"/projects/{open_offer.project.slug}/"
    assert User.objects.get(email=PROFESSOR).memberships.get().project == open_offer.project


def test_invitation_proves_its_own_email_and_no_other(cast: Cast) -> None:
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="Ann@example.org")
    client = opened_link(offer)
    assert "This invitation is for ann@example.org" in sign_up(client, PROFESSOR).content.decode()
    assert not User.objects.filter(email=PROFESSOR).exists()
    sign_up(client, "ann@example.org")
    assert User.objects.filter(email="ann@example.org").exists()


def test_link_proves_an_email_for_its_own_invitation_only(cast: Cast, open_offer: Invitation) -> None:
    sign_up(opened_link(open_offer), "ann@example.org")
    client = Client()
    client.get(mailed_link("ann@example.org"))
    other = invite(project=cast.project, by=cast.admin, role=Role.ADMIN, email="bob@example.org")
    client.get(f"/invitations/{invitation_token(other)}/")
    assert "This invitation is for bob@example.org" in sign_up(client, "ann@example.org").content.decode()


def test_mailbox_gets_no_more_than_three_links(open_offer: Invitation) -> None:
    client = opened_link(open_offer)
    pages = {without_token(sign_up(client, PROFESSOR).content.decode()) for _ in range(5)}
    assert len(pages) == 1
    assert len(sent_mails()) == 3


def without_token(page: str) -> str:
    return re.sub(r'"X-CSRFToken": "\w+"', "", page)


@NO_MAIL
def test_without_a_mail_server_invitations_still_make_accounts(
    annotator: User, open_offer: Invitation
) -> None:
    assert sign_up(opened_link(open_offer), "ann@example.org").status_code == 302
    page = signed_in(annotator).post("/account/address/", {"email": PROFESSOR}).content.decode()
    assert "no mail server is configured" in page
    assert address_of(annotator) == annotator.email


def test_email_request_uses_up_no_password_links(cast: Cast, annotator: User) -> None:
    victim, client = cast.researcher.email, signed_in(annotator)
    for _ in range(4):
        client.post("/account/address/", {"email": victim})
    assert len(sent_mails()) == 3
    Client().post("/accounts/password/reset/", {"email": victim})
    assert "/accounts/password/reset/key/" in str(sent_mails()[3].body)
