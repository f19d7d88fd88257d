"""One consistent reading of the database, however long it takes and whoever writes meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction

_READING: ContextVar[bool] = ContextVar("reading", default=False)


def in_snapshot() -> bool:
    """Return whether a snapshot is being read, in which nothing can be written."""
    return _READING.get()


@contextmanager
def snapshot() -> Iterator[None]:
    """Show the database as it is now until the end, without keeping anyone from writing.

    On PostgreSQL a transaction with repeatable reads; on SQLite one that begins as a reader, where Concord's
    transactions otherwise begin as writers. Inside a transaction it is what that one shows.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with _mark_as_reading():
                yield
    else:
        with _begins_as_reader(connection), transaction.atomic():
            with connection.cursor() as cursor:  # only reading makes the snapshot
                cursor.execute("SELECT 1 FROM annotate_project LIMIT 1")
            with _mark_as_reading():
                yield


@contextmanager
def _mark_as_reading() -> Iterator[None]:
    token = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(token)


@contextmanager
def _begins_as_reader(connection: Any) -> Iterator[None]:
    connection.ensure_connection()
    usual = connection.transaction_mode
    connection.transaction_mode = "DEFERRED"
    try:
        yield
    finally:
        connection.transaction_mode = usual
