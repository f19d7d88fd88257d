"""A broker in a folder, for one host without a message service.

kombu's own filesystem transport creates a message's file first and fills it afterwards. A worker that reads
it in between gets an empty file, loses the message and stops. Here a message appears complete, by renaming.
So does the table of queues, which is read and written under one lock: a worker killed while it writes leaves
the table unchanged.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from kombu.transport import filesystem
from kombu.transport.virtual import BrokerState
from kombu.utils.json import dumps, loads

LONGEST_LOOK = 0.2  # seconds


class Channel(filesystem.Channel):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for folder in (self.data_folder_in, self.data_folder_out, self.control_folder):
            Path(folder).mkdir(parents=True, exist_ok=True)

    # kombu's own two signatures of this method disagree, so no third can agree with both.
    def _put(self, queue: str, payload: Any, **_options: Any) -> None:  # type: ignore[override]
        # Two processes can write at the same time, so a random part follows.
        name = f"{time.time_ns():020d}_{uuid4()}.{queue}.msg"
        _write_whole(Path(self.data_folder_out, name), payload)

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002
        # Names start with a timestamp, so the oldest message is first.
        for name in sorted(os.listdir(self.data_folder_in)):
            # Files that are incomplete or taken start with a dot, and so never match.
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = Path(self.data_folder_in, f".{name}")
            try:
                # A rename succeeds for one worker only, and the dot hides the file from the others.
                Path(self.data_folder_in, name).rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            payload = loads(taken.read_text())
            taken.unlink()
            return payload
        raise Empty

    def get_table(self, exchange: str) -> Any:
        with self._lock():
            return super().get_table(exchange)

    def _queue_bind(
        self, exchange: str, routing_key: str | None, pattern: str | None, queue: str | None
    ) -> None:
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._lock():
            bindings = super().get_table(exchange)
            if binding not in bindings:
                self._write_table(exchange, [binding, *bindings])

    def _delete(self, queue: str, exchange: str, *_args: Any, **_kwargs: Any) -> None:
        self._purge(queue)
        with self._lock():
            bindings = super().get_table(exchange)
            self._write_table(exchange, [each for each in bindings if each.queue != queue])

    def _write_table(self, exchange: str, bindings: list[tuple[str, str, str]]) -> None:
        _write_whole(Path(self.control_folder, f"{exchange}.exchange"), bindings)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with open(self.control_folder / "lock", "a") as file:
            # The lock belongs to the open file, so it ends with a process that dies.
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _write_whole(path: Path, content: Any) -> None:
    unseen = path.with_name(f".{path.name}")
    unseen.write_text(dumps(content))
    unseen.rename(path)


class Transport(filesystem.Transport):
    Channel = Channel

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # kombu shares this among a process's connections: one would consider a queue bound before another has
        # written the binding, and its messages would reach no queue.
        self.state = BrokerState()

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]
        """Check for messages, up to the time in which a worker should notice a stop signal."""
        super().drain_events(connection, min(timeout or LONGEST_LOOK, LONGEST_LOOK))
