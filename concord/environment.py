"""Reads settings from the environment, also of sign-in; errors name the invalid variable."""

import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import available_timezones

import dj_database_url
import dj_email_url
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError

from annotate.core.outbound import PermittedHost, VariablePermit, read_host, read_permit

env = Env()
Read = TypeVar("Read")
SHORTEST_SECRET = 32  # characters

FILE_SCHEMES = {"s3": "https", "s3+http": "http"}

CURES = {
    "bool": "Write 1 or 0.",
    "int": "Write a whole number.",
    "list": "Write values with commas between them.",
    "str": "Write it as plain text.",
}


class SettingError(ImproperlyConfigured):
    def __init__(self, name: str, problem: str, cure: str) -> None:
        super().__init__(f"{name} {problem}. {cure}")


def read(kind: str, name: str, default: Any) -> Any:
    """Return the variable `name` parsed as `kind` ("str", "bool", "int", "list"), or the default."""
    if os.environ.get(name, "").strip() == "":
        return default
    try:
        return getattr(env, kind)(name)
    except EnvError as error:
        raise SettingError(name, f"is {os.environ[name]!r}, which is no {kind}", CURES[kind]) from error


def one_of(name: str, *choices: str) -> str:
    """Return the variable, which is one of these words; the first is the default."""
    chosen: str = read("str", name, choices[0])
    if chosen not in choices:
        raise SettingError(name, f"is {chosen!r}", f"Write {', '.join(choices[:-1])} or {choices[-1]}.")
    return chosen


def positive(name: str, default: int) -> int:
    number: int = read("int", name, default)
    if number < 1:
        raise SettingError(name, f"is {number}, which is less than 1", "Write a whole number from 1.")
    return number


def days_kept(name: str) -> int | None:
    """Return a retention period in days; None, if not set: for ever."""
    return positive(name, 1) if os.environ.get(name, "").strip() else None


def database(default_file: Path) -> dict[str, Any]:
    """Return Django's database setting from DATABASE_URL, SQLite in `default_file` without it."""
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{default_file}"
    cure = "Write it like postgres://user:password@host:5432/name or sqlite:////folder/file."
    try:
        # The check replaces a kept connection that the database has closed, before a request uses it.
        found: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True))
    except (ValueError, KeyError) as error:
        raise SettingError("DATABASE_URL", "is not the address of a database", cure) from error
    if found["ENGINE"] not in {"django.db.backends.sqlite3", "django.db.backends.postgresql"}:
        raise SettingError("DATABASE_URL", "names a database other than PostgreSQL and SQLite", cure)
    if found["ENGINE"] == "django.db.backends.sqlite3":
        # The write lock is requested at the start of a transaction: requested later, it fails at once if
        # another writes.
        found["ENGINE"] = "concord.sqlite"
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA busy_timeout=20000;",
        }
        # Make a database readable only by its owner; SQLite gives its other files the same mode.
        # A missing file is not created: the next process that starts restricts it.
        file = Path(found["NAME"])
        with suppress(OSError):  # it is not there, or somebody else's
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
    return found


def own_data_folder() -> Path:
    """Return the default folder of data of an installed package; XDG_DATA_HOME can move it."""
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "concord"


def data_folder(default: Path) -> Path:
    folder = Path(read("str", "CONCORD_DATA", str(default))).expanduser().resolve()
    try:
        # Only for the owner: the folder contains the secret key, the database and uploads.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"is {str(folder)!r}, which cannot be made: {error.strerror}"
        raise SettingError("CONCORD_DATA", problem, "Name a folder that Concord may write to.") from error
    if not os.access(folder, os.W_OK):
        cure = "Name another folder, or let this user write there."
        raise SettingError("CONCORD_DATA", f"is {str(folder)!r}, where Concord may not write", cure)
    return folder


def file_storage() -> dict[str, Any]:
    """Return Django's storage of files: the bucket that CONCORD_FILES_URL names, else a folder."""
    if not (url := read("str", "CONCORD_FILES_URL", "")):
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"allow_overwrite": True},
        }
    parts = urlsplit(url)
    bucket, _, folder = parts.path.strip("/").partition("/")
    if parts.scheme not in FILE_SCHEMES or not parts.hostname or not bucket:
        cure = "Write it like s3://key:secret@storage.example.org/bucket, special characters as % codes."
        raise SettingError("CONCORD_FILES_URL", "is not the address of a bucket", cure)  # it holds a secret
    host = parts.netloc.rpartition("@")[2]
    return {
        "BACKEND": "annotate.core.bucket.Bucket",
        "OPTIONS": {
            "endpoint_url": f"{FILE_SCHEMES[parts.scheme]}://{host}",
            "bucket_name": bucket,
            "location": folder,
            "access_key": unquote(parts.username or "") or None,  # without one, boto3 looks for its own
            "secret_key": unquote(parts.password or "") or None,
            "region_name": dict(parse_qsl(parts.query)).get("region"),
        },
    }


def secret_key(keep_in: Path) -> str:
    """Return CONCORD_SECRET_KEY, or a key generated once for this installation and stored in `keep_in`."""
    given = os.environ.get("CONCORD_SECRET_KEY")
    if given:
        return given
    if not keep_in.exists():
        # Written aside and then linked: of two processes that start together, neither sees half a key or
        # another one.
        unseen = keep_in.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(unseen, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(60))
        with suppress(FileExistsError):
            os.link(unseen, keep_in)
        unseen.unlink()
    return keep_in.read_text().strip()


def email(name: str, default: str, *, https: bool = False) -> dict[str, Any]:
    """Return Django's settings of email from a URL such as submission://user:password@host:587.

    If others reach Concord, mails go to the log only by choice: a reader of the log could take any account by
    its link for a new password.
    """
    url = read("str", name, default)
    if https and url.startswith("console:") and not read("bool", "CONCORD_MAIL_IN_LOG", False):
        problem = "names no mail server, and links for new passwords must not stand in the log"
        raise SettingError(
            name, problem, "Name one, or set CONCORD_MAIL_IN_LOG=1 if nobody else reads the log."
        )
    try:
        if url.partition("://")[0] not in ("smtp", "submission", "console", "file", "dummy"):
            raise ValueError
        return dict(dj_email_url.parse(url))
    except ValueError as error:
        cure = "Write it like submission://user:password@host:587, or console:// to read messages in the log."
        raise SettingError(name, "is not the address of a mail server", cure) from error


def time_zone(name: str) -> str:
    zone: str = read("str", name, "UTC")
    if zone != "UTC" and zone not in available_timezones():
        raise SettingError(name, f"is {zone!r}, which is no time zone", "Write it like Europe/Berlin.")
    return zone


def log_level(name: str) -> str:
    level: str = read("str", name, "INFO").upper()
    if level not in logging.getLevelNamesMapping():
        raise SettingError(name, f"is {level!r}, which is no level", "Write DEBUG, INFO, WARNING or ERROR.")
    return level


def metrics_token(name: str) -> str:
    """Return the token required to read the metrics; empty: access is disabled."""
    token: str = read("str", name, "").strip()
    if token and len(token) < SHORTEST_SECRET:
        cure = f"Write a random text of at least {SHORTEST_SECRET} characters."
        raise SettingError(name, f"has fewer than {SHORTEST_SECRET} characters", cure)
    return token


def currency(name: str) -> str:
    code: str = read("str", name, "USD")
    if not (len(code) == 3 and code.isascii() and code.isupper()):
        raise SettingError(name, f"is {code!r}, which is no currency", "Write its three letters, like EUR.")
    return code


def api_rate(name: str) -> str:
    """Return the rate limit of a token, such as 600/minute."""
    rate: str = read("str", name, "600/minute")
    number, _, period = rate.partition("/")
    if not number.isdecimal() or int(number) < 1 or period not in ("second", "minute", "hour", "day"):
        raise SettingError(name, f"is {rate!r}, which is no rate", "Write it like 600/minute or 20/second.")
    return rate


def broker(name: str) -> str:
    url: str = read("str", name, "filesystem://localhost/")
    if url.partition("://")[0] not in ("filesystem", "redis", "rediss", "amqp", "amqps", "memory"):
        cure = "Write it like redis://host:6379/0 or amqp://user:password@host:5672//, or leave it out."
        raise SettingError(name, "is not the address of a broker that Concord knows", cure)
    return url


def local_endpoints(name: str) -> tuple[PermittedHost, ...]:
    cure = "Write host:port with commas between them, such as 127.0.0.1:8090,vllm:8000."
    return tuple(_read_each(name, read_host, cure))


def environment_keys(name: str) -> tuple[VariablePermit, ...]:
    cure = (
        "Write VARIABLE_API_KEY=host or HF_TOKEN=host, with @project+project for these projects only, and "
        "commas between them."
    )
    return tuple(_read_each(name, read_permit, cure))


def key_encryption(name: str) -> tuple[str, ...]:
    """Return the secrets that endpoints' keys are encrypted with, the first one for new keys."""
    given = os.environ.get(name, "")
    secrets_given = tuple(each.strip() for each in given.split(",") if each.strip())
    if any(len(each) < SHORTEST_SECRET for each in secrets_given):
        cure = f"Write random secrets of at least {SHORTEST_SECRET} characters, with commas between them."
        raise SettingError(name, f"has a secret of fewer than {SHORTEST_SECRET} characters", cure)
    return secrets_given


def _read_each(name: str, reads: Callable[[str], Read], cure: str) -> Iterator[Read]:
    for text in read("list", name, []):
        try:
            yield reads(text)
        except ValueError:
            # Only the part before "=": a key may have been written instead of a host.
            begins = text.partition("=")[0]
            raise SettingError(name, f"has an entry {begins!r} that cannot be read", cure) from None


SHORT = "CONCORD_SSO"
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


def single_sign_on() -> dict[str, Any]:
    return {"openid_connect": {"APPS": [_provider(each.strip()) for each in read("list", SHORT, [])]}}


def _provider(name: str) -> dict[str, Any]:
    # CONCORD_SSO_ACCOUNTS is another setting, so no provider can have this name.
    if not re.fullmatch(r"[a-z][a-z0-9]*", name) or name == "accounts":
        cure = "Write names of small letters and digits with commas between them, such as university,lab2."
        raise SettingError(SHORT, f"names a provider {name!r}", cure)
    url = _required(name, "URL", "Write its address, such as https://login.example.org/realms/main.")
    parts = urlsplit(url)
    # Without TLS anyone between the two servers could answer as the provider.
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in THIS_MACHINE):
        raise SettingError(f"{SHORT}_{name.upper()}_URL", f"is {url!r}, which is not https://", "Use HTTPS.")
    return {
        "provider_id": name,
        "name": _required(name, "NAME", "Write what the button on the sign-in page calls it."),
        "client_id": _required(name, "CLIENT", "Write the client id that the provider has for Concord."),
        "secret": _required(name, "SECRET", "Write the client secret that the provider shows."),
        "settings": {"server_url": url, "oauth_pkce_enabled": True},
    }


def _required(name: str, part: str, cure: str) -> str:
    variable = f"{SHORT}_{name.upper()}_{part}"
    value = os.environ.get(variable, "").strip()
    if not value:
        raise SettingError(variable, f"is missing, as {SHORT} names {name!r}", cure)
    return value
