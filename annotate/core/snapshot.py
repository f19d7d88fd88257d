"""One consistent reading of the database, of any duration and during writes by others."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction

_READING: ContextVar[bool] = ContextVar("reading", default=False)


def is_in_snapshot() -> bool:
    """Return True while a snapshot is read, in which no write is possible."""
    return _READING.get()


@contextmanager
def snapshot() -> Iterator[None]:
    """Show the current state of the database until the end of the block, without blocking writers.

    On PostgreSQL a transaction with repeatable reads. On SQLite a transaction that starts as a reader;
    Concord's transactions otherwise start as writers. Inside a transaction it shows the state of that
    transaction.
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
