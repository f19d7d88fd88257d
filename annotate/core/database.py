"""Transactions: many rows at once, long writes in steps, optional writes, and consistent snapshots.

A SQLite file lets one process write at a time. Long writes therefore commit in steps, and optional writes
give up after a moment. PostgreSQL locks rows, so a long write is one transaction there.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from time import monotonic, sleep
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections, transaction
from django.db.models import Model, QuerySet

Row = Sequence[Any]
T = TypeVar("T")
logger = logging.getLogger(__name__)

# Many new rows at once, without a model instance and a placeholder for each value.


def write_rows(model: type[Model], fields: Sequence[str], rows: Sequence[Row]) -> list[int]:
    """Write rows inside the caller's transaction and return their keys, in order.

    fields: the names of fields, in the order of the values of each row. Values are in the database's form:
    JSON as a string, references as keys. The database's constraints hold; defaults of the model do not apply.
    """
    assert transaction.get_connection().in_atomic_block
    if not rows:
        return []
    meta = model._meta
    columns = ["id", *(str(meta.get_field(name).column) for name in fields)]  # type: ignore[union-attr]
    # Neither COPY nor `executemany` returns keys, so they are reserved before.
    keys = _new_keys(model, len(rows))
    whole = [(key, *row) for key, row in zip(keys, rows, strict=True)]
    names = ", ".join(map(connection.ops.quote_name, columns))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # COPY sends values without parsing a statement for each row.
            with cursor.copy(f"COPY {meta.db_table} ({names}) FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
        else:
            # One statement for all rows would exceed SQLite's limit of parameters. `executemany` binds one
            # row at a time.
            parameters = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {meta.db_table} ({names}) VALUES ({parameters})", whole)
    return keys


def _new_keys(model: type[Model], how_many: int) -> list[int]:
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sequence = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            cursor.execute(sequence, [table, how_many])
            return [key for (key,) in cursor.fetchall()]
        # A writing transaction of SQLite is alone, and so are the keys that follow.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        found = cursor.fetchone()
    last = found[0] if found else 0
    return list(range(last + 1, last + 1 + how_many))


# Long writes. After a crash some steps are written: each long write documents the way in which the next
# worker finishes or removes them.

MOST_ROWS, ROWS_AT_ONCE = 1000, 5000
TARGET_SECONDS = 0.1
LEAST_PAUSE, LONGEST_PAUSE = 0.03, 0.25  # SQLite lets a waiting writer look every 25 ms at first


def writes_in_steps() -> bool:
    """Return True if each step commits: on SQLite, outside any transaction."""
    # Inside a transaction a step cannot commit, so all steps belong to the caller's transaction.
    return connection.vendor == "sqlite" and not connection.in_atomic_block


def lock_rows(rows: QuerySet[Any]) -> None:
    """Lock rows in the order of their keys until the transaction ends, where the database locks rows."""
    if connection.features.has_select_for_update:
        # Two transactions that lock the same rows in one order cannot deadlock. Reading the keys only takes
        # the locks.
        for _ in rows.select_for_update(of=("self",)).order_by("pk").values_list("pk").iterator():
            pass


@contextmanager
def long_write() -> Iterator[None]:
    """Join the steps to one transaction, unless they commit individually."""
    if writes_in_steps():
        yield
    else:
        with transaction.atomic():
            yield


@contextmanager
def step() -> Iterator[None]:
    """Write one step of a long write. A pause follows if it commits."""
    commits = writes_in_steps()
    with transaction.atomic():
        begun = monotonic()
        yield
    # The pause lets other writers of the SQLite file commit.
    if commits:
        sleep(min(max((monotonic() - begun) / 2, LEAST_PAUSE), LONGEST_PAUSE))


def write_in_steps(
    rows: Iterable[T], write: Callable[[Sequence[T]], object], *, most: int = MOST_ROWS
) -> None:
    """Write rows in batches, each in its own step. A slow step makes the next batch smaller."""
    left = iter(rows)
    in_steps = writes_in_steps()
    # The first batch is small: the time of each step decides about the size of the next.
    size = max(most // 10, 1) if in_steps else ROWS_AT_ONCE
    while batch := list(islice(left, size)):
        with step():
            # Only the statements are timed: the wait in the lock queue does not depend on the batch size.
            begun = monotonic()
            write(batch)
            seconds = monotonic() - begun
        # Between the two limits the size stays, so that it does not change with every step.
        if in_steps and seconds > TARGET_SECONDS:
            size = max(size // 2, 1)
        elif in_steps and seconds < TARGET_SECONDS / 2:
            size = min(size * 2, most)


# Optional writes, such as storing a result. An import holds a SQLite file for minutes, and a page that also
# had to write would block for 20 seconds and then fail.

PATIENCE = 250  # milliseconds


def write_if_possible(write: Callable[[], T]) -> T | None:
    """Write in a transaction and return the result; None if another process holds the database.

    Not for required writes. Other errors are raised unchanged. Inside a transaction it is part of that
    transaction, which may write already.
    """
    if connection.in_atomic_block:
        return write()
    # Only waiting is short: a write that has the lock can take its time.
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
    # The queue of writers raises the same message without an error of SQLite, so no error code is compared.
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
        # A heartbeat's thread may already have less patience, which this must not raise.
        cursor.execute(f"PRAGMA busy_timeout = {min(PATIENCE, before)}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {before}")


# One consistent reading of the database, of any duration and during writes by others.

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
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with _mark_as_reading():
                yield
    else:
        connection.ensure_connection()
        # The usual mode would hold the lock of writers as long as an export reads.
        usual, connection.transaction_mode = connection.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:  # only reading makes the snapshot
                    cursor.execute("SELECT 1 FROM annotate_project LIMIT 1")
                with _mark_as_reading():
                    yield
        finally:
            connection.transaction_mode = usual


@contextmanager
def _mark_as_reading() -> Iterator[None]:
    token = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(token)
