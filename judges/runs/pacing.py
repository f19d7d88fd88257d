"""When the next call to a server may begin: places, pauses that the server asked for, and how calls fare."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

SLOWER = 1.1
HALVED_AFTER = 60.0  # seconds
REMEMBERED = 1000  # answers
MAX_CONSECUTIVE_FAILURES = 20  # so many calls without one answer mean that none will come


class NobodyAnswers(Exception):  # noqa: N818 - it reads as what happened
    """No call fares better than the others: the run has to stop, and the message says why."""


class Stopped(Exception):  # noqa: N818 - it reads as what happened
    """No call begins any more: the slice is over, or the run does not go on."""


class ConsecutiveFailures:
    """How many calls in a row had no answer.

    A worker keeps it from one slice of a run to the next: where a call takes longer than a slice, no slice
    would see enough of them.
    """

    def __init__(self) -> None:
        self._failures = 0

    def note_answer(self) -> None:
        """Take note that the server answers."""
        self._failures = 0

    def note_failure(self, sentence: str) -> None:
        """Take note of a call in vain; raise NobodyAnswers when there were too many in a row."""
        self._failures += 1
        if self._failures >= MAX_CONSECUTIVE_FAILURES:
            many, self._failures = self._failures, 0  # whoever resumes the run has as much patience again
            raise NobodyAnswers(f"{many} calls in a row had no answer. The last one: {sentence}")


class RateLimiter:
    """What all calls of a slice to one server share: places, when it may be asked again, how it has fared.

    A server that asks to slow down is asked after its pause at the pace at which it answered before, a little
    slower; the distance between calls then halves every minute.
    """

    def __init__(self, *, patience: ConsecutiveFailures) -> None:
        self.places = 0
        self.in_flight = 0
        self.resting_until = 0.0
        self.patience = patience
        self._stopped = asyncio.Event()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._answered: deque[float] = deque(maxlen=REMEMBERED)
        self._distance = 0.0
        self._slowed_at = 0.0
        self._next = 0.0

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
    async def call(self) -> AsyncIterator[None]:
        """Hold a place when the server may be asked; raises Stopped."""
        await self._take_place()
        try:
            await self._wait_for_turn()
            yield
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

    async def _wait_for_turn(self) -> None:
        while (pause := max(self.resting_until, self._next) - time.time()) > 0:
            await self.sleep(pause)
        self._next = time.time() + self._distance * 0.5 ** ((time.time() - self._slowed_at) / HALVED_AFTER)

    def _refuse_if_stopped(self) -> None:
        if self.is_stopped:
            raise Stopped

    def back_off(self, seconds: float) -> None:
        """Let nobody ask for so long, and then more slowly."""
        now = time.time()
        if now >= self.resting_until:
            lately = self.answered_within(max(seconds, 1.0))
            self._distance, self._slowed_at = SLOWER * max(seconds, 1.0) / max(lately, 1), now
        self.resting_until = max(self.resting_until, now + seconds)

    def answered_within(self, seconds: float) -> int:
        """Return how many calls were answered in the last so many seconds."""
        now = time.time()
        return sum(now - moment <= seconds for moment in self._answered)

    def note_answer(self) -> None:
        """Take note that the server answers."""
        self._answered.append(time.time())
        self.patience.note_answer()
