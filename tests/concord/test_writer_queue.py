"""Writers of a SQLite file get their turn in the order in which they came."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import OperationalError, connection, transaction

from annotate.core.database import set_patience
from annotate.core.models import Project
from concord.sqlite.base import WriterQueue, queue_of

pytestmark = pytest.mark.once
needs_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="PostgreSQL lets several connections write"
)
LONG = 30.0

OTHER_PROCESS = """
import sys
from concord.sqlite.base import WriterQueue
queue = WriterQueue(sys.argv[1])
print("waits", flush=True)
assert queue.acquire(30)
print("writes", flush=True)
sys.stdin.readline()
queue.release()
print("done", flush=True)
sys.stdin.readline()
"""


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.001)


def locks_of(path: Path) -> set[str]:
    """Return the bytes of a file that processes have locked."""
    inode = f":{path.stat().st_ino}" if path.exists() else "none"
    rows = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return {row[6] for row in rows if "->" not in row and row[5].endswith(inode)}


@contextmanager
def other_process(path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def let_go_on(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def test_threads_write_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    queue = WriterQueue(str(tmp_path / "queue"))
    order: list[int] = []

    def write(number: int) -> None:
        assert queue.acquire(LONG)
        order.append(number)
        queue.release()

    assert queue.acquire(LONG)
    with ThreadPoolExecutor(5) as threads:
        for number in range(5):
            threads.submit(write, number)
            wait_until(lambda number=number: len(queue._waiting) == number + 1)  # type: ignore[misc]
        queue.release()
    assert order == [0, 1, 2, 3, 4]


def test_a_thread_that_gives_up_leaves_the_queue(tmp_path: Path) -> None:
    queue = WriterQueue(str(tmp_path / "queue"))
    assert queue.acquire(LONG)
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(queue.acquire, 0.01).result(LONG) is False
    queue.release()
    assert queue.acquire(0)


def test_a_process_that_waits_comes_before_this_ones_next_thread(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    queue = WriterQueue(str(path))
    assert queue.acquire(LONG)
    with other_process(path) as other, ThreadPoolExecutor(1) as threads:
        assert line_of(other) == "waits"
        wait_until(lambda: len(locks_of(path)) == 2)  # this process writes, the other is next
        mine = threads.submit(queue.acquire, LONG)
        wait_until(lambda: len(queue._waiting) == 1)
        queue.release()
        assert line_of(other) == "writes"
        assert not mine.done()
        let_go_on(other)
        assert line_of(other) == "done"
        assert mine.result(LONG)
        queue.release()


def test_killed_process_blocks_no_one(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    with other_process(path) as other:
        assert (line_of(other), line_of(other)) == ("waits", "writes")
        queue = WriterQueue(str(path))
        assert not queue.acquire(0.01)
        other.kill()
        assert queue.acquire(LONG)


def test_writer_without_a_queue_file_does_not_queue(tmp_path: Path) -> None:
    queue = WriterQueue(str(tmp_path / "missing" / "queue"))
    assert queue.acquire(0)
    queue.release()
    assert queue.acquire(0)


@needs_sqlite
@pytest.mark.django_db(transaction=True)
def test_transactions_and_single_statements_queue() -> None:
    queue = queue_of(str(connection.settings_dict["NAME"]))
    set_patience(0.01)
    try:
        assert queue.acquire(LONG)
        with pytest.raises(OperationalError, match="database is locked"), transaction.atomic():
            pass
        with pytest.raises(OperationalError, match="database is locked"):
            Project.objects.update(name="x")
        assert not Project.objects.exists()  # reading waits for nobody
        queue.release()
        Project.objects.update(name="x")
        with pytest.raises(RuntimeError), transaction.atomic():
            raise RuntimeError
        with transaction.atomic():
            Project.objects.update(name="y")
            assert not queue.acquire(0)
        assert queue.acquire(0)
        queue.release()
    finally:
        connection.close()
