"""Calls of judgments until they are answered, unreadable or failed: one per call, or several."""

import asyncio
import hashlib
import json
import random
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest

from django.utils.translation import gettext, gettext_lazy

from judges.core.models import Judgment
from judges.endpoints.client import Client
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.failures import RequestFailed
from judges.endpoints.questions import Question, Reply, RequestProblem, Token, shares_of
from judges.endpoints.work import Call, JudgmentWork, Outcome, add_counts
from judges.methods.base import Readable, Reading, Unreadable
from judges.methods.probabilities import answer_logprobs
from judges.methods.reading.plain import answer_start
from judges.methods.steps import MethodStep
from judges.runs.pacing import RunMustStop, RunPace, Stopped

MAX_ATTEMPTS = 8
MAX_WAITS = 100  # as often is a judgment put off because the server asks to slow down
FIRST_PAUSE = 0.5  # seconds; doubled at each failed call, with jitter
LONGEST_PAUSE = 30.0
REFUSED_SCHEMA = re.compile(r"response_format|json_schema|structured output", re.IGNORECASE)
LATE = 1.0  # seconds by which the client may be late with its own timeout


async def ask_together(
    works: Sequence[JudgmentWork],
    client: Client,
    pace: RunPace,
    deliver: Callable[[Outcome], None],
) -> None:
    """Make the call for several judgments: several dimensions of an item, or samples of one unit.

    Samples missing from the reply get individual calls. Each outcome is delivered immediately. A paid reply
    pending a second call is also delivered when a later call ends the run or the task is cancelled. Judgments
    without a call have no outcome. Raises RunMustStop.
    """
    # One reply answers all of these, so they are asked once, without `n`.
    if works[0].shared is not None:
        await _ask_all([Asking(works)], client, pace, deliver)
        return
    replies = await _samples(works, client, pace) if len(works) > 1 else []
    left = []
    # The server may return fewer replies than samples, and the others then have none.
    for work, reply in zip_longest(works, replies or []):
        # The question carries `n` here: the parameters are stored as they were sent.
        first = (
            outcome_of_reply(replace(work, question=replace(work.question, n=len(works))), reply)
            if reply
            else None
        )
        if first and (first.status != Judgment.Status.UNREADABLE or not work.may_vary):
            deliver(first)
        else:
            left.append(Asking([work], first))

    def deliver_one(outcome: Outcome) -> None:
        deliver(outcome)
        # Only an answer to a single request shows that `n` was rejected, and not its content.
        if replies is None and outcome.status in (Judgment.Status.DONE, Judgment.Status.UNREADABLE):
            pace.limiter.models_without_n.add(works[0].question.model)

    await _ask_all(left, client, pace, deliver_one)


async def _ask_all(
    calls: Sequence["Asking"], client: Client, pace: RunPace, deliver: Callable[[Outcome], None]
) -> None:
    """Make the calls in sequence; on an early end, deliver replies that are paid and not stored.

    It ends when the server rejects the judge: see `commands.outcomes`.
    """
    left = deque(calls)
    try:
        while left:
            # It stays in the queue until it has ended, so that `finally` can deliver its paid reply.
            await left[0].ask(client, pace, deliver)
            if left.popleft().is_rejected:
                break
    finally:
        for asking in left:
            for outcome in asking.unstored_replies:
                deliver(outcome)


async def _samples(works: Sequence[JudgmentWork], client: Client, pace: RunPace) -> list[Reply] | None:
    """Return the replies of one call for all; empty if it failed, because individual calls may succeed.

    None if the server rejects it without naming its content as the reason.
    """
    question, waits = replace(works[0].question, n=len(works)), 0
    while waits < MAX_WAITS and question.model not in pace.limiter.models_without_n:
        try:
            return await _answer(replace(works[0], question=question), client, pace)
        except Stopped:
            return []
        except RequestFailed as error:
            if error.wait is None:
                return None if error.permanent and error.problem is None else []
            waits += 1
    return []


class Asking:
    """The judgments of one call, repeated until each is answered, unreadable or failed.

    Usually one judgment; if one call covers several dimensions, one of each. first: an earlier reply of a
    call for several samples, without a usable score, which requires another call.
    """

    def __init__(self, works: Sequence[JudgmentWork], first: Outcome | None = None) -> None:
        self._work = works[0]
        self._open = [_Unanswered(work, first) for work in works]
        self._calls_before = self._calls = max(each.calls_before for each in self._open)
        self._waits, self._pause = 0, 0.0
        self.is_rejected = False  # whether the server rejects the judge

    async def ask(self, client: Client, pace: RunPace, deliver: Callable[[Outcome], None]) -> None:
        """Ask until all have an outcome, once more after a reply without a usable score if it may vary.

        When calls are stopped, what was asked without an outcome is put back as planned, with its calls
        counted: the next worker makes those that are left of MAX_ATTEMPTS. What was never asked has no
        outcome.
        """
        try:
            while self._open and self._calls < MAX_ATTEMPTS and self._waits < MAX_WAITS:
                await self._ask_once(client, pace, deliver)
        except Stopped:
            calls = self._calls - self._calls_before
            # The failures of an unreachable server are no evidence about a judgment. One of them counts
            # nevertheless, because a judgment that always silences the server must fail eventually.
            counted = min(calls, 1) if pace.limiter.server_is_silent else calls
            self._settle(lambda each: each.put_back(counted), deliver)
            self._open = []
            return
        many = self._calls + self._waits
        self._settle(lambda each: each.give_up(many), deliver)

    @property
    def unstored_replies(self) -> list[Outcome]:
        """Replies without a usable score that is not stored yet, planned to be asked for once more."""
        return [reply for each in self._open if (reply := each.unstored_reply)]

    async def _ask_once(self, client: Client, pace: RunPace, deliver: Callable[[Outcome], None]) -> None:
        try:
            if self._pause:
                await pace.sleep(self._pause)
            (reply,) = await _answer(self._work, client, pace)
        except RequestFailed as error:
            failed = error
            self._note_failure(failed)
            self._settle(lambda each: each.note_failure(failed), deliver)
            return
        self._calls, self._pause = self._calls + 1, 0.0
        # `_settle` visits the open judgments in order, and each of them takes the next share.
        shares = iter(shares_of(reply, len(self._open)))
        self._settle(lambda each: each.note_reply(next(shares)), deliver)

    def _settle(
        self, outcome_of: Callable[["_Unanswered"], Outcome | None], deliver: Callable[[Outcome], None]
    ) -> None:
        outcomes = [(each, outcome_of(each)) for each in self._open]
        self._open = [each for each, outcome in outcomes if outcome is None]
        for _, outcome in outcomes:
            if outcome is not None:
                self.is_rejected = self.is_rejected or outcome.problem == Judgment.Problem.REJECTED
                deliver(outcome)

    def _note_failure(self, error: RequestFailed) -> None:
        self._pause = 0.0
        # A request to slow down is no failure of the judgment: only MAX_WAITS limits these.
        if error.wait is not None:
            self._waits += 1
        # The jitter keeps calls that failed together from returning together.
        elif not error.permanent:
            self._pause = min(FIRST_PAUSE * 2.0**self._calls, LONGEST_PAUSE) * random.uniform(0.5, 1.5)
            self._calls += 1


class _Unanswered:
    """A judgment in a call, and the result of its calls until now."""

    def __init__(self, work: JudgmentWork, first: Outcome | None) -> None:
        self._work = work
        self._unreadable = first or work.unreadable
        self._spent = replace(_new_outcome(work), earlier=work.spent_before)
        if first is not None:  # paid, and not stored yet
            self._spent = replace(first, status=Judgment.Status.FAILED, reply="", reason="", problem="")
        self._attempts_before = self._spent.attempts

    @property
    def calls_before(self) -> int:
        # A retry continues the count of calls, and allows MAX_ATTEMPTS further ones.
        return self._attempts_before % MAX_ATTEMPTS

    @property
    def unstored_reply(self) -> Outcome | None:
        """A reply without a usable score that is not stored yet, planned to be asked for once more."""
        if self._unreadable is None or self._unreadable is self._work.unreadable:
            return None
        return replace(self._unreadable, status=Judgment.Status.PLANNED)

    def note_failure(self, error: RequestFailed) -> Outcome | None:
        """Count a call without an answer; return the outcome if another call would fail too."""
        self._spent = replace(self._spent, attempts=self._spent.attempts + 1, reason=error.sentence)
        # The server would reject every request of this judge, so this outcome stops the judge.
        if self._work.first_of and error.concerns_judge:
            return replace(self._spent, problem=Judgment.Problem.REJECTED)
        if error.permanent:
            return replace(self._spent, problem=error.problem.value if error.problem else "")
        return None

    def note_reply(self, reply: Reply) -> Outcome | None:
        """Parse a reply, or its share; None if it has no usable score and the next one may have one."""
        self._spent = _add_usage(self._work, self._spent, reply)
        outcome = _read_reply(self._work, reply, self._spent)
        is_unreadable = outcome.status == Judgment.Status.UNREADABLE
        # A second unreadable reply is final, and a first one if the same call gives the same reply.
        if not is_unreadable or self._unreadable is not None or not self._work.may_vary:
            return outcome
        self._unreadable = outcome
        return None

    def give_up(self, calls: int) -> Outcome:
        """Return the outcome when no call remains: a reply without a usable score, if there was one."""
        reason = gettext("{calls} calls failed. The last one: {reason}").format(
            calls=calls, reason=self._spent.reason
        )
        return self._unreadable or replace(self._spent, reason=reason)

    def put_back(self, calls: int) -> Outcome | None:
        """Return what another worker continues from: calls are counted, a first unreadable reply is kept."""
        # Without a call of its own there is only the reply of a call for several samples to store.
        if not calls:
            return self.unstored_reply
        so_far = self._unreadable or self._spent
        reason = so_far.reason if so_far.status == Judgment.Status.UNREADABLE else ""
        planned, attempts = Judgment.Status.PLANNED, self._attempts_before + calls
        return replace(so_far, status=planned, attempts=attempts, reason=reason, value=None)


def outcome_of_reply(work: JudgmentWork, reply: Reply) -> Outcome:
    """Return the outcome of one reply, with the tokens of this reply alone."""
    return _read_reply(work, reply, _add_usage(work, _new_outcome(work), reply))


def _new_outcome(work: JudgmentWork) -> Outcome:
    return Outcome(
        work.judgment,
        Judgment.Status.FAILED,
        work.attempts,
        call=call_of(work),
        steps=work.chain.done if work.chain else (),
        first_of=work.first_of,
        model=work.question.model,
    )


async def _answer(work: JudgmentWork, client: Client, pace: RunPace) -> list[Reply]:
    question, model = work.question, work.question.model
    async with pace.call(model) as began:
        try:
            replies = await _call(question, client)
        except RequestFailed as error:
            if work.first_of and error.concerns_judge:  # the others of the run may be answered
                raise
            # The run stops here, before its other calls fail for the same reason.
            if error.fatal_for_run:
                raise RunMustStop(error.sentence) from error
            if error.permanent and question.schema and REFUSED_SCHEMA.search(error.sentence):
                advice = gettext("Make a judge without structured output, or of another model.")
                raise RunMustStop(f"{error.sentence} {advice}") from error
            if not error.permanent:
                pace.limiter.last_failure = error
            # All may be rejected for the same reason; several samples for being several, and a filter checks
            # each output.
            elif question.n == 1 and error.problem is not RequestProblem.FILTERED:
                pace.refusals.note_refusal(error.sentence)
            if error.wait is not None:
                pace.limiter.back_off(model, began=began, seconds=error.wait)
            raise
    pace.limiter.note_answer(model)
    pace.refusals.note_answer()
    if not question.max_tokens_name and replies[0].max_tokens_name:
        pace.limiter.learned_names[model] = replies[0].max_tokens_name
    if rest := replies[0].rest:
        pace.limiter.rest(rest)
    return replies


async def _call(question: Question, client: Client) -> list[Reply]:
    # The client's own timeout begins anew with each byte: a server that sends blanks to keep the line alive
    # would be in flight, and hold up a worker that stops, for ever.
    try:
        async with asyncio.timeout(client.timeout_seconds + LATE):
            return await client.ask_samples(question)
    except TimeoutError:
        message = gettext("No answer within {seconds:g} s.").format(seconds=client.timeout_seconds)
        raise RequestFailed(message) from None


def _add_usage(work: JudgmentWork, spent: Outcome, reply: Reply) -> Outcome:
    return replace(
        spent,
        attempts=spent.attempts + 1,
        input_tokens=add_counts(spent.input_tokens, reply.input_tokens),
        output_tokens=add_counts(spent.output_tokens, reply.output_tokens),
        cached_tokens=add_counts(spent.cached_tokens, reply.cached_tokens),
        reasoning_tokens=add_counts(spent.reasoning_tokens, reply.reasoning_tokens),
        seconds=reply.seconds,
        call=answered_call(spent.call, work, reply),
    )


def _read_reply(work: JudgmentWork, reply: Reply, spent: Outcome) -> Outcome:
    reading = read(work, reply)
    problem, why = problem_of(reply)
    if isinstance(reading, MethodStep):
        if work.method.takes_steps or problem in ("", Judgment.Problem.TRUNCATED):
            # The judgment continues: planned, with this call among its steps. The count of
            # calls restarts for the next step, or a method of many steps would run out of them.
            assert work.chain is not None
            step = {
                "name": work.chain.step,
                "reply": reply.text,
                "calls": spent.attempts,
                "input_tokens": spent.input_tokens,
                "output_tokens": spent.output_tokens,
                "messages_hash": spent.call.messages_hash,
                "returned_model": spent.call.returned_model,
            }
            steps = (*work.chain.done, step)
            return replace(spent, status=Judgment.Status.PLANNED, attempts=0, reason="", steps=steps)
        # a reply in which the model declines gets no follow-up
        reading = Unreadable(gettext("No score was found."))
    said = replace(spent, reply=reply.text, log_probabilities=log_probabilities(work, reply))
    if isinstance(reading, Readable):
        done = replace(said, status=Judgment.Status.DONE, reason="", data=reading.data)
        return replace(done, value=reading.value, rationale=reading.rationale)
    reason = f"{why} {reading.reason}" if why else reading.reason
    return replace(said, status=Judgment.Status.UNREADABLE, value=None, reason=reason, problem=problem)


def problem_of(reply: Reply) -> tuple[str, str]:
    """Return the cause of a reply without a usable score, and a message; empty if unknown.

    Only the server's report counts: nothing is guessed from the words of a reply.
    """
    if reply.problem is RequestProblem.REFUSED and reply.refusal:
        return Judgment.Problem.REFUSED, gettext("The model refuses: {refusal}").format(refusal=reply.refusal)
    if reply.problem is not None:
        return reply.problem.value, str(WHY[reply.problem])
    if reply.tool:
        return "", gettext("The model called the tool {tool} instead of answering.").format(tool=reply.tool)
    return "", ""


WHY = {
    RequestProblem.REFUSED: gettext_lazy("The model refuses."),
    RequestProblem.FILTERED: gettext_lazy("The provider's content filter ended the reply."),
    RequestProblem.TRUNCATED: gettext_lazy("The reply was cut off at the judge's limit of tokens."),
    RequestProblem.TOO_LONG: gettext_lazy("The model's context was full before the reply ended."),
}


def read(work: JudgmentWork, reply: Reply) -> MethodStep | Reading:
    """Return the reply's value by the judge's rules (probabilities, JSON, plain), or the next step."""
    if work.chain is not None:
        return work.chain.go_on(reply.text)
    if work.question.wants_probabilities:
        # Weigh the answers by their probabilities at the token of the reply's answer.
        if reply.tokens is None:
            return Unreadable(
                gettext("The server gave no probabilities; choose a judge that reads the text.")
            )
        position = work.method.answer_position(reply.text, work.dimension)
        if position is None:
            reading = work.method.read(reply.text, work.dimension)
        elif token := _token_at(position, reply.tokens):
            reading = work.method.weighted_score(token.top_logprobs, work.dimension)
        else:
            reading = Unreadable(gettext("The probabilities end before the answer."))
        if isinstance(reading, Readable):
            return reading
        # A reply without an option, or with an option's label, in which no letter is likely: the first token
        # behind any thinking that carries an option counts.
        behind = _behind_thinking(reply, reply.tokens)
        return work.method.weighted_score_of_first(behind, work.dimension) or reading
    return work.method.read_about(
        reply.text,
        work.dimension,
        work.together,
        subject=work.subject,
        pattern=work.pattern,
        structured=work.structured,
    )


def _token_at(position: int, tokens: Sequence[Token]) -> Token | None:
    # The tokens join to the reply's text, so their lengths give the position of each.
    end = 0
    for token in tokens:
        end += len(token.text)
        if position < end:
            return token
    return None


def _behind_thinking(reply: Reply, tokens: Sequence[Token]) -> list[Mapping[str, float]]:
    """Return the likeliest tokens at each position of the answer; an empty list if there is no answer."""
    start = answer_start(reply.text)
    if isinstance(start, Unreadable):
        return []
    ends = accumulate(len(token.text) for token in tokens)
    return [token.top_logprobs for token, end in zip(tokens, ends, strict=True) if end > start]


def log_probabilities(work: JudgmentWork, reply: Reply) -> Mapping[str, float] | None:
    """Return the log-probabilities of the answers at the token of the reply's answer; None if there is none.

    Without a stated answer, the first token with a probable answer counts.
    """
    if not work.question.wants_probabilities or reply.tokens is None:
        return None
    candidates = work.method.candidates(work.dimension)
    position = work.method.answer_position(reply.text, work.dimension)
    token = None if position is None else _token_at(position, reply.tokens)
    found = answer_logprobs(token.top_logprobs, candidates) if token else {}
    others = (answer_logprobs(each, candidates) for each in _behind_thinking(reply, reply.tokens))
    # Tokens behind the thinking are read only if the stated answer has no probable token.
    return found or next(filter(None, others), None)


LONGEST_REASON, LONGEST_NAME = 40, 200  # characters that the columns hold


def messages_hash(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the SHA-256 of messages as JSON: keys in order, no spaces between, characters unescaped."""
    written = json.dumps(messages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    # Half of a surrogate pair has no form in UTF-8, and a hash must not fail for it.
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def call_of(work: JudgmentWork) -> Call:
    messages = [{"role": each.role, "content": each.content} for each in work.question.messages]
    parameters = DIALECTS[work.dialect].parameters(work.question)
    kept = messages if work.keeps_messages else None
    several = [each.id for each in work.together] if work.shared else []
    return Call(parameters, messages_hash(messages), kept, asked_dimensions=several)


def answered_call(call: Call, work: JudgmentWork, reply: Reply) -> Call:
    """Return a call with the server's metadata of its answer, and the accepted name of the reply limit."""
    parameters = call.parameters
    # The client repeated the call under this name, so the stored request has it, too.
    if reply.max_tokens_name and reply.max_tokens_name not in parameters:
        question = replace(work.question, max_tokens_name=reply.max_tokens_name)
        parameters = DIALECTS[work.dialect].parameters(question)
    return replace(
        call,
        parameters=parameters,
        finish_reason=reply.finish_reason[:LONGEST_REASON],
        refusal=reply.refusal,
        returned_model=reply.model[:LONGEST_NAME],
        system_fingerprint=reply.system_fingerprint[:LONGEST_NAME],
    )
