"""Data between the database and the calls: leased work, and its results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from annotate.core.guideline import FrozenDimension
from judges.core.models import Endpoint
from judges.endpoints.questions import Question
from judges.methods.base import Method, Subject
from judges.methods.reading import Reading
from judges.methods.steps import MethodStep

BATCH_DISCOUNT = Decimal("0.5")  # share of a price that the batch interface charges: half, at OpenAI
BATCH_WINDOW = timedelta(hours=24)  # in which a provider answers a batch


@dataclass(frozen=True)
class Earlier:
    """The usage of an unreadable reply that an earlier slice stored."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


def add_counts(before: int | None, now: int | None) -> int | None:
    """Return the sum of two counts of tokens; a server may report one for one call and not for another."""
    return before if now is None else (before or 0) + now


@dataclass(frozen=True)
class Call:
    """The request of a judgment, and the server's metadata in addition to the reply.

    parameters: the request without its messages. messages: None if the run stores only their hash.
    asked_dimensions: ids of all its dimensions, in the prompt's order, if there are several.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    messages_hash: str = ""
    messages: Sequence[Mapping[str, str]] | None = None
    asked_dimensions: Sequence[int] = ()
    finish_reason: str = ""
    refusal: str = ""
    returned_model: str = ""
    system_fingerprint: str = ""


@dataclass(frozen=True)
class Chain:
    """A judgment's sequence of calls, one of which is pending.

    step: the name of the pending call. done: the calls before, as `Judgment.steps` stores them; `spent` is
    their total cost. go_on: maps the reply to the next step, or to the result of all replies. is_last: True
    if an unreadable reply to this call is not requested again.
    """

    step: str
    done: Sequence[Mapping[str, Any]]
    spent: Earlier | None
    go_on: Callable[[str], MethodStep | Reading]
    is_last: bool = False


@dataclass(frozen=True)
class JudgmentWork:
    """One leased judgment, ready for its call.

    unreadable: the reply of an earlier slice without a usable score, if any. keeps_messages: True if the
    messages are stored with it. unit: the key shared with other samples that the same call may return; None
    if it needs a separate call. pattern: the pattern of its prompt for parsing replies. together: all
    dimensions of its question, in order, if its method covers several per call. shared: the key shared by the
    judgments of one call; None if a call gives one. chain: if its method needs several calls, the calls
    before and after this one. first_of: the judge if this is its first judgment of the run.
    """

    judgment: int
    question: Question
    method: Method
    dimension: FrozenDimension
    structured: bool
    attempts: int
    unreadable: "Outcome | None" = None
    keeps_messages: bool = False
    unit: tuple[int | None, ...] | None = None
    pattern: str = ""
    together: Sequence[FrozenDimension] = ()
    shared: tuple[int, ...] | None = None
    chain: "Chain | None" = None
    subject: Subject | None = None
    dialect: str = Endpoint.Dialect.OPENAI
    first_of: int | None = None

    @property
    def spent_before(self) -> Earlier | None:
        """The usage of earlier replies, None if there is none or the server did not report it."""
        if self.unreadable is not None:
            return self.unreadable.earlier
        return self.chain.spent if self.chain else None

    @property
    def may_vary(self) -> bool:
        """Return True if the same call is repeated after an unreadable reply."""
        return self.question.may_vary and not (self.chain and self.chain.is_last)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a judgment: a value, an unreadable reply with a reason, or a failure with a reason.

    A planned one returned to the queue at the end of a slice, with the failed calls, or after a step that is
    not the last. model: determines its prices. first_of: as in `JudgmentWork`.
    """

    judgment: int
    status: str
    attempts: int
    value: float | None = None
    data: Mapping[str, Any] | None = None
    rationale: str = ""
    reply: str = ""
    reason: str = ""
    problem: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float | None = None
    earlier: Earlier | None = None
    call: Call = field(default_factory=Call)
    steps: Sequence[Mapping[str, Any]] = ()
    log_probabilities: Mapping[str, float] | None = None
    first_of: int | None = None
    model: str = ""

    @property
    def steps_done(self) -> int:
        """The number of answered calls before the last, if its method needs several."""
        return len(self.steps)


@dataclass(frozen=True)
class Prices:
    """The price of a million tokens; None if unknown, which differs from zero.

    cached: of input tokens that the server had cached; None if they cost the same as others. batch_share: the
    share of a price that the batch interface charges. Providers count reasoning tokens as output tokens.
    """

    input: Decimal | None
    output: Decimal | None
    cached: Decimal | None = None
    batch_share: Decimal = BATCH_DISCOUNT

    @property
    def are_known(self) -> bool:
        """Return True if the cost of a call is known."""
        return self.input is not None and self.output is not None

    def cost(
        self, input_tokens: int | None, output_tokens: int | None, cached_tokens: int | None = None
    ) -> Decimal | None:
        """Return the cost of a call, None if prices or tokens are unknown; cached tokens are input too."""
        if self.input is None or self.output is None or input_tokens is None or output_tokens is None:
            return None
        # A server may report more cached tokens than it counts as input; the cost must not fall below 0.
        cached = 0 if self.cached is None else min(cached_tokens or 0, input_tokens)
        sent = self.input * (input_tokens - cached) + (self.cached or 0) * cached
        return (sent + self.output * output_tokens) / 1_000_000

    def savings(self, cached_tokens: int) -> Decimal | None:
        """Return the saving on cached input tokens, None if a price is unknown."""
        if self.input is None or self.cached is None:
            return None
        return (self.input - self.cached) * cached_tokens / 1_000_000

    def in_batches(self) -> "Prices":
        sent, got, cached = (
            None if each is None else each * self.batch_share
            for each in (self.input, self.output, self.cached)
        )
        return Prices(sent, got, cached)


UNKNOWN_PRICES = Prices(None, None)
