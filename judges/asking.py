"""Asking one judgment until it is answered, unreadable or failed."""

import asyncio
import random
import time
from collections import deque
from dataclasses import replace

from judges.client import AskedInVain, Client, Reply
from judges.methods.base import Readable, Reading, Unreadable
from judges.models import Judgment
from judges.work import Outcome, Work

MOST_CALLS = 8
MOST_WAITS = 100  # as often is a judgment put off because the server asks to slow down
FIRST_PAUSE = 0.5  # seconds; doubled at each call in vain, with jitter
LONGEST_PAUSE = 30.0
SLOWER = 1.1
HALVED_AFTER = 60.0  # seconds
REMEMBERED = 1000  # answers
IN_VAIN_IN_A_ROW = 20  # so many calls without one answer mean that none will come


class NobodyAnswers(Exception):  # noqa: N818 - it reads as what happened
    """No call fares better than the others: the run has to stop, and the message says why."""


class NotAsked(Exception):  # noqa: N818 - it reads as what happened
    """The run ended before this judgment was asked for the first time."""


class Pace:
    """What all calls to one server share: when it may be asked again, and how it has fared lately.

    A server that asks to slow down is asked after its pause at the pace at which it answered before, a little
    slower; the distance between calls then halves every minute.
    """

    def __init__(self, calls_in_flight: int) -> None:
        self.places = asyncio.Semaphore(calls_in_flight)
        self.resting_until = 0.0
        self.begins_no_more = False
        self._in_vain = 0
        self._answered: deque[float] = deque(maxlen=REMEMBERED)
        self._distance = 0.0
        self._slowed_at = 0.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait as long as the server asked everyone to, and for one's turn."""
        while (pause := self._until_next()) > 0:
            await asyncio.sleep(pause)
        self._next = time.time() + self._distance * 0.5 ** ((time.time() - self._slowed_at) / HALVED_AFTER)

    def _until_next(self) -> float:
        return max(self.resting_until, self._next) - time.time()

    def rest(self, seconds: float) -> None:
        """Let nobody ask for so long, and then more slowly."""
        now = time.time()
        if now >= self.resting_until:
            window = max(seconds, 1.0)
            lately = sum(now - moment <= window for moment in self._answered)
            self._distance, self._slowed_at = SLOWER * window / max(lately, 1), now
        self.resting_until = max(self.resting_until, now + seconds)

    def note_answer(self) -> None:
        """Take note that the server answers."""
        self._answered.append(time.time())
        self._in_vain = 0

    def note_in_vain(self, sentence: str) -> None:
        """Take note of a call in vain; raise NobodyAnswers when there were too many in a row."""
        self._in_vain += 1
        if self._in_vain >= IN_VAIN_IN_A_ROW:
            raise NobodyAnswers(f"{self._in_vain} calls in a row had no answer. The last one: {sentence}")


async def ask(work: Work, client: Client, pace: Pace) -> Outcome:
    """Ask until there is an outcome. A reply without a usable score is asked for once more, then kept.

    Raises NotAsked when it was not begun before nothing more was to begin.
    """
    unreadable: Outcome | None = None
    spent = Outcome(work.judgment, Judgment.Status.FAILED, work.attempts)
    calls = waits = 0
    while calls < MOST_CALLS and waits < MOST_WAITS:
        try:
            reply = await _answer(work, client, pace, is_first=not calls + waits)
        except AskedInVain as error:
            spent = replace(spent, attempts=spent.attempts + 1, reason=error.sentence)
            if error.hopeless:
                return spent
            if error.wait is None:
                await _pause(calls)
                calls += 1
            else:
                pace.rest(error.wait)
                waits += 1
            continue
        calls += 1
        spent = _with_usage(spent, reply)
        outcome = _read(work, reply, spent)
        if outcome.status == Judgment.Status.DONE or unreadable is not None:
            return outcome
        unreadable = outcome
    return unreadable or replace(spent, reason=f"{calls + waits} calls failed. The last one: {spent.reason}")


def answered(work: Work, reply: Reply) -> Outcome:
    """Return what one reply comes to, with the tokens of this reply alone."""
    spent = Outcome(work.judgment, Judgment.Status.FAILED, work.attempts)
    return _read(work, reply, _with_usage(spent, reply))


async def _answer(work: Work, client: Client, pace: Pace, *, is_first: bool) -> Reply:
    async with pace.places:
        await pace.wait()
        if is_first and pace.begins_no_more:
            raise NotAsked
        try:
            reply = await client.ask(work.question)
        except AskedInVain as error:
            if error.lasting:
                raise NobodyAnswers(error.sentence) from error
            if error.wait is None:  # also one refused for itself: all may be refused for the same reason
                pace.note_in_vain(error.sentence)
            raise
    pace.note_answer()
    return reply


async def _pause(call: int) -> None:
    await asyncio.sleep(min(FIRST_PAUSE * 2**call, LONGEST_PAUSE) * random.uniform(0.5, 1.5))


def _with_usage(spent: Outcome, reply: Reply) -> Outcome:
    return replace(
        spent,
        attempts=spent.attempts + 1,
        input_tokens=_sum(spent.input_tokens, reply.input_tokens),
        output_tokens=_sum(spent.output_tokens, reply.output_tokens),
        seconds=reply.seconds,
    )


def _sum(before: int | None, now: int | None) -> int | None:
    return before if now is None else (before or 0) + now


def _read(work: Work, reply: Reply, spent: Outcome) -> Outcome:
    reading = read(work, reply)
    if isinstance(reading, Readable):
        status, value, rationale, reason = Judgment.Status.DONE, reading.value, reading.rationale, ""
    else:
        status, value, rationale, reason = Judgment.Status.UNREADABLE, None, "", reading.reason
    return replace(spent, status=status, value=value, rationale=rationale, reason=reason, reply=reply.text)


def read(work: Work, reply: Reply) -> Reading:
    """Return the reply's value as the judge reads it: from probabilities, from JSON or from the text."""
    if work.question.wants_probabilities:
        return _read_probabilities(work, reply)
    if work.structured:
        return work.method.read_structured(reply.text, work.dimension)
    return work.method.read(reply.text, work.dimension)


def _read_probabilities(work: Work, reply: Reply) -> Reading:
    """Weigh the answers by their probabilities at the token with which the reply gives its answer."""
    if reply.tokens is None:
        return Unreadable("The server gave no probabilities; choose a judge that reads the text.")
    position = work.method.answer_position(reply.text, work.dimension)
    if position is None:
        return work.method.read(reply.text, work.dimension)
    end = 0
    for token in reply.tokens:
        end += len(token.text)
        if position < end:
            return work.method.weighted_score(token.top_logprobs, work.dimension)
    return Unreadable("The probabilities end before the answer.")
