"""Asking one judgment until it is answered, unreadable or failed."""

import asyncio
import random
from dataclasses import replace

from judges.core.models import Judgment
from judges.endpoints.client import Client, Reply, RequestFailed
from judges.endpoints.work import Outcome, Work
from judges.methods.base import Readable, Reading, Unreadable
from judges.runs.pacing import NobodyAnswers, RateLimiter, Stopped

MAX_ATTEMPTS = 8
MAX_WAITS = 100  # as often is a judgment put off because the server asks to slow down
FIRST_PAUSE = 0.5  # seconds; doubled at each call in vain, with jitter
LONGEST_PAUSE = 30.0
LATE = 1.0  # seconds by which the client may be late with its own timeout


class NotAsked(Exception):  # noqa: N818 - it reads as what happened
    """Calls were stopped before this judgment was asked for the first time."""


async def ask(work: Work, client: Client, pace: RateLimiter, *, longest: float) -> Outcome:
    """Ask until there is an outcome. A reply without a usable score is asked for once more, then kept.

    longest: the seconds that a call may take. When calls are stopped, what was asked without an outcome is
    put back as planned, with its calls counted: another slice makes those that are left of MOST_CALLS.
    Raises NotAsked where there was none.
    """
    unreadable = work.unreadable
    earlier = unreadable.earlier if unreadable else None
    spent = Outcome(work.judgment, Judgment.Status.FAILED, work.attempts, earlier=earlier)
    before = calls = work.attempts % MAX_ATTEMPTS
    waits, pause = 0, 0.0
    while calls < MAX_ATTEMPTS and waits < MAX_WAITS:
        try:
            if pause:
                await pace.sleep(pause)
            reply = await _answer(work, client, pace, longest)
        except Stopped:
            return _put_back(work, unreadable or spent, calls - before)
        except RequestFailed as error:
            spent = replace(spent, attempts=spent.attempts + 1, reason=error.sentence)
            if error.permanent:
                return spent
            pause = 0.0
            if error.wait is None:
                pause = _backoff(calls)
                calls += 1
            else:
                pace.back_off(error.wait)
                waits += 1
            continue
        calls, pause = calls + 1, 0.0
        spent = _with_usage(spent, reply)
        outcome = _read_reply(work, reply, spent)
        if outcome.status == Judgment.Status.DONE or unreadable is not None:
            return outcome
        unreadable = outcome
    return unreadable or replace(spent, reason=f"{calls + waits} calls failed. The last one: {spent.reason}")


def _put_back(work: Work, so_far: Outcome, calls: int) -> Outcome:
    """Return what another slice goes on from: calls are counted, a first unreadable reply is kept."""
    if not calls:
        raise NotAsked
    reason = so_far.reason if so_far.status == Judgment.Status.UNREADABLE else ""
    return replace(
        so_far, status=Judgment.Status.PLANNED, attempts=work.attempts + calls, reason=reason, value=None
    )


def outcome_of_reply(work: Work, reply: Reply) -> Outcome:
    """Return what one reply comes to, with the tokens of this reply alone."""
    spent = Outcome(work.judgment, Judgment.Status.FAILED, work.attempts)
    return _read_reply(work, reply, _with_usage(spent, reply))


async def _answer(work: Work, client: Client, pace: RateLimiter, longest: float) -> Reply:
    async with pace.call():
        try:
            reply = await _call(work, client, longest)
        except RequestFailed as error:
            if error.fatal_for_run:
                raise NobodyAnswers(error.sentence) from error
            if error.wait is None:  # also one refused for itself: all may be refused for the same reason
                pace.patience.note_failure(error.sentence)
            raise
    pace.note_answer()
    return reply


async def _call(work: Work, client: Client, longest: float) -> Reply:
    # The client's own timeout begins anew with each byte: a server that sends blanks to keep the line alive
    # would hold a place, and a worker that stops, for ever.
    try:
        async with asyncio.timeout(longest + LATE):
            return await client.ask(work.question)
    except TimeoutError:
        raise RequestFailed(f"No answer within {longest:g} s.") from None


def _backoff(calls: int) -> float:
    return min(FIRST_PAUSE * 2.0**calls, LONGEST_PAUSE) * random.uniform(0.5, 1.5)


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


def _read_reply(work: Work, reply: Reply, spent: Outcome) -> Outcome:
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
