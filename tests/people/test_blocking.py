"""An operator keeps a person out, at once and everywhere, and lets them in again."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate.api.tokens import make_token, tokens_of, usable_token
from annotate.core.errors import InvalidValueError
from annotate.core.models import AuditEntry, Membership, Rating, Role, User
from annotate.people.commands import invite
from annotate.people.installation import block_person, is_erased, unblock_person
from annotate.people.invitations import invitation_token
from tests.factories import PASSWORD, Cast, make_project, make_user
from tests.people.mails import sent_mails
from tests.people.test_sessions import is_signed_in, sign_in
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater(cast: Cast) -> User:
    user = cast.annotators[0].user
    assert user
    return user


@pytest.fixture
def operator() -> User:
    return User.objects.create_user("operator@example.org", PASSWORD, is_staff=True)


@pytest.fixture
def page(operator: User) -> Client:
    client = sign_in(operator)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def block(page: Client, user: User, **fields: str) -> str:
    response = page.post(f"/installation/people/{user.pk}/", {"change": "block", **fields}, follow=True)
    return response.content.decode()


def test_a_blocked_person_is_out_everywhere_at_once(page: Client, cast: Cast, rater: User) -> None:
    opened(cast)
    there = sign_in(rater)
    _, secret = make_token(user=rater, name="n", scopes=["rate"], lasts=timedelta(days=1))
    assert "is blocked" in block(page, rater)
    assert not is_signed_in(there)
    assert usable_token(secret) is None
    entered = {"login": rater.email, "password": PASSWORD}
    answer = Client().post("/accounts/login/", entered, follow=True).content.decode()
    assert "Your account is blocked" in answer


def test_ratings_and_memberships_stay(page: Client, cast: Cast, rater: User) -> None:
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], 4)
    block(page, rater)
    assert Rating.objects.get().value == 4
    assert Membership.objects.get(user=rater).active


def test_links_that_a_blocked_admin_made_lead_nowhere(page: Client, cast: Cast) -> None:
    mine = invite(project=cast.project, by=cast.admin, role=Role.ADMIN)
    other = invite(project=cast.project, by=cast.researcher, role=Role.ANNOTATOR)
    assert Client().get(f"/invitations/{invitation_token(mine)}/").status_code == 200
    for _ in range(2):
        block(page, cast.admin)
    assert "was withdrawn" in Client().get(f"/invitations/{invitation_token(mine)}/").content.decode()
    assert Client().get(f"/invitations/{invitation_token(other)}/").status_code == 200
    entry = AuditEntry.objects.get(act="invitation.withdrawn")
    assert (entry.project, entry.actor_email) == (cast.project, "operator@example.org")


def test_who_is_let_in_again_signs_in_and_makes_new_tokens(page: Client, rater: User) -> None:
    make_token(user=rater, name="n", scopes=["rate"], lasts=timedelta(days=1))
    block(page, rater)
    said = page.post(f"/installation/people/{rater.pk}/", {"change": "unblock"}, follow=True).content.decode()
    assert "can sign in again" in said
    assert is_signed_in(sign_in(rater))
    assert tokens_of(rater) == []


def test_each_project_gets_one_notice_with_actor_and_reason(page: Client, cast: Cast, rater: User) -> None:
    other = make_project()
    Membership.objects.create(project=other.project, user=rater, role="researcher", label="R")
    for _ in range(2):
        block(page, rater, note="Lost laptop.")
    unblock_person(user=rater)
    acts = AuditEntry.objects.filter(act__startswith="person.").order_by("pk")
    told = [(each.project, each.act, each.actor_email, each.note) for each in acts]
    blocked = ("person.blocked", "operator@example.org", "Lost laptop.")
    unblocked = ("person.unblocked", "", "")
    assert told == [
        (cast.project, *blocked),
        (other.project, *blocked),
        (cast.project, *unblocked),
        (other.project, *unblocked),
    ]
    assert acts[0].after == {"email": rater.email, "tokens": 0, "sessions": 0}


def test_operators_cannot_block_themselves(page: Client, operator: User) -> None:
    assert "You cannot block yourself" in block(page, operator)
    with pytest.raises(InvalidValueError):
        block_person(user=operator, by=operator)
    assert is_signed_in(page)


def test_stale_session_cannot_block_people(operator: User, rater: User) -> None:
    asked = sign_in(operator).post(f"/installation/people/{rater.pk}/", {"change": "block"})
    assert asked["Location"].startswith("/accounts/reauthenticate/")
    assert User.objects.get(pk=rater.pk).is_active


def test_project_admins_cannot_block_people(cast: Cast, rater: User) -> None:
    client = sign_in(cast.admin)
    assert client.post(f"/installation/people/{rater.pk}/", {"change": "block"}).status_code == 404
    assert User.objects.get(pk=rater.pk).is_active


def test_people_are_searchable_by_name_and_email(page: Client) -> None:
    make_user("ann@example.org", name="Ann Ota")
    make_user("bo@example.net", name="Bo Lind")
    for word in ("ota", "ANN@"):
        found = page.get("/installation/people/", {"q": word}).content.decode()
        assert ("Ann Ota" in found, "Bo Lind" in found) == (True, False)
    assert "No account has this" in page.get("/installation/people/", {"q": "zz"}).content.decode()


def test_nul_in_a_search_is_dropped(page: Client) -> None:
    make_user("ann@example.org", name="Ann Ota")
    assert "Ann Ota" in page.get("/installation/people/", {"q": "o\x00ta"}).content.decode()


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("block", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_does_the_same(cast: Cast, rater: User) -> None:
    there = sign_in(rater)
    expected = {
        "email": rater.email,
        "name": rater.name,
        "blocked": True,
        "sessions": 0,
        "tokens": 0,
        "projects": [cast.project.slug],
    }
    assert json.loads(run(rater.email, "--json")) == [expected]
    assert not is_signed_in(there)
    assert json.loads(run(rater.email, "--undo", "--json")) == [{**expected, "blocked": False}]
    assert is_signed_in(sign_in(rater))
    assert "yes" in run(rater.email.upper())


def test_the_command_says_who_is_not_there() -> None:
    with pytest.raises(CommandError, match="Nobody has an account"):
        run("nobody@example.org")


def test_earlier_password_link_does_not_admit_a_blocked_person(rater: User) -> None:
    client = Client()
    client.post("/accounts/password/reset/", {"email": rater.email})
    link = str(sent_mails()[0].body).partition("http://testserver")[2].split()[0]
    block_person(user=rater)
    form = client.get(link)["Location"]
    new = {"password1": "another fine pass", "password2": "another fine pass"}
    answer = client.post(form, new, follow=True)
    assert "Your account is blocked" in answer.content.decode()
    assert not is_signed_in(client)
    client.post("/accounts/password/reset/", {"email": rater.email})
    assert "There is no such account." in str(sent_mails()[-1].body)


def test_operator_erases_a_person_on_a_page_by_email(page: Client, cast: Cast, rater: User) -> None:
    address = f"/installation/people/{rater.pk}/"
    refused = page.post(f"{address}erase/", {"email": "somebody@example.org"})
    assert refused.status_code == 422
    assert "The e-mail does not match; no data was erased." in refused.content.decode()
    rater.refresh_from_db()
    assert not is_erased(rater)
    said = page.post(f"{address}erase/", {"email": rater.email.upper(), "note": "They asked."}, follow=True)
    assert "This person is erased" in said.content.decode()
    assert "Erase for good" not in said.content.decode()
    rater.refresh_from_db()
    assert is_erased(rater)
    entry = AuditEntry.objects.filter(project=cast.project, act="person.erased").get()
    assert entry.note == "They asked."


def test_the_only_admin_of_a_project_is_not_erased(page: Client, cast: Cast) -> None:
    assert cast.admin
    said = page.post(f"/installation/people/{cast.admin.pk}/erase/", {"email": cast.admin.email}, follow=True)
    assert "This is the only admin of" in said.content.decode()
    cast.admin.refresh_from_db()
    assert not is_erased(cast.admin)
