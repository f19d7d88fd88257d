"""Concord as other people start it: in processes of its own, with settings of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 600  # seconds; it only ends what hangs, on a machine with much other work


def environment(data: Path, **variables: str) -> dict[str, str]:
    """Return this process's environment with nothing set for Concord but the given variables."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("CONCORD_", "DATABASE_"))
    }
    return own | {"CONCORD_DATA": str(data)} | variables


def manage(*arguments: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run one of Django's commands to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(data, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def eventually(holds: Callable[[], bool]) -> bool:
    """Return whether something comes to hold within the longest time."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.05)
    return False


@dataclass
class Started:
    """A Concord that `manage.py start` runs."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def get(self, path: str) -> str:
        """Return the page at `path`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=LONGEST) as reply:
            page: bytes = reply.read()
        return page.decode()

    def answers(self) -> bool:
        """Return whether the web server answers."""
        try:
            return "<html" in self.get("/accounts/login/")
        except OSError:
            return False

    def works(self) -> bool:
        """Return whether the worker waits for tasks."""
        return "ready." in self.log.read_text()

    def stop(self, how: signal.Signals) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(LONGEST)


def start(data: Path, *, empty: bool = True) -> Started:
    """Start Concord and return when web and worker are there; with the demonstrations if not `empty`."""
    data.mkdir(exist_ok=True)
    port, log = free_port(), data / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "start", *(["--empty"] if empty else []), "--port", str(port)],
            cwd=ROOT,
            env=environment(data),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_heed_a_closed_terminal,
        )
    started = Started(process, port, log)
    if not eventually(lambda: started.answers() and started.works()):
        started.stop(signal.SIGTERM)
        pytest.fail(f"web or worker did not start:\n{log.read_text()}")
    return started


def _heed_a_closed_terminal() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests may run under nohup, whose children ignore it


def descendants(pid: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    children = {child for child, parent in parents().items() if parent == pid}
    return children.union(*(descendants(child) for child in children))


def parents() -> dict[int, int]:
    """Return the parent of every process that is not a zombie, as Linux tells in /proc."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(stat.parent.name)] = int(parent)
    return found


def alive(pids: set[int]) -> set[int]:
    """Return which of these processes still run."""
    return pids & set(parents())
