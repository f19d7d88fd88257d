"""Tokens are shown once, kept as digests, and good for their scopes until they end or are revoked."""

import json
import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from annotate.api.documentation import schema
from annotate.api.tokens import make_token, revoke_token
from annotate.core.errors import InvalidValueError
from annotate.core.models import ApiToken, Export
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from tests.api.client import ApiClient
from tests.factories import PASSWORD, make_project, make_user

pytestmark = pytest.mark.django_db


FORM = {"name": "notebook", "scopes": ["read"], "days": "30"}


def give_password(client, password=PASSWORD):
    return client.post("/accounts/reauthenticate/?next=/account/tokens/", {"password": password})


def test_open_browser_session_cannot_create_a_token(client):
    client.force_login(make_user())
    asked = client.post("/account/tokens/", FORM)
    assert asked["Location"] == "/accounts/reauthenticate/?next=%2Faccount%2Ftokens%2F"
    assert 'type="password"' in client.get(asked["Location"]).content.decode()
    give_password(client, "a guess")
    client.post("/account/tokens/", FORM)
    assert not ApiToken.objects.exists()
    assert client.get("/account/tokens/").status_code == 200


def test_submitted_form_is_processed_after_the_correct_password(client):
    client.force_login(make_user())
    client.post("/account/tokens/", FORM)
    assert give_password(client).context["secret"].startswith(ApiToken.objects.get().beginning)


def test_confirmed_password_counts_for_some_minutes(client, settings):
    client.force_login(make_user())
    give_password(client)
    client.post("/account/tokens/", FORM)
    assert ApiToken.objects.count() == 1
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    assert client.post("/account/tokens/", FORM)["Location"].startswith("/accounts/reauthenticate/")
    assert ApiToken.objects.count() == 1


def test_token_appears_once_and_is_stored_as_a_digest(client):
    user = make_user()
    client.force_login(user)
    give_password(client)
    page = client.post("/account/tokens/", FORM)
    token = ApiToken.objects.get()
    secret = page.context["secret"]
    assert secret.startswith(token.beginning)
    assert secret in page.content.decode()
    assert secret not in client.get("/account/tokens/").content.decode()
    assert secret not in json.dumps(ApiToken.objects.values()[0], default=str)
    assert token.expires_at - token.created_at == timedelta(days=30)


def test_a_token_without_a_scope_is_not_made(client):
    client.force_login(make_user())
    give_password(client)
    page = client.post("/account/tokens/", {"name": "notebook", "days": "30"})
    assert page.status_code == 422
    assert not ApiToken.objects.exists()


def test_token_lasts_no_longer_than_a_year():
    with pytest.raises(InvalidValueError):
        make_token(user=make_user(), name="for ever", scopes=["read"], lasts=timedelta(days=4000))


def test_revoking_ends_a_token_at_once(client):
    user = make_user()
    program = ApiClient(user, "read")
    assert program.get("me/").json()["email"] == user.email
    client.force_login(user)
    client.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/")
    refused = program.get("me/")
    assert (refused.status_code, refused.json()["code"]) == (401, "token_unusable")


def test_expired_token_and_token_of_a_closed_account_are_rejected():
    user = make_user()
    program = ApiClient(user)
    past = timezone.now() - timedelta(days=2)
    ApiToken.objects.update(created_at=past, expires_at=past + timedelta(days=1))
    assert program.get("me/").status_code == 401
    other = ApiClient(user)
    user.is_active = False
    user.save(update_fields=["is_active"])
    assert other.get("me/").status_code == 401


def test_user_cannot_revoke_the_token_of_another(client):
    token, _ = make_token(user=make_user(), name="t", scopes=["read"], lasts=timedelta(days=1))
    client.force_login(make_user())
    assert client.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    token.refresh_from_db()
    assert token.is_usable


def test_a_token_does_only_what_its_scopes_say():
    cast = make_project()
    refused = ApiClient(cast.admin, "read").patch(f"projects/{cast.project.slug}/", {"name": "Other"})
    assert refused.status_code == 403
    assert "scope write" in refused.json()["message"]
    assert ApiClient(cast.admin, "write").get(f"projects/{cast.project.slug}/").status_code == 403


def operations(*methods):
    """Yield each operation of these methods with an address, whose parameters are 1."""
    for path, described in schema()["paths"].items():
        address = re.sub(r"{\w+}", "1", path.removeprefix("/api/v1/"))
        yield from ((method, address) for method in described if method in methods)


def lacks_scope(program, method, address):
    answer = program.send(method.upper(), address, None if method == "get" else {})
    return answer.status_code == 403 and "lacks the scope" in answer.json()["message"]


def test_a_token_that_reads_changes_nothing():
    program = ApiClient(make_user(), "read")
    writing = list(operations("post", "put", "patch", "delete"))
    assert ("post", "projects/1/exports/") in writing
    assert ("delete", "projects/1/exports/1/") in writing
    needs_no_token = (
        "post",
        "benchmarks/1/submissions/",
    )  # anybody submits, and changes nothing of a project
    assert [each for each in writing if not lacks_scope(program, *each)] == [needs_no_token]


@pytest.mark.parametrize(
    ("scope", "also"), [("write", []), ("rate", ["disputes/", "disputes/1/", "work/", "work/1/"])]
)
def test_token_without_read_scope_sees_no_project(scope, also):
    program = ApiClient(make_user(), scope)
    shown = [address for method, address in operations("get") if not lacks_scope(program, method, address)]
    assert shown == ["me/", *(f"projects/1/{each}" for each in also)]


def test_a_read_token_neither_starts_nor_deletes_an_export():
    cast = make_project()
    address = f"projects/{cast.project.slug}/exports/"
    export = start_export(
        project=cast.project, choice=ExportChoice(Format.CSV, frozenset(), ""), by=cast.researcher
    )
    program = ApiClient(cast.researcher, "read")
    assert program.post(address, {"format": "jsonl"}).status_code == 403
    assert program.send("DELETE", f"{address}{export.pk}/").status_code == 403
    assert list(Export.objects.all()) == [export]


def test_a_session_is_no_token(client):
    cast = make_project()
    client.force_login(cast.admin)
    refused = client.get("/api/v1/me/")
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")


def test_use_is_noted_once_an_hour(django_assert_num_queries):
    program = ApiClient(make_user())
    program.get("me/")
    assert ApiToken.objects.get().used_at is not None
    with django_assert_num_queries(1):
        program.get("me/")


def test_the_command_makes_lists_and_revokes(capsys):
    user = make_user()
    call_command("token", "make", user.email, "--scope", "read", "--scope", "write", "--json")
    (made,) = json.loads(capsys.readouterr().out)
    assert made["scopes"] == "read,write"
    program = ApiClient(None)
    program.secret = made["token"]
    assert program.get("me/").status_code == 200
    call_command("token", "list", user.email, "--json")
    (listed,) = json.loads(capsys.readouterr().out)
    assert "token" not in listed
    call_command("token", "revoke", user.email, str(listed["number"]))
    assert program.get("me/").status_code == 401
    with pytest.raises(CommandError, match="Nobody has an account"):
        call_command("token", "list", "nobody@example.org")


def test_revoking_twice_keeps_when_it_was():
    token, _ = make_token(user=make_user(), name="t", scopes=["read"], lasts=timedelta(days=1))
    revoke_token(token=token)
    token.refresh_from_db()
    first = token.revoked_at
    revoke_token(token=token)
    token.refresh_from_db()
    assert token.revoked_at == first is not None
