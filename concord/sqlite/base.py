"""The module in which Django finds the backend, and its first-come, first-served queue of writers.

SQLite lets one connection write at a time. Others retry after pauses of up to 100 ms, in no order. Here the
threads of a process queue in order, and the first of each process alternates with the first ones of the
host's other processes. SQLite's own lock still protects the file: a writer that cannot join the queue writes
without it.
"""

import fcntl
import os
import re
from collections import deque
from contextlib import suppress
from functools import cache, partial
from threading import Lock
from time import monotonic, sleep
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3.base import DatabaseWrapper as DjangoWrapper
from django.db.backends.sqlite3.base import SQLiteCursorWrapper

LOOK_AGAIN = 0.001  # seconds
WRITES, IS_NEXT = 0, 1  # bytes of the file that are locked


class WriterQueue:
    """The queue of one SQLite file. Locks belong to a process, and end with it in every case."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._begin_anew()
        # A child would inherit locked mutexes, and an open file whose locks belong to its parent.
        os.register_at_fork(after_in_child=self._begin_anew)

    def _begin_anew(self) -> None:
        self._mutex = Lock()
        self._waiting: deque[Lock] = deque()
        self._is_held = False
        self._file: int | None = None

    def acquire(self, seconds: float) -> bool:
        """Wait up to `seconds` for the right to write; return True on success."""
        until = monotonic() + seconds
        if not self._wait_in_process(seconds):
            return False
        # The first thread of this process joins the queue of processes.
        if self._wait_for_processes(until):
            return True
        self._pass_on()
        return False

    def release(self) -> None:
        # The other processes first: one of them may already wait as the next writer.
        self._unlock(WRITES)
        self._pass_on()

    def _wait_in_process(self, seconds: float) -> bool:
        with self._mutex:
            if not self._is_held:
                self._is_held = True
                return True
            # The lock starts acquired; `_pass_on` releases it.
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=seconds):
            return True
        with self._mutex:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        return True  # its turn came at the last moment

    def _pass_on(self) -> None:
        with self._mutex:
            if self._waiting:
                # The right passes on directly and stays held, so that no newcomer comes in between.
                self._waiting.popleft().release()
            else:
                self._is_held = False

    def _wait_for_processes(self, until: float) -> bool:
        """Become the next of all processes, then the writer; the last writer queues behind the next."""
        try:
            if not self._lock(IS_NEXT, until):
                return False
            try:
                return self._lock(WRITES, until)
            finally:
                self._unlock(IS_NEXT)
        except OSError:  # a folder that cannot be written, or a file system without locks
            return True

    def _lock(self, byte: int, until: float) -> bool:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            # A blocking lock has no timeout, so this polls.
            with suppress(BlockingIOError, PermissionError):  # another process has it
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
                return True
            if monotonic() > until:
                return False
            sleep(LOOK_AGAIN)

    def _unlock(self, byte: int) -> None:
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)


@cache
def queue_of(database: str) -> WriterQueue:
    return WriterQueue(f"{database}-writers")


_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)


class QueuingCursor(SQLiteCursorWrapper):
    """Queues before a statement that writes outside a transaction."""

    def __init__(self, wrapper: "DatabaseWrapper", connection: Any) -> None:
        super().__init__(connection)
        self._wrapper = wrapper

    def execute(self, query: str, params: Any = None) -> Any:
        # A transaction joined the queue at its start, and reading needs no turn.
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
        # The present timeout, which `set_patience` may have changed for this request.
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
        # Without this, a failed start would keep the turn for ever.
        except BaseException:
            self.let_others_write()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        # Not in `finally`: after a failed commit the transaction still writes, until its rollback.
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
