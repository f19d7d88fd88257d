"""Asking one judgment until it is answered, unreadable or failed."""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest

from judges.core.models import Judgment
from judges.endpoints.client import Client, Question, Reply, RequestFailed, Token
from judges.endpoints.work import Outcome, Work
from judges.methods.base import Readable, Reading, Unreadable
from judges.methods.reading.plain import answer_start
from judges.runs.calls import answered_call, call_of
from judges.runs.pacing import FailedCall, RateLimiter, RunMustStop, Stopped

MAX_ATTEMPTS = 8
MAX_WAITS = 100  # as often is a judgment put off because the server asks to slow down
FIRST_PAUSE = 0.5  # seconds; doubled at each failed call, with jitter
LONGEST_PAUSE = 30.0
LATE = 1.0  # seconds by which the client may be late with its own timeout


async def ask_together(
    works: Sequence[Work],
    client: Client,
    pace: RateLimiter,
    deliver: Callable[[Outcome], None],
    *,
    longest: float,
) -> None:
    """Ask for samples of one unit in one call, and one by one for what it does not give.

    Each outcome is delivered as soon as it is there, and when a later call ends the run or the task is
    cancelled, so is a paid reply that was to be asked for once more. What calls that were stopped left
    unasked has no outcome. longest: the seconds that a call may take. Raises RunMustStop.
    """
    replies = await _samples(works, client, pace, longest) if len(works) > 1 else []
    left = deque[Asking]()
    for work, reply in zip_longest(works, replies or []):
        first = _outcome_of_sample(work, reply, len(works)) if reply else None
        if first and (first.status == Judgment.Status.DONE or not work.question.may_vary):
            deliver(first)
        else:
            left.append(Asking(work, first))
    try:
        while left:
            outcome = await left[0].ask(client, pace, longest=longest)
            left.popleft()
            if outcome is not None:
                deliver(outcome)
                # Only an answer to one alone tells that it was `n` that was refused, and not this text.
                if replies is None and outcome.status in (Judgment.Status.DONE, Judgment.Status.UNREADABLE):
                    pace.models_without_n.add(works[0].question.model)
    finally:
        for asking in left:
            if asking.unstored_reply:
                deliver(asking.unstored_reply)


async def _samples(
    works: Sequence[Work], client: Client, pace: RateLimiter, longest: float
) -> list[Reply] | None:
    """Return the replies of one call for all; none where it failed, for one by one may do better.

    None where the server refuses it, and does not say that it is for its text.
    """
    question, waits = replace(works[0].question, n=len(works)), 0
    while waits < MAX_WAITS and question.model not in pace.models_without_n:
        try:
            return await _answer(question, client, pace, longest)
        except Stopped:
            return []
        except RequestFailed as error:
            if error.wait is None:
                return None if error.permanent and error.problem is None else []
            waits += 1
    return []


def _outcome_of_sample(work: Work, reply: Reply, n: int) -> Outcome:
    return outcome_of_reply(replace(work, question=replace(work.question, n=n)), reply)


class Asking:
    """One judgment that is asked until it is answered, unreadable or failed.

    first: what a call for several samples gave, without a usable score, to be asked for once more.
    """

    def __init__(self, work: Work, first: Outcome | None = None) -> None:
        self._work = work
        self._unreadable = first or work.unreadable
        earlier = self._unreadable.earlier if self._unreadable else None
        call = call_of(work)
        self._spent = Outcome(
            work.judgment, Judgment.Status.FAILED, work.attempts, earlier=earlier, call=call
        )
        if first is not None:  # paid, and not stored yet
            self._spent = replace(first, status=Judgment.Status.FAILED, reply="", reason="", problem="")
        self._attempts_before = self._spent.attempts
        self._calls_before = self._calls = self._attempts_before % MAX_ATTEMPTS
        self._waits, self._pause = 0, 0.0

    async def ask(self, client: Client, pace: RateLimiter, *, longest: float) -> Outcome | None:
        """Ask until there is an outcome, once more after a reply without a usable score if it may vary.

        When calls are stopped, what was asked without an outcome is put back as planned, with its calls
        counted: another slice makes those that are left of MAX_ATTEMPTS. None where it was never asked.
        """
        try:
            while self._calls < MAX_ATTEMPTS and self._waits < MAX_WAITS:
                if outcome := await self._ask_once(client, pace, longest):
                    return outcome
        except Stopped:
            return self._put_back(server_is_silent=pace.server_is_silent)
        many = self._calls + self._waits
        reason = f"{many} calls failed. The last one: {self._spent.reason}"
        return self._unreadable or replace(self._spent, reason=reason)

    @property
    def unstored_reply(self) -> Outcome | None:
        """A reply without a usable score that no slice has stored yet, planned to be asked for once more."""
        if self._unreadable is None or self._unreadable is self._work.unreadable:
            return None
        return replace(self._unreadable, status=Judgment.Status.PLANNED)

    async def _ask_once(self, client: Client, pace: RateLimiter, longest: float) -> Outcome | None:
        try:
            if self._pause:
                await pace.sleep(self._pause)
            (reply,) = await _answer(self._work.question, client, pace, longest)
        except RequestFailed as error:
            return self._note_failure(error)
        return self._note_reply(reply)

    def _note_failure(self, error: RequestFailed) -> Outcome | None:
        self._spent = replace(self._spent, attempts=self._spent.attempts + 1, reason=error.sentence)
        if error.permanent:
            return replace(self._spent, problem=error.problem.value if error.problem else "")
        self._pause = 0.0
        if error.wait is None:
            self._pause = _backoff(self._calls)
            self._calls += 1
        else:
            self._waits += 1
        return None

    def _note_reply(self, reply: Reply) -> Outcome | None:
        self._calls, self._pause = self._calls + 1, 0.0
        self._spent = _with_usage(self._work, self._spent, reply)
        outcome = _read_reply(self._work, reply, self._spent)
        may_vary = self._work.question.may_vary
        if outcome.status == Judgment.Status.DONE or self._unreadable is not None or not may_vary:
            return outcome
        self._unreadable = outcome
        return None

    def _put_back(self, *, server_is_silent: bool) -> Outcome | None:
        """Return what another slice goes on from: calls are counted, a first unreadable reply is kept."""
        calls = self._calls - self._calls_before
        # What a server that is away does to its calls says nothing about a judgment. One of them counts all
        # the same, for a judgment that silences the server each time it is asked must fail some day.
        counted = min(calls, 1) if server_is_silent else calls
        if not counted:
            return self.unstored_reply
        so_far = self._unreadable or self._spent
        reason = so_far.reason if so_far.status == Judgment.Status.UNREADABLE else ""
        planned, attempts = Judgment.Status.PLANNED, self._attempts_before + counted
        return replace(so_far, status=planned, attempts=attempts, reason=reason, value=None)


def outcome_of_reply(work: Work, reply: Reply) -> Outcome:
    """Return what one reply comes to, with the tokens of this reply alone."""
    spent = Outcome(work.judgment, Judgment.Status.FAILED, work.attempts, call=call_of(work))
    return _read_reply(work, reply, _with_usage(work, spent, reply))


async def _answer(question: Question, client: Client, pace: RateLimiter, longest: float) -> list[Reply]:
    model = question.model
    async with pace.call(model) as began:
        try:
            replies = await _call(question, client, longest)
        except RequestFailed as error:
            if error.fatal_for_run:
                raise RunMustStop(error.sentence) from error
            if not error.permanent:
                pace.last_failure = FailedCall(error.sentence, asked_to_wait=error.wait is not None)
            elif question.n == 1:  # all may be refused for the same reason; several samples for being several
                pace.refusals.note_refusal(error.sentence)
            if error.wait is not None:
                pace.back_off(model, began=began, seconds=error.wait)
            raise
    pace.note_answer(model)
    if rest := replies[0].rest:
        pace.rest(rest)
    return replies


async def _call(question: Question, client: Client, longest: float) -> list[Reply]:
    # The client's own timeout begins anew with each byte: a server that sends blanks to keep the line alive
    # would hold a place, and a worker that stops, for ever.
    try:
        async with asyncio.timeout(longest + LATE):
            return await client.ask_samples(question)
    except TimeoutError:
        raise RequestFailed(f"No answer within {longest:g} s.") from None


def _backoff(calls: int) -> float:
    return min(FIRST_PAUSE * 2.0**calls, LONGEST_PAUSE) * random.uniform(0.5, 1.5)


def _with_usage(work: Work, spent: Outcome, reply: Reply) -> Outcome:
    return replace(
        spent,
        attempts=spent.attempts + 1,
        input_tokens=_sum(spent.input_tokens, reply.input_tokens),
        output_tokens=_sum(spent.output_tokens, reply.output_tokens),
        cached_tokens=_sum(spent.cached_tokens, reply.cached_tokens),
        reasoning_tokens=_sum(spent.reasoning_tokens, reply.reasoning_tokens),
        seconds=reply.seconds,
        call=answered_call(spent.call, work.question, reply),
    )


def _sum(before: int | None, now: int | None) -> int | None:
    return before if now is None else (before or 0) + now


def _read_reply(work: Work, reply: Reply, spent: Outcome) -> Outcome:
    reading = read(work, reply)
    said = replace(spent, reply=reply.text)
    if isinstance(reading, Readable):
        value, rationale = reading.value, reading.rationale
        return replace(said, status=Judgment.Status.DONE, value=value, rationale=rationale, reason="")
    problem, why = problem_of(reply)
    reason = f"{why} {reading.reason}" if why else reading.reason
    return replace(said, status=Judgment.Status.UNREADABLE, value=None, reason=reason, problem=problem)


def problem_of(reply: Reply) -> tuple[str, str]:
    """Return what kept a reply without a usable score from having one, and a sentence; empty: not known.

    Only what the server says counts: nothing is guessed from the words of a reply.
    """
    if reply.refusal:
        return Judgment.Problem.REFUSED, f"The model refuses: {reply.refusal}"
    if reply.finish_reason == "content_filter":
        return Judgment.Problem.FILTERED, "The provider's content filter ended the reply."
    if reply.finish_reason == "length":
        return Judgment.Problem.TRUNCATED, "The reply was cut off at the judge's limit of tokens."
    return "", ""


def read(work: Work, reply: Reply) -> Reading:
    """Return the reply's value as the judge reads it: from probabilities, JSON or the text."""
    if work.question.wants_probabilities:
        return _read_probabilities(work, reply)
    if work.structured:
        return work.method.read_structured(reply.text, work.dimension)
    return work.method.read_with(work.pattern, reply.text, work.dimension)


def _read_probabilities(work: Work, reply: Reply) -> Reading:
    """Weigh the answers by their probabilities at the token with which the reply gives its answer."""
    if reply.tokens is None:
        return Unreadable("The server gave no probabilities; choose a judge that reads the text.")
    position = work.method.answer_position(reply.text, work.dimension)
    if position is None:
        reading = work.method.read(reply.text, work.dimension)
    else:
        reading = _read_at(position, reply.tokens, work)
    if isinstance(reading, Readable):
        return reading
    return _read_first_options(work, reply, reply.tokens) or reading


def _read_at(position: int, tokens: Sequence[Token], work: Work) -> Reading:
    end = 0
    for token in tokens:
        end += len(token.text)
        if position < end:
            return work.method.weighted_score(token.top_logprobs, work.dimension)
    return Unreadable("The probabilities end before the answer.")


def _read_first_options(work: Work, reply: Reply, tokens: Sequence[Token]) -> Reading | None:
    """Read the first token that carries an option, behind any thinking; None where none does.

    So is read what names no option, and what names one by its label, at which no letter is likely.
    """
    start = answer_start(reply.text)
    if isinstance(start, Unreadable):
        return None
    ends = accumulate(len(token.text) for token in tokens)
    answer = [token.top_logprobs for token, end in zip(tokens, ends, strict=True) if end > start]
    return work.method.weighted_score_of_first(answer, work.dimension)
