"""Statements that run thousands of times: PostgreSQL plans them once, and takes several at a time.

Django writes the values into a statement, so PostgreSQL parses and plans it again each time. In a save this
took more time than everything else. Here the values are separate from the statement, which each connection
keeps prepared. If queries are logged or counted, and on SQLite, statements take Django's path.

State is per thread, like Django's connections: `together` has the statements pending until the end of
`at_once`, `wire` the statements prepared on the thread's connection.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from select import POLLIN, POLLOUT, poll
from threading import local
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from psycopg import Connection, OperationalError
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import FeatureNotSupported, error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from annotate.fastpath import LIBPQ, is_off

MARK = re.compile("%[s%]")


class Statement:
    """A statement with the values of its placeholders and, after execution, its rows."""

    __slots__ = ("parameters", "rows", "sql")
    rows: Sequence[tuple[Any, ...]]

    def __init__(self, sql: str, parameters: Sequence[object] = ()) -> None:
        self.sql = sql
        self.parameters = parameters


# psycopg can also prepare and pipeline statements, but its cursors took ten times the processor time (236
# against 23 microseconds for three). It still opens connections, converts values and creates the exceptions.
class Wire:
    def __init__(self, connection: Connection[Any]) -> None:
        self.connection = connection
        self._libpq = connection.pgconn
        self._types = Transformer(connection)
        self._names: dict[str, bytes] = {}
        self._numbers = count()
        self._can_read, self._can_go_on = poll(), poll()
        self._can_read.register(self._libpq.socket, POLLIN)
        self._can_go_on.register(self._libpq.socket, POLLIN | POLLOUT)

    def run(self, statements: Sequence[Statement], *, commit: bool = False) -> None:
        """Execute statements in one round trip and fill their rows. Raises the error of the first that fails.

        If the connection should be in a transaction, it starts before them, and ends after them with
        `commit`.
        """
        # psycopg starts a transaction before its first statement, so statements that bypass psycopg must do
        # so too: Django assumes that the connection is in one as soon as `atomic` was entered.
        begins = self._libpq.transaction_status == TransactionStatus.IDLE and not self.connection.autocommit
        frame = [Statement("BEGIN")] if begins else [], [Statement("COMMIT")] if commit else []
        ready = [
            (each, self._values_to_text(each.parameters)) for each in (*frame[0], *statements, *frame[1])
        ]
        # Names that the server learns in this round trip. They are valid only if the whole round trip
        # succeeds: the server skips statements after a failure, so a later PREPARE may never have happened.
        new: dict[str, bytes] = {}
        # One result comes for each message, in order; None is the result of a PREPARE.
        awaited: list[Statement | None] = []
        self._libpq.enter_pipeline_mode()
        try:
            for statement, values in ready:
                name = self._names.get(statement.sql) or new.get(statement.sql)
                if name is None:
                    name = new[statement.sql] = f"concord_{next(self._numbers)}".encode()
                    self._libpq.send_prepare(name, _number_placeholders(statement.sql).encode())
                    awaited.append(None)
                self._libpq.send_query_prepared(name, values)
                awaited.append(statement)
            self._libpq.pipeline_sync()
            results = self._results()
        finally:
            # A connection in pipeline mode takes no ordinary statement, Django's ROLLBACK for one. One that
            # was lost cannot leave the mode; Django throws it away.
            if self._libpq.status == ConnStatus.OK:
                self._libpq.exit_pipeline_mode()
        try:
            for waiting, result in zip(awaited, results, strict=True):
                self._take(waiting, result)
        except FeatureNotSupported:
            # A migration changed a column of a prepared statement. The next request prepares all again.
            self._names.clear()
            raise
        self._names |= new

    def _values_to_text(self, values: Sequence[object]) -> Sequence[Any]:
        return self._types.dump_sequence(values, [PyFormat.TEXT] * len(values)) if values else ()

    def _results(self) -> list[PGresult]:
        # The connection does not block. While sending, responses of the server are read as well: if both
        # sides only wrote, both buffers would fill and neither side would continue.
        while self._libpq.flush():
            self._can_go_on.poll()
            self._libpq.consume_input()
        results: list[PGresult] = []
        while True:
            while self._libpq.is_busy():
                self._can_read.poll()
                self._libpq.consume_input()
            # In a pipeline None separates the results of two statements; a lost one gives nothing else.
            result = self._libpq.get_result()
            if result is None and self._libpq.status != ConnStatus.OK:
                raise OperationalError("The connection to the database was lost.")
            if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
                return results
            if result is not None:
                results.append(result)

    def _take(self, statement: Statement | None, result: PGresult) -> None:
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result)
        if statement and result.status == ExecStatus.TUPLES_OK:
            self._types.set_pgresult(result)
            statement.rows = self._types.load_rows(0, result.ntuples, tuple)
        elif statement:
            statement.rows = ()


def _number_placeholders(sql: str) -> str:
    """Return a statement with numbered placeholders, as the server requires."""
    numbers = count(1)
    return MARK.sub(lambda mark: f"${next(numbers)}" if mark[0] == "%s" else "%", sql)


CHECKED_FOR = 5.0  # seconds for which a connection that was seen to live is not asked again

_here = local()


def execute(sql: str, parameters: Sequence[object], *, by_cursor: bool = False) -> Statement:
    """Execute a statement; return it with its rows, which inside `send_together` are there when that ends.

    by_cursor: send it now, by Django's cursor.
    """
    statement = Statement(sql, parameters)
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if by_cursor or not _is_prepared(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            statement.rows = cursor.fetchall() if cursor.description else []
    elif (together := getattr(_here, "together", None)) is not None:
        together.append(statement)
    else:
        _send(connection, [statement])
    return statement


@contextmanager
def send_together(*, last: bool = False) -> Iterator[None]:
    """Send the statements executed inside to PostgreSQL together, without waiting for each.

    `last`: nothing follows in the transaction, which ends with them unless it is part of another.
    """
    if is_off():
        with _writes_in_bulk():
            yield
        return
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if not _is_prepared(connection):
        yield
        return
    together: list[Statement] = []
    _here.together = together
    try:
        yield
    finally:
        _here.together = None
    # Not in `finally`: after an error in the block its statements are not sent.
    if together:
        _send(connection, together, commit=last and _is_outermost(connection))


@contextmanager
def _writes_in_bulk() -> Iterator[None]:
    _here.writes = writes = Writes()
    try:
        yield
    finally:
        _here.writes = None
    writes.flush()


def write(row: Model, fields: tuple[str, ...] = ()) -> None:
    """Insert a row, or store these fields of it, by the ORM; inside `send_together`, when that ends."""
    writes: Writes | None = getattr(_here, "writes", None)
    if writes is None:
        writes = Writes()
        writes.add(row, fields)
        writes.flush()
    else:
        writes.add(row, fields)


class Writes:
    """Rows that wait to be written by the plain ORM, each kind of write in bulk."""

    def __init__(self) -> None:
        self._groups: dict[tuple[type[Model], tuple[str, ...]], list[Model]] = {}

    def add(self, row: Model, fields: tuple[str, ...]) -> None:
        self._groups.setdefault((type(row), fields), []).append(row)

    def flush(self) -> None:
        inserted = {model for model, fields in self._groups if not fields}

        def refers_to_new(group: tuple[type[Model], tuple[str, ...]]) -> bool:
            # One level is all there is: a rating is new, and so is its history.
            return any(field.related_model in inserted for field in group[0]._meta.concrete_fields)

        for model, fields in sorted(self._groups, key=refers_to_new):
            rows = self._groups[model, fields]
            if not fields:
                model._default_manager.bulk_create(rows)
            elif len(rows) == 1:
                rows[0].save(update_fields=fields)
            else:
                model._default_manager.bulk_update(rows, fields)


def _is_prepared(connection: Any) -> bool:
    # Tests that count queries, and the log, see only what passes Django's cursor.
    return (
        settings.FAST_PATH == LIBPQ
        and connection.vendor == "postgresql"
        and not (connection.queries_logged or connection.execute_wrappers)
    )


def _is_outermost(connection: Any) -> bool:
    """Return True if the transaction belongs to the innermost `atomic`.

    Its COMMIT can then go with the last statements. Django's own commit at the end of the block finds no
    transaction and sends nothing; callbacks for after the commit run there as always. In an outer block, as
    in each test, the transaction must continue. In a block that needs a rollback, it must not be committed.
    """
    return len(connection.atomic_blocks) == 1 and not connection.needs_rollback


def _send(connection: Any, statements: list[Statement], *, commit: bool = False) -> None:
    _connect(connection)
    # Statements are prepared on a connection, not in a thread: on a new one nothing is.
    wire = getattr(_here, "wire", None)
    if wire is None or wire.connection is not connection.connection:
        wire = _here.wire = Wire(connection.connection)
    with connection.wrap_database_errors:
        wire.run(statements, commit=commit)


def _connect(connection: Any) -> None:
    """Ensure that the connection is alive.

    Django checks that by a statement before the first one of every request, which cost as much as a real one.
    A connection that dies within CHECKED_FOR fails one request; the rating page sends its answers again.
    """
    if connection.connection is None:
        connection.ensure_connection()
    elif not connection.health_check_done:
        if time.monotonic() < getattr(_here, "checked", 0.0) + CHECKED_FOR:
            connection.health_check_done = True
            return
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        _here.checked = time.monotonic()
