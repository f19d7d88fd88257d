"""The database of a test run: a copy of a migrated one that all workers and later runs share."""

import fcntl
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any, cast

from django.db import connection

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".pytest_cache" / "databases"  # of migrated databases, for all runs of this checkout
# What decides the schema and the rows that migrations write. Content types are made of the models.
SCHEMA = (
    *("annotate/core/migrating.py", "annotate/core/models/*.py", "annotate/migrations/*.py"),
    *("judges/core/models/*.py", "judges/migrations/*.py", "concord/settings.py", "requirements.txt"),
)
PREFIX = "concord_template_"


def copy_migrated_database() -> str:
    """Point the connection at a fresh copy of the migrated database; return the name that it had.

    The first process that needs a schema migrates it and keeps it in `FOLDER`, or on PostgreSQL's server;
    others wait for it.
    """
    name = str(connection.settings_dict["NAME"])
    copy = str(connection.settings_dict["TEST"]["NAME"])
    with _locked():
        if connection.vendor == "sqlite":
            copyfile(_sqlite_template(), copy)
        else:
            template = _postgresql_template()
            with _maintenance_cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {copy} TEMPLATE {template}")
    connection.settings_dict["NAME"] = copy
    return name


def copy_migrated_file(copy: Path) -> None:
    """Copy the migrated database for another installation on SQLite, if these tests are played on SQLite."""
    if connection.vendor == "sqlite":
        with _locked():
            copyfile(_sqlite_template(), copy)


def migrated_template() -> str:
    """Return the name of the migrated database on PostgreSQL's server."""
    with _locked():
        return _postgresql_template()


@contextmanager
def _locked() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sqlite_template() -> Path:
    template = FOLDER / f"{_digest_schema()}.sqlite3"
    if not template.exists():
        made = Path(connection.settings_dict["TEST"]["NAME"]).with_name("template.sqlite3")
        _migrate(str(made))
        for old in FOLDER.glob("*.sqlite3"):
            old.unlink()
        # Whole or not at all, also if this process is killed meanwhile.
        copyfile(made, FOLDER / "new")
        (FOLDER / "new").rename(template)
    return template


def _postgresql_template() -> str:
    """Return the name of today's template; drop those of the days before yesterday."""
    today = datetime.now(UTC).date()
    template = f"{PREFIX}{today:%Y%m%d}_{_digest_schema()}"
    with _maintenance_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{PREFIX}%"])
        templates = [name for (name,) in cursor.fetchall()]
        if template in templates:
            return template
        for name in templates:
            if name < f"{PREFIX}{today - timedelta(days=1):%Y%m%d}":
                cursor.execute(f"DROP DATABASE IF EXISTS {name}")
    made = f"{connection.settings_dict['TEST']['NAME']}_new"
    _migrate(made)
    with _maintenance_cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {made} RENAME TO {template}")
    return template


def _digest_schema() -> str:
    digest = sha256(f"{sys.version} {sqlite3.sqlite_version}".encode())
    for path in sorted(path for pattern in SCHEMA for path in ROOT.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _maintenance_cursor() -> AbstractContextManager[Any]:
    """Connect to the server rather than to one of its databases in use."""
    creation: Any = connection.creation
    return cast("AbstractContextManager[Any]", creation._nodb_cursor())


def _migrate(name: str) -> None:
    """Make a database of this name and migrate it."""
    settings = connection.settings_dict
    own, settings["TEST"]["NAME"] = settings["TEST"]["NAME"], name
    original = settings["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    connection.close()
    settings["NAME"], settings["TEST"]["NAME"] = original, own
