"""When the next call to a server may begin: places, pauses that the server asked for, and how calls fare."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from django.utils.translation import gettext

from judges.runs.rates import Slowdown, allowed_rate, answered_rate

REMEMBERED = 1000  # answers
LATE = 0.05  # seconds
LOOK_AGAIN_AFTER = 1.0  # seconds
# A refused request has failed for good, so waiting would only add to the failed judgments: so many in a row
# without one answer mean that all are refused for the same reason.
MAX_CONSECUTIVE_REFUSALS = 20


class RunMustStop(Exception):  # noqa: N818 - it reads as what happened
    """No call fares better than the others, and no time mends that; the message says why."""


class Stopped(Exception):  # noqa: N818 - it reads as what happened
    """No call begins any more: the slice is over, or the run does not go on."""


class ConsecutiveRefusals:
    """How many requests in a row the server refused; a worker keeps it from slice to slice of a run."""

    def __init__(self) -> None:
        self._refusals = 0

    def note_answer(self) -> None:
        """Take note of an answer."""
        self._refusals = 0

    def note_refusal(self, sentence: str) -> None:
        """Take note of a refused request; raise RunMustStop when there were too many in a row."""
        self._refusals += 1
        if self._refusals >= MAX_CONSECUTIVE_REFUSALS:
            many, self._refusals = self._refusals, 0  # whoever resumes the run begins anew
            raise RunMustStop(
                gettext("{count} requests in a row were refused. The last one: {reason}").format(
                    count=many, reason=sentence
                )
            )


@dataclass(frozen=True)
class FailedCall:
    """Why a call had no answer; `asked_to_wait`: the server is there, and takes none yet."""

    sentence: str
    asked_to_wait: bool


@dataclass(frozen=True)
class AskedToWait:
    """That a server asked to wait so many seconds when a call was `told` that, which began at `began`.

    answered: calls a second that the server answered lately, to all workers.
    """

    began: float
    told: float
    seconds: float
    answered: float


class RateLimiter:
    """What all calls of a slice to one server share: places, when it may be asked again, how it has fared.

    A model that asks to slow down is asked after its pause at a rate that `judges.runs.rates` says. Workers
    share what they learn: `slowdowns` is what is known by all, `share` this slice's part of the rate, and
    `asked_to_wait` what the others were not told yet. `models_without_n`: those of which the server gives no
    several samples in one call. The clock is that of the wall, which workers share too.
    """

    def __init__(
        self,
        *,
        refusals: ConsecutiveRefusals,
        models_without_n: set[str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.places = 0
        self.in_flight = 0
        self.resting_until = 0.0
        self.refusals = refusals
        self.models_without_n = set() if models_without_n is None else models_without_n
        self.last_failure: FailedCall | None = None  # since the last answer, not told others yet
        self.was_answered = False  # and other workers were not told yet
        self.server_is_silent = False
        self.share = 1.0
        self.slowdowns: Mapping[str, Slowdown] = {}
        self.asked_to_wait: dict[str, AskedToWait] = {}
        self.learned_names: dict[str, str] = {}  # of the longest reply, by model, not stored yet
        self._clock = clock
        self._stopped = asyncio.Event()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._answered: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._next: defaultdict[str, float] = defaultdict(float)
        self._began = clock()

    @property
    def is_stopped(self) -> bool:
        """Whether no call begins any more."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Let no call begin any more; who waits for a place or a pause gets Stopped at once."""
        self._stopped.set()
        self._wake(len(self._waiting))

    def give_places(self, places: int) -> None:
        """Let so many calls be in flight; where there are more, they end first."""
        self.places = places
        self._wake(places - self.in_flight)

    @asynccontextmanager
    async def call(self, model: str) -> AsyncIterator[float]:
        """Hold a place when a model may be asked, and give the moment at which the call begins.

        Raises Stopped.
        """
        await self._take_place()
        try:
            await self._wait_for_turn(model)
            yield self._clock()
        finally:
            self.in_flight -= 1
            self._wake(1)

    async def sleep(self, seconds: float) -> None:
        """Wait so long; raises Stopped as soon as no call begins any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        self._refuse_if_stopped()

    async def _take_place(self) -> None:
        self._refuse_if_stopped()
        while self.in_flight >= self.places:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
            self._refuse_if_stopped()
        self.in_flight += 1

    def _wake(self, how_many: int) -> None:
        while how_many > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # who was cancelled waits no more
                turn.set_result(None)
                how_many -= 1

    async def _wait_for_turn(self, model: str) -> None:
        while (pause := max(self.resting_until, self._next[model]) - self._clock()) > 0:
            # The rate may have grown, or a pause begun, when a long wait is over.
            await self.sleep(min(pause, LOOK_AGAIN_AFTER))
        now = self._clock()
        distance = 1 / (allowed_rate(self.slowdowns.get(model), now) * self.share)
        # What a busy event loop was late is caught up with, a little; else no rate would ever be reached.
        self._next[model] = max(self._next[model], now - LATE) + distance

    def _refuse_if_stopped(self) -> None:
        if self.is_stopped:
            raise Stopped

    def rest(self, seconds: float) -> None:
        """Let nobody ask for so long."""
        self.resting_until = max(self.resting_until, self._clock() + seconds)

    def back_off(self, model: str, *, began: float, seconds: float) -> None:
        """Let nobody ask for so long, and then the model more slowly.

        began: when the call did that says so. The first of several counts that were in flight together.
        """
        if model not in self.asked_to_wait:
            answered = self._answered_rate(model) / self.share
            self.asked_to_wait[model] = AskedToWait(began, self._clock(), seconds, answered)
        self.rest(seconds)

    def _answered_rate(self, model: str) -> float:
        known = self.slowdowns.get(model)
        since = max(self._began, known.resumes_at if known else 0.0)
        return answered_rate(self._answered[model], now=self._clock(), since=since)

    def answered_within(self, seconds: float) -> int:
        """Return how many calls were answered in the last so many seconds."""
        now = self._clock()
        return sum(now - moment <= seconds for answered in self._answered.values() for moment in answered)

    def note_answer(self, model: str) -> None:
        """Take note that the server answers."""
        self._answered[model].append(self._clock())
        self.last_failure, self.was_answered = None, True
        self.refusals.note_answer()
