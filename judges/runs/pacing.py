"""When the next call to a server may begin: calls in flight, pauses that it asked for, and how calls fare.

After a rate-limit error the rate follows multiplicative decrease and additive increase, as in TCP (Chiu and
Jain 1989). Calls continue at `DECREASE` times the rate at which the server answered before, and return
linearly to that rate. Beyond it they search by doubling (slow start, Jacobson 1988): a lifted limit is
noticed within seconds, a permanent one costs one more pause. If a limit persists, each climb is twice as long
as the one before. Pure: no database.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from math import inf

from django.utils.translation import gettext

from judges.endpoints.failures import RequestFailed

DECREASE = 0.85
FIRST_RATE = 1.0  # calls per second if the server answered none before the error
DOUBLED_IN = 2.0  # seconds
MOST = 1000.0  # calls a second; one worker makes no more, so a higher rate is none
FIRST_CLIMB, LONGEST_CLIMB = 10.0, 20.0  # seconds
# A climb that ends in a pause should be long compared with the pause, or most of the time would be idle.
CLIMB_PER_PAUSE = 4.0
SAME_LIMIT = 1.5  # maximum difference of two rates under the same limit
LATE_ANSWERS = 1.1
LAST_ANSWERS = 5  # number of answers counted, or all of the last second if these are more
LONGEST_LOOK_BACK = 30.0  # seconds
REMEMBERED = 1000  # answers
LATE = 0.05  # seconds
LOOK_AGAIN_AFTER = 1.0  # seconds
# A rejected request has failed permanently, so continuing would only add failed judgments: this many in a row
# without an answer have the same cause.
MAX_CONSECUTIVE_REFUSALS = 20


@dataclass(frozen=True)
class Slowdown:
    """The data of a server's request to slow down.

    rate: calls per second that it answered before; None: none. resumes_at: the end of its pause, in seconds
    of the clock that this module uses. climb: seconds in which calls return to that rate.
    """

    rate: float | None
    resumes_at: float
    climb: float = FIRST_CLIMB


def allowed_rate(slowdown: Slowdown | None, now: float) -> float:
    """Return the number of calls per second that may start, infinity without a limit."""
    if slowdown is None:
        return inf
    since = max(now - slowdown.resumes_at, 0.0)
    if slowdown.rate is None:
        # No earlier rate is known, so the rate doubles until the server objects.
        rate = FIRST_RATE * 2 ** min(since / DOUBLED_IN, 50)
    elif since < slowdown.climb:
        # Additive increase: linear, from DECREASE times the earlier rate back to it.
        rate = slowdown.rate * (DECREASE + (1 - DECREASE) * since / slowdown.climb)
    else:
        # Beyond the earlier rate: doubling finds out soon whether the limit is lifted.
        rate = slowdown.rate * 2 ** min((since - slowdown.climb) / DOUBLED_IN, 50)
    return rate if rate < MOST else inf


def slow_down(before: Slowdown | None, *, now: float, wait: float, answered: float) -> Slowdown:
    """Return the slowdown after a server requests a pause of `wait` seconds.

    answered: recent calls per second that it answered, 0 if none.
    """
    resumes_at = now + wait
    if not answered:
        return Slowdown(None, resumes_at)
    # Answers come a call's time after their calls began: while the rate grows there are too few of them.
    rate = min(LATE_ANSWERS * answered, allowed_rate(before, now))
    climb = FIRST_CLIMB
    # The server objects at about the same rate again, so its limit persists: climb more slowly.
    if before is not None and before.rate and 1 / SAME_LIMIT < rate / before.rate < SAME_LIMIT:
        climb = min(2 * before.climb, max(LONGEST_CLIMB, CLIMB_PER_PAUSE * wait))
    return Slowdown(rate, resumes_at, climb)


def answered_rate(answered: Sequence[float], *, now: float, since: float) -> float:
    """Return the number of calls per second answered recently, 0 if none.

    answered: times of the last answers, in ascending order. since: the start of calls, or their end of a
    pause.
    """
    lately = [moment for moment in answered if moment > max(since, now - LONGEST_LOOK_BACK)]
    if not lately:
        return 0.0
    # From the fifth last answer on, and over a second at least, in which more may have come.
    begin = min(lately[-LAST_ANSWERS:][0], now - 1.0)
    return sum(moment >= begin for moment in lately) / (now - begin)


class RunMustStop(Exception):  # noqa: N818 - it reads as what happened
    """Every further call would fail, permanently; the message gives the reason."""


class Stopped(Exception):  # noqa: N818 - it reads as what happened
    """No call begins any more: the worker stops, or the run does not go on."""


class ConsecutiveRefusals:
    """How many requests of a run in a row the server refused; a worker remembers it."""

    def __init__(self) -> None:
        self._refusals = 0

    def note_answer(self) -> None:
        self._refusals = 0

    def note_refusal(self, sentence: str) -> None:
        """Record a rejected request; raise RunMustStop after too many in a row."""
        self._refusals += 1
        if self._refusals >= MAX_CONSECUTIVE_REFUSALS:
            many, self._refusals = self._refusals, 0  # resuming the run resets the count
            says = gettext("{count} requests in a row were refused. The last one: {reason}")
            raise RunMustStop(says.format(count=many, reason=sentence))


class RateLimiter:
    """The limits of one server for all runs that call it, and how their calls have fared.

    A model that asks to slow down is called after its pause at a rate that `Slowdown` gives. One
    worker at a time calls a server, so all of this is in its memory; `unsaved_slowdowns` and `resting_until`
    are stored for the worker after it. `models_without_n`: those of which the server gives no several samples
    in one call. The clock is that of the wall, which workers share.
    """

    def __init__(
        self,
        *,
        calls_in_flight: int,
        models_without_n: set[str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.calls_in_flight = calls_in_flight
        self.resting_until = 0.0
        self.models_without_n = set() if models_without_n is None else models_without_n
        self.last_failure: RequestFailed | None = None  # since the last answer, not stored yet
        self.was_answered = False  # and that is not stored yet
        self.server_is_silent = False
        self.slowdowns: dict[str, Slowdown] = {}
        self.unsaved_slowdowns: set[str] = set()  # models
        self.learned_names: dict[str, str] = {}  # of the longest reply, by model, not stored yet
        self.clock = clock
        self.order = count()
        self._runs: list[RunPace] = []
        self._answered: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._next: defaultdict[str, float] = defaultdict(float)
        self._slowed_at: dict[str, float] = {}
        self._began = clock()

    @property
    def in_flight(self) -> int:
        return sum(run.in_flight for run in self._runs)

    @property
    def held_judgments(self) -> int:
        """Judgments of all runs that are in calls or not stored yet."""
        return sum(run.held_judgments for run in self._runs)

    @property
    def runs(self) -> int:
        return len(self._runs)

    def add_run(self, refusals: ConsecutiveRefusals | None = None) -> "RunPace":
        """Let one more run call the server."""
        run = RunPace(self, refusals or ConsecutiveRefusals())
        self._runs.append(run)
        return run

    def remove_run(self, run: "RunPace") -> None:
        """Forget a run whose calls have ended."""
        self._runs.remove(run)

    def begin_waiting_calls(self) -> None:
        """Begin calls that wait, one of each run in turn: the run with fewest calls in flight comes first."""
        free = self.calls_in_flight - self.in_flight
        while free > 0 and (runs := [run for run in self._runs if run.waiting]):
            # Of runs with equally many calls, the one that waits longest comes first.
            next_run = min(runs, key=lambda run: (run.in_flight, run.last_began))
            turn = next_run.waiting.popleft()
            if not turn.done():  # it was cancelled
                next_run.begin_call()
                turn.set_result(None)
                free -= 1

    async def wait_for_turn(self, run: "RunPace", model: str) -> None:
        """Wait until a model may be called; raises Stopped."""
        while (pause := max(self.resting_until, self._next[model]) - self.clock()) > 0:
            # The rate may have grown, or a pause started, by the end of a long wait.
            await run.sleep(min(pause, LOOK_AGAIN_AFTER))
        now = self.clock()
        distance = 1 / allowed_rate(self.slowdowns.get(model), now)
        # A delay of a busy event loop is partly made up; otherwise no rate would ever be reached.
        self._next[model] = max(self._next[model], now - LATE) + distance

    def rest(self, seconds: float) -> None:
        """Begin no call for so long."""
        self.resting_until = max(self.resting_until, self.clock() + seconds)

    def back_off(self, model: str, *, began: float, seconds: float) -> None:
        """Begin no call for so long, and then call the model more slowly.

        began: when the call began that the server answered so. Calls that were in flight at the last slowdown
        belong to it: they only make its pause longer.
        """
        now, before = self.clock(), self.slowdowns.get(model)
        if before is not None and began <= self._slowed_at.get(model, 0.0):
            after = replace(before, resumes_at=max(before.resumes_at, now + seconds))
        else:
            since = max(self._began, before.resumes_at if before else 0.0)
            answered = answered_rate(self._answered[model], now=now, since=since)
            after = slow_down(before, now=now, wait=seconds, answered=answered)
            self._slowed_at[model] = now
        self.slowdowns[model] = after
        self.unsaved_slowdowns.add(model)
        self.rest(seconds)

    def answered_within(self, seconds: float) -> int:
        """Return the number of calls answered in the last `seconds`."""
        now = self.clock()
        return sum(now - moment <= seconds for answered in self._answered.values() for moment in answered)

    def note_answer(self, model: str) -> None:
        self._answered[model].append(self.clock())
        self.last_failure, self.was_answered = None, True


class RunPace:
    """The calls of one run within the limits of its server."""

    def __init__(self, limiter: RateLimiter, refusals: ConsecutiveRefusals) -> None:
        self.limiter = limiter
        self.refusals = refusals
        self.in_flight = 0
        self.held_judgments = 0  # judgments in calls or not stored yet, as the run's pipeline counts them
        self.last_began = -1  # in the order of the server's calls
        self.waiting: deque[asyncio.Future[None]] = deque()
        self._stopped = asyncio.Event()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        """Begin no more calls of the run; those that wait get Stopped at once."""
        self._stopped.set()
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_exception(Stopped())

    @asynccontextmanager
    async def call(self, model: str) -> AsyncIterator[float]:
        """Wait until a model may be called, and give the moment at which the call begins; raises Stopped."""
        await self._wait_until_free()
        try:
            self._raise_if_stopped()
            await self.limiter.wait_for_turn(self, model)
            yield self.limiter.clock()
        finally:
            self._end_call()

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`; raises Stopped as soon as no further call starts."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        self._raise_if_stopped()

    def begin_call(self) -> None:
        self.in_flight += 1
        self.last_began = next(self.limiter.order)

    def _end_call(self) -> None:
        self.in_flight -= 1
        self.limiter.begin_waiting_calls()

    async def _wait_until_free(self) -> None:
        self._raise_if_stopped()
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        self.limiter.begin_waiting_calls()
        try:
            await turn
        except asyncio.CancelledError:
            # Its turn came in the same moment. A turn with an exception never came: the run was stopped.
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._end_call()
            raise

    def _raise_if_stopped(self) -> None:
        if self.is_stopped:
            raise Stopped
