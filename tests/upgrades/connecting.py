"""Django, connected to the database of an earlier version."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from tests.upgrades.bases import new_database, read_base


@contextmanager
def connected_to_base(version: str, folder: Path) -> Iterator[None]:
    """Connect Django to a new database with the base of a version instead of the tests' own."""
    kept, statements = connection.settings_dict, read_base(version, connection.vendor)
    own, new = kept["NAME"], str(folder / "concord.sqlite3")
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            with closing(sqlite3.connect(new)) as database:
                database.executescript(statements)
        else:
            new = f"{own}_base"
            with psycopg.connect(stack.enter_context(new_database(url_of("postgres"), new))) as loading:
                loading.execute(statements)
        connection.close()
        kept["NAME"] = new
        try:
            yield
        finally:
            connection.close()
            kept["NAME"] = own
            ContentType.objects.clear_cache()


def url_of(database: str) -> str:
    """Return the URL of a database on the server of the tests' own."""
    kept = connection.settings_dict
    return f"postgres://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT'] or 5432}/{database}"
