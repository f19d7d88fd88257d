"""What the log says of requests and of security, and what it never says."""

import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from annotate.api.tokens import make_token, revoke_token
from annotate.core.audit import record
from annotate.core.models import Role
from annotate.people.commands import change_role
from concord import environment
from concord.request_log import JsonFormatter, LineFormatter, hide_secrets
from tests.factories import PASSWORD, make_project, make_user


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return what is logged from now on, as JSON."""
    found: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(self.format(record)))

    handler = Kept()
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [handler])
    monkeypatch.setattr(root, "level", logging.INFO)
    return found


def sign_in(client: Client, email: str, password: str) -> Any:
    return client.post("/accounts/login/", {"login": email, "password": password})


@pytest.mark.django_db
def test_sign_ins_and_rejections_are_logged_with_request_and_ip(
    client: Client, lines: list[dict[str, Any]]
) -> None:
    user = make_user()
    refused = sign_in(client, user.email, "my secret typo")
    answer = sign_in(client, user.email, PASSWORD)
    client.post("/accounts/logout/")
    events = [line for line in lines if line["logger"] == "concord.security"]
    assert [line["event"] for line in events] == ["sign_in.refused", "sign_in", "sign_out"]
    assert [line["account"] for line in events] == [user.pk] * 3
    assert [line["request"] for line in events[:2]] == [refused["X-Request-ID"], answer["X-Request-ID"]]
    assert (events[0]["level"], events[0]["address"]) == ("WARNING", "127.0.0.1")
    text = json.dumps(lines)
    assert not [word for word in ("my secret typo", PASSWORD, user.email) if word in text]


@pytest.mark.django_db
def test_token_and_role_events_are_logged_without_secrets(
    client: Client, lines: list[dict[str, Any]]
) -> None:
    cast = make_project()
    lines.clear()
    token, secret = make_token(user=cast.admin, name="mine", scopes=["read"], lasts=timedelta(days=1))
    client.get("/api/v1/projects/", headers={"Authorization": f"Bearer {secret}x"})
    revoke_token(token=token)
    change_role(
        membership=cast.annotators[0], role=Role.RESEARCHER
    )  # nobody is signed in: the audit log has it
    record(cast.project, "place.changed", cast.annotators[1], by=cast.admin)
    events = [line["event"] for line in lines if line["logger"] == "concord.security"]
    assert events == ["token.made", "token.refused", "token.revoked", "place.changed"]
    assert (lines[-1]["account"], lines[-1]["subject"]) == (cast.admin.pk, cast.annotators[1].pk)
    assert secret[8:] not in json.dumps(lines)


@pytest.mark.django_db
def test_proxy_request_id_is_logged_only_behind_a_proxy(client: Client, settings: Any) -> None:
    given = {"X-Request-ID": "from-the-proxy-1"}
    assert client.get("/accounts/login/", headers=given)["X-Request-ID"] != "from-the-proxy-1"
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    assert client.get("/accounts/login/", headers=given)["X-Request-ID"] == "from-the-proxy-1"
    hostile = {"X-Request-ID": "not an identifier\tat all"}
    assert "\t" not in client.get("/accounts/login/", headers=hostile)["X-Request-ID"]


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (
            "Not Found: /accounts/password/reset/key/3-abc-def/",
            "Not Found: /accounts/password/reset/key/…/",
        ),
        ("GET /invitations/eyJwayI6MX0:1abc:xyz/ 500", "GET /invitations/…/ 500"),
        ("/first-account/abc-def/", "/first-account/…/"),
        ("Not Found: /join/abc-def/", "Not Found: /join/…/"),
        ("the token concord_abcdefghijk was used", "the token concord_… was used"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer …"),
        ("postgres://concord:hunter2@db:5432/concord", "postgres://concord…@db:5432/concord"),
        ("Internal Server Error: /projects/one/rate/", "Internal Server Error: /projects/one/rate/"),
    ],
)
def test_secrets_are_cut_from_every_line(said: str, written: str) -> None:
    assert hide_secrets(said) == written
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, said, None, None)
    assert LineFormatter().format(record).endswith(f"ERROR django.request: {written}")
    assert json.loads(JsonFormatter().format(record))["message"] == written


def test_errors_keep_their_cause_without_its_secrets() -> None:
    try:
        raise ValueError("postgres://concord:hunter2@db/concord")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("one", logging.ERROR, "", 0, "It failed", None, info)
    written = json.loads(JsonFormatter().format(record))["error"]
    assert "Traceback" in written
    assert "hunter2" not in written.splitlines()[-1]


def test_mails_do_not_go_to_the_log_where_others_reach_concord(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONCORD_EMAIL_URL", raising=False)
    with pytest.raises(ImproperlyConfigured, match="CONCORD_EMAIL_URL names no mail server"):
        environment.email("CONCORD_EMAIL_URL", "console://", https=True)
    assert environment.email("CONCORD_EMAIL_URL", "console://", https=False)
    monkeypatch.setenv("CONCORD_MAIL_IN_LOG", "1")
    found = environment.email("CONCORD_EMAIL_URL", "console://", https=True)
    assert found["EMAIL_BACKEND"].endswith("console.EmailBackend")


@pytest.mark.django_db
def test_each_request_has_a_line_of_json_by_its_route(
    client: Client, settings: Any, lines: list[dict[str, Any]]
) -> None:
    settings.LOG_FORMAT = "json"
    cast = make_project()
    client.force_login(cast.admin)
    lines.clear()
    answer = client.get(f"/projects/{cast.project.slug}/")
    client.get("/invitations/a-token-that-lets-somebody-in/")
    first, second = (line for line in lines if line["logger"] == "concord.request")
    assert (first["route"], first["status"]) == ("projects/<slug:slug>/", answer.status_code)
    assert (first["person"], first["request"]) == (cast.admin.pk, answer["X-Request-ID"])
    assert second["route"] == "invitations/<str:token>/"
    assert "lets-somebody-in" not in json.dumps(lines)
