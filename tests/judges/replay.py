"""A server that answers with what a real model once replied about news summaries, as a provider would.

It lies beside the reference data. Where there is none, tests that need it are skipped, which CI forbids.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.reference import reference_data

# A server reads its replies for a third of a second, and a hundred tests start one.
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["tests.judges.replay_server"])


@dataclass(frozen=True)
class Replay:
    """A replay server that is running."""

    base_url: str

    def stats(self) -> dict[str, Any]:
        """Return how often judgments were asked for and answered, and which status codes were sent."""
        with urlopen(f"{self.base_url.removesuffix('/v1')}/stats", timeout=10) as reply:
            stats: dict[str, Any] = json.load(reply)
        return stats


def script() -> Path:
    """Return the server's program; without it, the test is skipped."""
    path = reference_data().parent / "tools" / "replay" / "server.py"
    if not path.is_file():
        pytest.skip(f"There is no replay server at {path}.")
    return path


@contextmanager
def replaying(**options: float | str) -> Iterator[Replay]:
    """Run a replay server on a free port, with its own options: `replaying(latency=50, rate_limit=20)`."""
    script()
    given = [f"--{name.replace('_', '-')}={value}" for name, value in {"port": 0, **options}.items()]
    output, its_output = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=serve, args=(given, its_output), daemon=True)
    process.start()
    its_output.close()
    try:
        with open(output.fileno(), closefd=False) as lines:
            line = lines.readline()
        assert line.startswith("listening on "), f"the replay server did not start: {line!r}"
        yield Replay(line.removeprefix("listening on ").strip())
    finally:
        process.kill()
        process.join()
        output.close()


def serve(arguments: list[str], output: Connection) -> None:
    """Be a replay server, in a process that has read the replies before it was forked."""
    from tests.judges.replay_server import run

    run(arguments, output)


@pytest.fixture
def replay() -> Iterator[Callable[..., Replay]]:
    """Start replay servers with options; all are gone at the end of the test."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(replaying(**options))
