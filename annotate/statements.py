"""Statements that are executed thousands of times: PostgreSQL plans them once, and takes several at a time.

Django writes the values into a statement, so that PostgreSQL reads and plans it anew each time: on the way of
a save this took more time than everything else. Here the values go apart from the statement, which each
connection keeps prepared. Where queries are logged or counted, and on SQLite, statements go Django's way.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

CHECKED_FOR = 5.0  # seconds for which a connection that was seen to live is not asked again

_here = local()


def execute(sql: str, parameters: Sequence[object]) -> Any:
    """Execute a statement; return the cursor that has, or after `at_once` will have, its rows."""
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if not _goes_prepared(connection):
        cursor = connection.cursor()
        cursor.execute(sql, parameters)
        return cursor
    _connect(connection)
    with connection.wrap_database_errors:
        return connection.Database.Cursor(connection.connection).execute(sql, parameters, prepare=True)


@contextmanager
def at_once() -> Iterator[None]:
    """Send the statements executed inside to PostgreSQL together, without waiting for each."""
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if not _goes_prepared(connection):
        yield
        return
    _connect(connection)
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def _goes_prepared(connection: Any) -> bool:
    return connection.vendor == "postgresql" and not (
        connection.queries_logged or connection.execute_wrappers
    )


def _connect(connection: Any) -> None:
    """Have a connection that lives; asked before every request, that cost as much as a statement."""
    if connection.connection is None:
        connection.ensure_connection()
    elif not connection.health_check_done:
        if time.monotonic() < getattr(_here, "checked", 0.0) + CHECKED_FOR:
            connection.health_check_done = True
            return
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        _here.checked = time.monotonic()
