"""What is refused before anything starts."""

import pytest
from django.conf import settings

from annotate.core.outbound import read_host, read_permit
from concord.apps import (
    a_shared_database_has_a_shared_key,
    files_are_kept_for_all_hosts,
    listed_variables_are_set,
    no_host_is_open_at_every_port,
)

POSTGRESQL = {"default": {"ENGINE": "django.db.backends.postgresql"}}
SQLITE = {"default": {"ENGINE": "django.db.backends.sqlite3"}}


@pytest.mark.parametrize(
    ("databases", "key", "reported"),
    [(POSTGRESQL, "", ["concord.E001"]), (POSTGRESQL, "given", []), (SQLITE, "", [])],
)
def test_postgresql_needs_a_given_secret_key(
    databases: object, key: str, reported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATABASES", databases)
    monkeypatch.setenv("CONCORD_SECRET_KEY", key)
    found = a_shared_database_has_a_shared_key()
    assert [message.id for message in found] == reported
    assert all("CONCORD_SECRET_KEY" in message.msg and message.hint for message in found)


@pytest.mark.parametrize(("databases", "reported"), [(POSTGRESQL, ["concord.I001"]), (SQLITE, [])])
def test_several_hosts_get_a_warning_about_shared_files(
    databases: object, reported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATABASES", databases)
    found = files_are_kept_for_all_hosts()
    assert [message.id for message in found] == reported
    assert all("CONCORD_FILES_URL" in str(message.hint) for message in found)


def test_a_listed_variable_that_is_not_set_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ("ONE_API_KEY=one.example.org", "TWO_API_KEY=two.example.org", "TWO_API_KEY=three.example.org")
    monkeypatch.setattr(settings, "ENVIRONMENT_KEYS", tuple(map(read_permit, listed)))
    monkeypatch.setenv("ONE_API_KEY", "given")
    (found,) = listed_variables_are_set()
    assert found.id == "concord.W001"
    assert "TWO_API_KEY" in found.msg
    assert found.hint


def test_a_host_that_is_open_at_every_port_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "LOCAL_ENDPOINTS", (read_host("vllm:8000"), read_host("127.0.0.1:*")))
    (found,) = no_host_is_open_at_every_port()
    assert (found.id, "127.0.0.1" in found.msg) == ("concord.W002", True)
