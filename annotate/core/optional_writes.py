"""Optional writes, such as storing a result. They give up if another process is writing.

A SQLite file lets one process write at a time, and an import or a restore does so for minutes. A page that
also had to write would block for 20 seconds and then fail.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError, connection, transaction

T = TypeVar("T")
PATIENCE = 250  # milliseconds
logger = logging.getLogger(__name__)


def write_if_possible(write: Callable[[], T]) -> T | None:
    """Write in a transaction and return the result; None if another process holds the database.

    Not for required writes. Other errors are raised unchanged. Inside a transaction it is part of that
    transaction, which may write already.
    """
    if connection.in_atomic_block:
        return write()
    with little_patience():
        try:
            with transaction.atomic():
                return write()
        except OperationalError as error:
            if not is_busy(error):
                raise
            logger.info("Another process writes, so a page did without writing: %s", error)
            return None


def is_busy(error: BaseException | None) -> bool:
    """Return True if another process holding the database caused an error."""
    return isinstance(error, OperationalError) and "database is locked" in str(error)


def set_patience(seconds: float) -> None:
    """Let this thread's connection wait this number of seconds for a lock on a SQLite file."""
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        connection.connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")  # no query of a page


@contextmanager
def little_patience() -> Iterator[None]:
    """Let this thread's connection wait only a moment for a lock on a SQLite file."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        before = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {min(PATIENCE, before)}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {before}")
