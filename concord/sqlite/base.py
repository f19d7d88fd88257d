"""The module in which Django finds the backend."""

import re
from functools import partial
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3.base import DatabaseWrapper as DjangoWrapper
from django.db.backends.sqlite3.base import SQLiteCursorWrapper

from concord.sqlite.writer_queue import WriterQueue, queue_of

_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)


class QueuingCursor(SQLiteCursorWrapper):
    """Queues before a statement that writes outside a transaction."""

    def __init__(self, wrapper: "DatabaseWrapper", connection: Any) -> None:
        super().__init__(connection)
        self._wrapper = wrapper

    def execute(self, query: str, params: Any = None) -> Any:
        if self.connection.in_transaction or not _WRITES.match(query):
            return super().execute(query, params)
        self._wrapper.wait_to_write()
        try:
            return super().execute(query, params)
        finally:
            self._wrapper.let_others_write()


class DatabaseWrapper(DjangoWrapper):
    """Queues before each transaction that starts as a writer."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._queue: WriterQueue | None = None

    def create_cursor(self, name: str | None = None) -> Any:  # noqa: ARG002
        return self.connection.cursor(factory=partial(QueuingCursor, self))

    def wait_to_write(self) -> None:
        """Queue for as long as the connection would wait on SQLite's lock; OperationalError after that."""
        if self._queue or self.is_in_memory_db():
            return
        queue = queue_of(str(self.settings_dict["NAME"]))
        (milliseconds,) = self.connection.execute("PRAGMA busy_timeout").fetchone()
        if not queue.acquire(milliseconds / 1000):
            raise OperationalError("database is locked")
        self._queue = queue

    def let_others_write(self) -> None:
        """Leave the queue; no effect outside it."""
        queue, self._queue = self._queue, None
        if queue:
            queue.release()

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode != "IMMEDIATE":  # type: ignore[attr-defined]
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
            return
        self.wait_to_write()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self.let_others_write()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        # Otherwise a failed start would block all other writers.
        self.let_others_write()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self.let_others_write()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self.let_others_write()
