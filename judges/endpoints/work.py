"""What passes between the database and the calls: work that was leased, and what came of it."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from annotate.core.guideline import FrozenDimension
from judges.endpoints.client import Question
from judges.methods.base import Method

BATCH_DISCOUNT = Decimal("0.5")  # what the batch interface leaves of a price: half, at OpenAI
BATCH_WINDOW = timedelta(hours=24)  # in which a provider answers a batch


@dataclass(frozen=True)
class Earlier:
    """What an unreadable reply took that an earlier slice stored."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None


@dataclass(frozen=True)
class Work:
    """One leased judgment, ready to be asked.

    unreadable: what an earlier slice got for it, where that was a reply without a usable score.
    """

    judgment: int
    question: Question
    method: Method
    dimension: FrozenDimension
    structured: bool
    attempts: int
    unreadable: "Outcome | None" = None


@dataclass(frozen=True)
class Outcome:
    """What came of a judgment: a value, an unreadable reply with a reason, or a failure with a reason.

    One that is planned was put back at the end of a slice, with the calls that were made in vain.
    """

    judgment: int
    status: str
    attempts: int
    value: float | None = None
    rationale: str = ""
    reply: str = ""
    reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    earlier: Earlier | None = None


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost; None where that is unknown, which is not the same as nothing."""

    input: Decimal | None
    output: Decimal | None

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> Decimal | None:
        """Return what a call cost, None where prices or tokens are unknown."""
        if None in (self.input, self.output, input_tokens, output_tokens):
            return None
        assert self.input is not None
        assert self.output is not None
        return (self.input * (input_tokens or 0) + self.output * (output_tokens or 0)) / 1_000_000

    def in_batches(self) -> "Prices":
        """Return what the same tokens cost through the batch interface."""
        return Prices(_discount_price(self.input), _discount_price(self.output))


def _discount_price(price: Decimal | None) -> Decimal | None:
    return None if price is None else price * BATCH_DISCOUNT
