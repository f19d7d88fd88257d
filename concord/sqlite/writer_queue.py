"""A first-come, first-served queue for the writers of one SQLite file.

SQLite lets one connection write at a time. Others retry after pauses of up to 100 ms, in no order. Here the
threads of a process queue in order, and the first of each process alternates with the first ones of the
host's other processes. SQLite's own lock still protects the file: a writer that cannot join the queue writes
without it.
"""

import fcntl
import os
from collections import deque
from contextlib import suppress
from functools import cache
from threading import Lock
from time import monotonic, sleep

LOOK_AGAIN = 0.001  # seconds
WRITES, IS_NEXT = 0, 1  # bytes of the file that are locked


class WriterQueue:
    """The queue of one SQLite file. Locks belong to a process, and end with it in every case."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._begin_anew()
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
        if self._wait_for_processes(until):
            return True
        self._pass_on()
        return False

    def release(self) -> None:
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
