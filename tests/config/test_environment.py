"""Settings come from the environment only; a wrong one is refused in a sentence that names it."""

from pathlib import Path

import pytest

from config import environment
from config.environment import SettingError
from tests.config.running import manage


@pytest.mark.parametrize("broken", ["CONCORD_DEBUG=perhaps", "DATABASE_URL=mysql://localhost/concord"])
def test_a_command_refuses_a_wrong_setting_in_one_line(broken: str, tmp_path: Path) -> None:
    name, _, value = broken.partition("=")
    ended = manage("check", data=tmp_path, **{name: value})
    assert ended.returncode == 1
    assert ended.stderr.startswith(name)
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "reader"),
    [
        ("CONCORD_HTTPS", "perhaps", lambda: environment.read("bool", "CONCORD_HTTPS", False)),
        ("CONCORD_HSTS_SECONDS", "long", lambda: environment.read("int", "CONCORD_HSTS_SECONDS", 0)),
        ("DATABASE_URL", "nowhere", lambda: environment.database(Path("x"))),
        ("DATABASE_URL", "oracle://user@host/name", lambda: environment.database(Path("x"))),
        ("DATABASE_URL", "postgres://user@host:port/name", lambda: environment.database(Path("x"))),
        ("CONCORD_DATA", "/proc/concord", lambda: environment.data_folder(Path("x"))),
        ("CONCORD_EMAIL_URL", "mail.example.org", lambda: environment.email("CONCORD_EMAIL_URL", "")),
        ("CONCORD_EMAIL_URL", "smtp://host:port", lambda: environment.email("CONCORD_EMAIL_URL", "")),
        ("CONCORD_TIME_ZONE", "Mars/Base", lambda: environment.time_zone("CONCORD_TIME_ZONE")),
        ("CONCORD_API_RATE", "often", lambda: environment.api_rate("CONCORD_API_RATE")),
        ("CONCORD_LOG_LEVEL", "loud", lambda: environment.log_level("CONCORD_LOG_LEVEL")),
        ("CONCORD_LEASE_SECONDS", "0", lambda: environment.positive("CONCORD_LEASE_SECONDS", 10)),
        ("CONCORD_BROKER_URL", "localhost:6379", lambda: environment.broker("CONCORD_BROKER_URL")),
    ],
)
def test_a_wrong_value_is_refused_with_its_variable_and_a_cure(
    name: str, value: str, reader: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert callable(reader)
    with pytest.raises(SettingError, match=rf"^{name} .+\. (Write|Name) .+\.$"):
        reader()


def test_an_empty_variable_counts_as_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_HTTPS", "")
    assert environment.read("bool", "CONCORD_HTTPS", False) is False


def test_a_list_is_written_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_ALLOWED_HOSTS", "a.example.org,b.example.org")
    assert environment.read("list", "CONCORD_ALLOWED_HOSTS", []) == ["a.example.org", "b.example.org"]


def test_a_password_in_an_address_never_shows_in_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://me:hunter2@host/name")
    with pytest.raises(SettingError) as refused:
        environment.database(Path("x"))
    assert "hunter2" not in str(refused.value)


def test_mail_goes_to_the_log_until_a_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONCORD_EMAIL_URL", raising=False)
    found = environment.email("CONCORD_EMAIL_URL", "console://")
    assert found["EMAIL_BACKEND"] == "django.core.mail.backends.console.EmailBackend"
    monkeypatch.setenv("CONCORD_EMAIL_URL", "submission://me:secret@mail.example.org")
    found = environment.email("CONCORD_EMAIL_URL", "console://")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == (
        "mail.example.org",
        587,
        True,
    )


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONCORD_SECRET_KEY", raising=False)
    key = environment.secret_key(tmp_path / "secret_key")
    assert len(key) >= 50
    assert environment.secret_key(tmp_path / "secret_key") == key
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_a_given_secret_key_is_not_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SECRET_KEY", "given")
    assert environment.secret_key(tmp_path / "secret_key") == "given"
    assert list(tmp_path.iterdir()) == []
