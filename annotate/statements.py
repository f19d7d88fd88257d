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

from annotate.postgres import Statement, Wire

CHECKED_FOR = 5.0  # seconds for which a connection that was seen to live is not asked again

_here = local()


def execute(sql: str, parameters: Sequence[object]) -> Statement:
    """Execute a statement; return it with its rows, which inside `at_once` are there when that ends."""
    statement = Statement(sql, parameters)
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if not _goes_prepared(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            statement.rows = cursor.fetchall() if cursor.description else []
    elif (together := getattr(_here, "together", None)) is not None:
        together.append(statement)
    else:
        _send(connection, [statement])
    return statement


@contextmanager
def at_once(*, last: bool = False) -> Iterator[None]:
    """Send the statements executed inside to PostgreSQL together, without waiting for each.

    `last`: nothing follows in the transaction, which ends with them unless it is part of another.
    """
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if not _goes_prepared(connection):
        yield
        return
    together: list[Statement] = []
    _here.together = together
    try:
        yield
    finally:
        _here.together = None
    if together:
        _send(connection, together, commit=last and _is_outermost(connection))


def _goes_prepared(connection: Any) -> bool:
    return connection.vendor == "postgresql" and not (
        connection.queries_logged or connection.execute_wrappers
    )


def _is_outermost(connection: Any) -> bool:
    """Return whether the transaction is that of the innermost `atomic`, which finds it ended and goes on."""
    return len(connection.atomic_blocks) == 1 and not connection.needs_rollback


def _send(connection: Any, statements: list[Statement], *, commit: bool = False) -> None:
    _connect(connection)
    wire = getattr(_here, "wire", None)
    if wire is None or wire.connection is not connection.connection:
        wire = _here.wire = Wire(connection.connection)
    with connection.wrap_database_errors:
        wire.run(statements, commit=commit)


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
