"""Real workers: processes of their own, on the test's database, with a broker of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.db import connection
from redis import Redis

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Worker:
    """A worker that is started again whenever it was killed."""

    environment: dict[str, str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    def start(self) -> None:
        """Start the worker in a process group of its own."""
        command = "celery -A concord worker --pool threads --concurrency 2 --loglevel WARNING"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command.split()],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill everything that the worker is, at once, as a machine that loses power does."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def story(self) -> str:
        """Return the end of its log for a test that failed, and what its threads are at if it runs."""
        assert self.process is not None
        code = self.process.poll()
        if code is None:  # faulthandler writes the stacks
            self.process.send_signal(signal.SIGABRT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        state = "It was running." if code is None else f"It had ended with {code}."
        return f"{self.log.read_text()[-10_000:]}\n{state}"


def database_url() -> str:
    """Return the address of the test's own database."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    host, port = settings["HOST"] or "127.0.0.1", settings["PORT"] or 5432
    return (
        f"postgres://{settings['USER'] or 'postgres'}:{settings['PASSWORD']}@{host}:{port}/{settings['NAME']}"
    )


@contextmanager
def worker(
    folder: Path, *, broker: str = "", database: str = "", lease: int = 10, files: str = ""
) -> Iterator[Worker]:
    """Run a worker, on the test's database unless another is given; its broker is a folder or this one.

    lease: the seconds that what it was asking waits after it died. files: a bucket
    to keep them in; without it, they are in `folder`.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONCORD_")}
    environment = {**kept, "DATABASE_URL": database or database_url(), "CONCORD_DATA": str(folder)}
    environment["CONCORD_LEASE_SECONDS"] = str(lease)
    environment["CONCORD_LOCAL_ENDPOINTS"] = "127.0.0.1:*"
    environment["PYTHONFAULTHANDLER"] = "1"
    if files:
        environment["CONCORD_FILES_URL"] = files
    if broker:
        environment["CONCORD_BROKER_URL"] = broker
    if is_redis(broker):
        environment["DJANGO_SETTINGS_MODULE"] = "tests.judges.worker_settings"
        environment["REDIS_PREFIX_OF_TEST"] = _prefix(folder)
    running = Worker(environment, folder / "worker.log")
    running.start()
    try:
        yield running
    finally:
        running.kill()
        if is_redis(broker):
            empty_broker(folder, broker)


def is_redis(broker: str) -> bool:
    """Return whether a broker is a Redis, which other runs use too; a RabbitMQ is a test's own."""
    return broker.startswith("redis")


def empty_broker(folder: Path, address: str) -> None:
    """Delete every message to the worker of this folder, whose broker is the folder or this Redis."""
    if not address:
        for message in (folder / "broker" / "queue").glob("*.msg"):
            message.unlink(missing_ok=True)
        return
    with Redis.from_url(address) as server:
        for key in server.scan_iter(f"{_prefix(folder)}*"):
            server.delete(key)


def _prefix(folder: Path) -> str:
    """Return what the keys of this folder's worker begin with, different in every test of every run."""
    return f"{folder}/"


def wait_until(true: Callable[[], bool], *, seconds: float = 300, every: float = 0.2) -> bool:
    """Return whether it came true; `seconds` only ends what hangs, on a machine with much other work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(every)
    return False
