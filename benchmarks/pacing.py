"""How fast calls go to a server whose limit changes, beside a client that knows the limit at every moment.

python benchmarks/pacing.py

A scripted server inside this process answers after some time, or with 429 and a Retry-After when more calls
come in a second than its script allows then. It is asked by what workers ask with (judges.runs.asking and its
rate limiter), for one or two runs, on a clock that jumps to the next event: the values are the same on every
machine, and minutes take moments. Ends with 1 where a ratio is too small.
"""

import asyncio
import os
import selectors
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")

import django

django.setup()

from annotate.core.guideline import FrozenDimension  # noqa: E402
from judges.endpoints.failures import RequestFailed  # noqa: E402
from judges.endpoints.questions import Question, Reply  # noqa: E402
from judges.endpoints.work import JudgmentWork  # noqa: E402
from judges.methods import METHODS  # noqa: E402
from judges.methods.base import Message  # noqa: E402
from judges.runs.asking import Asking  # noqa: E402
from judges.runs.pacing import RateLimiter, RunPace  # noqa: E402

MODEL = "m"


class JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing: where a loop would sleep, its clock jumps."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready, as if so many seconds had passed."""
        self.now += max(timeout or 0.0, 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop on a clock that jumps to the next event."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the seconds that were jumped over."""
        return self._jumping.now


@dataclass(frozen=True)
class Phase:
    """For so many seconds the server answers `limit` calls a second (None: all), the others wait so long."""

    seconds: float
    limit: float | None
    retry_after: float = 1.0


@dataclass
class Scripted:
    """A server that follows a script; it stands for the client of a server too."""

    script: Sequence[Phase]
    latency: float
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    recent: deque[float] = field(default_factory=deque)
    timeout_seconds: float = 60.0

    async def ask_samples(self, question: Question) -> list[Reply]:  # noqa: ARG002 - as the client's
        """Answer or refuse as the script says; raises RequestFailed."""
        now = asyncio.get_running_loop().time()
        phase = self.phase(now)
        while self.recent and now - self.recent[0] >= 1:
            self.recent.popleft()
        if phase.limit is not None and len(self.recent) >= phase.limit:
            self.refused.append(now)
            await asyncio.sleep(self.latency / 10)
            raise RequestFailed("The server asks to slow down.", wait=phase.retry_after)
        self.recent.append(now)
        await asyncio.sleep(self.latency)
        self.answered.append(now + self.latency)
        return [Reply("Score: 4", 1, 1, self.latency)]

    def phase(self, now: float) -> Phase:
        """Return what the script says of a moment."""
        for phase in self.script:
            if now < phase.seconds:
                return phase
            now -= phase.seconds
        return self.script[-1]


@dataclass(frozen=True)
class PendingRows:
    """What came of a script: calls a second and 429s, over each of its phases."""

    server: Scripted
    calls: int

    def answered(self, begin: float, end: float) -> float:
        """Return calls a second between two moments."""
        return sum(begin <= moment < end for moment in self.server.answered) / (end - begin)

    def ideal(self, begin: float, end: float) -> float:
        """Return the same of a client that knows the limit at every moment, with as many calls in flight."""
        fastest = self.calls / self.server.latency
        limits = [self.server.phase(begin + step / 10).limit for step in range(int((end - begin) * 10))]
        return sum(min(fastest, fastest if limit is None else limit) for limit in limits) / len(limits)

    def refused(self, begin: float, end: float) -> int:
        """Return how many calls were answered by 429 between two moments."""
        return sum(begin <= moment < end for moment in self.server.refused)


def ask_through(script: Sequence[Phase], *, latency: float, calls: int, runs: int = 1) -> PendingRows:
    """Let runs ask a scripted server to the end of its script, with so many calls in flight together."""
    server = Scripted(script, latency)
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(_work(server, calls, runs))
    return PendingRows(server, calls)


async def _work(server: Scripted, calls: int, runs: int) -> None:
    limiter = RateLimiter(calls_in_flight=calls, clock=asyncio.get_running_loop().time)
    paces = [limiter.add_run() for _ in range(runs)]
    tasks = [asyncio.create_task(_ask_again_and_again(server, pace)) for pace in paces for _ in range(calls)]
    await asyncio.sleep(sum(phase.seconds for phase in server.script))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ask_again_and_again(server: Scripted, pace: RunPace) -> None:
    while True:
        await Asking([WORK]).ask(server, pace, lambda _: None)  # type: ignore[arg-type]


DIMENSION = FrozenDimension(1, "fluency", "Fluency", "", "", 1, 5, "ordinal", ())
WORK = JudgmentWork(
    judgment=1,
    question=Question(MODEL, (Message("user", "?"),), temperature=1, max_tokens=9),
    method=METHODS["rts"],
    dimension=DIMENSION,
    structured=False,
    attempts=0,
)


@dataclass(frozen=True)
class Case:
    """A script, and the part of it that counts."""

    name: str
    script: Sequence[Phase]
    begin: float
    end: float
    wanted: float
    latency: float = 0.4
    calls: int = 16
    runs: int = 1


def steady(limit: float, retry_after: float, seconds: float = 300) -> Sequence[Phase]:
    """A limit that stands."""
    return [Phase(seconds, limit, retry_after)]


def outage(seconds: float, retry_after: float) -> Sequence[Phase]:
    """A server without a limit, one that refuses every call for some seconds, then none again."""
    return [Phase(60, None), Phase(seconds, 0, retry_after), Phase(120, None)]


REFUSED_AT_FIRST = [Phase(1, 0, 20), Phase(120, None)]
CASES = [
    Case("16 calls refused at first, 20 s", REFUSED_AT_FIRST, 21, 51, 0.5),
    Case("the same with answers of 50 ms", REFUSED_AT_FIRST, 21, 51, 0.5, latency=0.05),
    Case("refuses all for 5 s, 20 s", outage(5, 20), 80, 110, 0.5),
    Case("refuses all for 60 s, 1 s", outage(60, 1), 121, 151, 0.5),
    Case("3 a second, 1 s", steady(3, 1), 0, 300, 0.7, calls=24),
    Case("20 a second, 1 s", steady(20, 1), 0, 300, 0.8),
    Case("20 a second, 1 s, two runs", steady(20, 1), 0, 300, 0.8, runs=2),
    Case("100 a second, 1 s, 64 calls", steady(100, 1), 0, 300, 0.8, calls=64),
    Case("20 a second, 20 s", steady(20, 20), 0, 300, 0.6),
    Case("20, then 4, then 20 again", [Phase(60, 20), Phase(60, 4), Phase(60, 20)], 120, 180, 0.6),
]


def main() -> None:
    """Ask each scripted server, report; the exit code is 1 where a ratio is smaller than wanted."""
    columns = f"{'calls/s':>9}{'ideal/s':>9}{'ratio':>8}{'wanted':>8}{'429s':>7}{'429s/answer':>13}"
    print(f"{'limit, Retry-After':<36}{'from':>6}{'to':>6}{columns}")
    good = True
    for case in CASES:
        came = ask_through(case.script, latency=case.latency, calls=case.calls, runs=case.runs)
        ours, ideal = came.answered(case.begin, case.end), came.ideal(case.begin, case.end)
        refused = came.refused(case.begin, case.end)
        per_answer = refused / max(ours * (case.end - case.begin), 1)
        good = good and ours >= case.wanted * ideal
        figures = (
            f"{ours:>9.1f}{ideal:>9.1f}{ours / ideal:>8.0%}{case.wanted:>8.0%}{refused:>7}{per_answer:>13.1%}"
        )
        print(f"{case.name:<36}{case.begin:>5.0f}s{case.end:>5.0f}s{figures}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
