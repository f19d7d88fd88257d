"""What is refused before anything starts."""

import pytest
from django.conf import settings

from config.checks import a_shared_database_has_a_shared_key

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
