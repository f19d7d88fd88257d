"""Settings come from the environment only; a wrong one is refused in a sentence that names it."""

from pathlib import Path

import pytest

from annotate.core.outbound import PermittedHost, VariablePermit
from concord import environment
from concord.environment import SettingError
from tests.concord.running import manage
from tests.ports import free_port


@pytest.mark.parametrize("broken", ["CONCORD_DEBUG=perhaps", "DATABASE_URL=mysql://localhost/concord"])
def test_command_rejects_a_wrong_setting_in_one_line(broken: str, tmp_path: Path) -> None:
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
        ("CONCORD_FAST_PATH", "psycopg", lambda: environment.one_of("CONCORD_FAST_PATH", "libpq", "off")),
        ("CONCORD_FILES_URL", "/a/folder", environment.file_storage),
        ("CONCORD_FILES_URL", "s3://key:secret@storage.example.org", environment.file_storage),
        ("CONCORD_LOG_LEVEL", "loud", lambda: environment.log_level("CONCORD_LOG_LEVEL")),
        ("CONCORD_LEASE_SECONDS", "0", lambda: environment.positive("CONCORD_LEASE_SECONDS", 10)),
        (
            "CONCORD_LOCAL_ENDPOINTS",
            "127.0.0.1",
            lambda: environment.local_endpoints("CONCORD_LOCAL_ENDPOINTS"),
        ),
        (
            "CONCORD_LOCAL_ENDPOINTS",
            "vllm:70000",
            lambda: environment.local_endpoints("CONCORD_LOCAL_ENDPOINTS"),
        ),
        ("CONCORD_KEY_ENCRYPTION", "short", lambda: environment.key_encryption("CONCORD_KEY_ENCRYPTION")),
        *(
            (
                "CONCORD_ENVIRONMENT_KEYS",
                each,
                lambda: environment.environment_keys("CONCORD_ENVIRONMENT_KEYS"),
            )
            for each in (
                "CONCORD_SECRET_KEY=evil.example.org",
                "DATABASE_URL=evil.example.org",
                "OPENAI_API_KEY",
                "OPENAI_API_KEY=https://api.openai.com",
                "OPENAI_API_KEY=api.openai.com@",
                "OPENAI_API_KEY=api.openai.com:*",
            )
        ),
        ("CONCORD_BROKER_URL", "localhost:6379", lambda: environment.broker("CONCORD_BROKER_URL")),
    ],
)
def test_wrong_value_is_rejected_with_its_variable_and_a_remedy(
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


def test_password_in_a_url_never_appears_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://me:hunter2@host/name")
    with pytest.raises(SettingError) as refused:
        environment.database(Path("x"))
    assert "hunter2" not in str(refused.value)


def test_mail_goes_to_the_log_until_a_server_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_secret_key_is_created_once_and_readable_only_by_its_owner(
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


def test_hosts_and_variables_parse_as_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_LOCAL_ENDPOINTS", "127.0.0.1:8090, VLLM:8000,[::1]:*")
    hosts = environment.local_endpoints("CONCORD_LOCAL_ENDPOINTS")
    assert hosts == (
        PermittedHost("127.0.0.1", 8090),
        PermittedHost("vllm", 8000),
        PermittedHost("::1", None),
    )
    listed = "OPENAI_API_KEY=api.openai.com,LAB_API_KEY=llm.example.org:8443@lab-a+lab-b"
    monkeypatch.setenv("CONCORD_ENVIRONMENT_KEYS", listed)
    assert environment.environment_keys("CONCORD_ENVIRONMENT_KEYS") == (
        VariablePermit("OPENAI_API_KEY", PermittedHost("api.openai.com", 443)),
        VariablePermit("LAB_API_KEY", PermittedHost("llm.example.org", 8443), frozenset({"lab-a", "lab-b"})),
    )


def test_key_instead_of_a_host_never_appears_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_ENVIRONMENT_KEYS", "OPENAI_API_KEY=sk-proj-abcdef")
    with pytest.raises(SettingError) as refused:
        environment.environment_keys("CONCORD_ENVIRONMENT_KEYS")
    assert "sk-proj" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_folder_and_the_database_are_for_their_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("CONCORD_DATA", str(tmp_path / "new"))
    folder = environment.data_folder(tmp_path)
    readable = folder / "concord.sqlite3"
    readable.touch(0o644)
    readable.chmod(0o644)
    environment.database(readable)
    environment.database(folder / "other.sqlite3")
    modes = [path.stat().st_mode & 0o777 for path in (folder, readable)]
    assert modes == [0o700, 0o600]
    assert not (folder / "other.sqlite3").exists()


def test_unreachable_database_is_reported_in_one_line(tmp_path: Path) -> None:
    away = {
        "DATABASE_URL": f"postgres://concord@127.0.0.1:{free_port()}/concord",
        "CONCORD_SECRET_KEY": "k" * 60,
    }
    ended = manage("migrate", data=tmp_path, **away)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The database cannot be used: connection failed: ")
    assert "Traceback" in manage("migrate", "--traceback", data=tmp_path, **away).stderr
