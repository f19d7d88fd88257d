"""Bases: dumps of databases of earlier versions, with the two invented demonstrations, to be upgraded.

.venv/bin/python -m tests.upgrades.bases        (or make upgrade-base) records the base of this version

It loads both demonstrations into a new database and dumps it: on SQLite, or with DATABASE_URL on PostgreSQL.
"""

import gzip
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from annotate.core.version import VERSION
from tests.concord.running import manage

FOLDER = Path(__file__).parent
DATABASE = "concord_upgrade_base"
STEPS = ("migrate", "load_demonstration", "load_finished_demonstration")
SECRET = "a key for recording a base, used for nothing else"


def bases(vendor: str) -> list[str]:
    """Return the versions that have a base."""
    end = f".{vendor}.sql.gz"
    return sorted(path.name.removesuffix(end) for path in FOLDER.glob(f"*{end}"))


def read_base(version: str, vendor: str) -> str:
    """Return the statements that make the database of a version."""
    return gzip.decompress(_file(version, vendor).read_bytes()).decode()


def _file(version: str, vendor: str) -> Path:
    return FOLDER / f"{version}.{vendor}.sql.gz"


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """Make a database on the server of a URL, give its URL, and remove it."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def record_base(server: str | None) -> Path:
    """Write the base of this version once."""
    file = _file(VERSION, "postgresql" if server else "sqlite")
    if file.exists():
        raise SystemExit(f"{file.name} is recorded: a base never changes. Raise the version first.")
    with TemporaryDirectory() as folder:
        if server:
            with new_database(server, DATABASE) as url:
                _fill(Path(folder), DATABASE_URL=url, CONCORD_SECRET_KEY=SECRET)
                command = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", url]
                dumped = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
                # Newer ones write commands for psql, which the server does not know.
                for_psql = ("\\restrict ", "\\unrestrict ")
                lines = [line for line in dumped.split("\n") if not line.startswith(for_psql)]
        else:
            _fill(Path(folder))
            with closing(sqlite3.connect(Path(folder, "concord.sqlite3"))) as database:
                lines = list(database.iterdump())
    file.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    return file


def _fill(folder: Path, **variables: Any) -> None:
    for step in STEPS:
        done = manage(step, data=folder, **variables)
        if done.returncode:
            raise SystemExit(done.stderr)


if __name__ == "__main__":
    sys.stdout.write(f"{record_base(os.environ.get('DATABASE_URL'))} is recorded.\n")
