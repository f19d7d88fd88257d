"""What passes between the database and the calls: work that was leased, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from annotate.core.guideline import FrozenDimension
from judges.core.models import Endpoint
from judges.endpoints.questions import Question
from judges.methods.base import Method, Subject
from judges.methods.readings import Reading
from judges.methods.steps import MethodStep

BATCH_DISCOUNT = Decimal("0.5")  # what the batch interface leaves of a price: half, at OpenAI
BATCH_WINDOW = timedelta(hours=24)  # in which a provider answers a batch


@dataclass(frozen=True)
class Earlier:
    """What an unreadable reply took that an earlier slice stored."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Call:
    """What was sent for a judgment, and what the server says of its answer besides the reply.

    parameters: the request without its messages. messages: None where the run keeps only their hash.
    asked_dimensions: ids of all dimensions that it asked about, in the prompt's order, if they are several.
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
    """A judgment's calls, of which one is asked now.

    step: the name of that one. done: those before, as `Judgment.steps` keeps them, all paid in `spent`.
    go_on: what a reply to this one leads to: the next step, or what all replies come to. is_last: whether an
    unreadable reply to this one is not asked for once more.
    """

    step: str
    done: Sequence[Mapping[str, Any]]
    spent: Earlier | None
    go_on: Callable[[str], MethodStep | Reading]
    is_last: bool = False


@dataclass(frozen=True)
class JudgmentWork:
    """One leased judgment, ready to be asked.

    unreadable: what an earlier slice got for it, where that was a reply without a usable score.
    keeps_messages: whether what is sent is stored with it. unit: what other samples have in common with it
    that may be asked for in the same call; None where it is asked for alone. pattern: by which its prompt
    says that replies are read. together: all dimensions that its question asks about, in their order, where
    its method asks about several. shared: what judgments have in common that one call gives; None where a
    call gives one. chain: where its method takes several calls, those before and what comes after. first_of:
    the judge whose first judgment of the run it is.
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
    def may_vary(self) -> bool:
        """Whether an unreadable reply is asked for once more by the same call."""
        return self.question.may_vary and not (self.chain and self.chain.is_last)


@dataclass(frozen=True)
class Outcome:
    """What came of a judgment: a value, an unreadable reply with a reason, or a failure with a reason.

    One that is planned was put back at the end of a slice, with the calls that failed, or behind a step that
    is not the last. model: which prices it has. first_of: as in `JudgmentWork`.
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
        """How many calls before the last are answered, where its method takes several."""
        return len(self.steps)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost; None where that is unknown, which is not the same as nothing.

    cached: of input tokens that the server had cached; None where they cost as much as others. batch_share:
    what the batch interface leaves of a price. Providers count reasoning tokens as output tokens.
    """

    input: Decimal | None
    output: Decimal | None
    cached: Decimal | None = None
    batch_share: Decimal = BATCH_DISCOUNT

    @property
    def are_known(self) -> bool:
        """Whether the cost of a call is known."""
        return self.input is not None and self.output is not None

    def cost(
        self, input_tokens: int | None, output_tokens: int | None, cached_tokens: int | None = None
    ) -> Decimal | None:
        """Return what a call cost, None where prices or tokens are unknown; cached tokens are input too."""
        if self.input is None or self.output is None or input_tokens is None or output_tokens is None:
            return None
        cached = 0 if self.cached is None else min(cached_tokens or 0, input_tokens)
        sent = self.input * (input_tokens - cached) + (self.cached or 0) * cached
        return (sent + self.output * output_tokens) / 1_000_000

    def savings(self, cached_tokens: int) -> Decimal | None:
        """Return how much less input tokens cost because they were cached, None where a price is unknown."""
        if self.input is None or self.cached is None:
            return None
        return (self.input - self.cached) * cached_tokens / 1_000_000

    def in_batches(self) -> "Prices":
        """Return what the same tokens cost through the batch interface."""
        sent, got, cached = (
            None if each is None else each * self.batch_share
            for each in (self.input, self.output, self.cached)
        )
        return Prices(sent, got, cached)


UNKNOWN_PRICES = Prices(None, None)
