"""A server that answers with what a real model once replied about news summaries, as a provider would.

It lies beside the reference data. Where there is none, tests that need it are skipped, which CI forbids.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

import pytest

from tests.reference import reference_data


@dataclass(frozen=True)
class Replay:
    """A replay server that is running."""

    base_url: str
    process: "subprocess.Popen[str]"

    def stats(self) -> dict[str, Any]:
        """Return how often judgments were asked for and answered, and which status codes were sent."""
        with urlopen(f"{self.base_url.removesuffix('/v1')}/stats", timeout=10) as reply:
            stats: dict[str, Any] = json.load(reply)
        return stats


@contextmanager
def replaying(**options: float | str) -> Iterator[Replay]:
    """Run a replay server on a free port, with its own options: `replaying(latency=50, rate_limit=20)`."""
    script = reference_data().parent / "tools" / "replay" / "server.py"
    if not script.is_file():
        pytest.skip(f"There is no replay server at {script}.")
    given = [f"--{name.replace('_', '-')}={value}" for name, value in {"port": 0, **options}.items()]
    process = subprocess.Popen([sys.executable, str(script), *given], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), f"the replay server did not start: {line!r}"
        yield Replay(line.removeprefix("listening on ").strip(), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def replay() -> Iterator[Callable[..., Replay]]:
    """Start replay servers with options; all are gone at the end of the test."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(replaying(**options))
