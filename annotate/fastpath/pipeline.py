"""Statements sent to PostgreSQL together, and prepared, by libpq itself.

psycopg can do both, but its cursors and its pipeline took ten times the processor time for three statements
(236 against 23 microseconds). psycopg still opens the connection, converts values and creates the exceptions.
"""

import re
from collections.abc import Sequence
from itertools import count
from select import POLLIN, POLLOUT, poll
from typing import Any

from psycopg import Connection, OperationalError
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

MARK = re.compile("%[s%]")


class Statement:
    """A statement with the values of its placeholders and, after execution, its rows."""

    __slots__ = ("parameters", "rows", "sql")
    rows: Sequence[tuple[Any, ...]]

    def __init__(self, sql: str, parameters: Sequence[object] = ()) -> None:
        self.sql = sql
        self.parameters = parameters


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
        for waiting, result in zip(awaited, results, strict=True):
            self._take(waiting, result)
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
