"""Servers and the questions sent to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.methods.base import Message

CANDIDATE_TOKENS = 20  # the most that servers give for one position
USUAL_NAME, OTHER_NAME = "max_tokens", "max_completion_tokens"  # of the longest reply


@dataclass(frozen=True)
class Server:
    """The endpoint settings that a call needs, with its key."""

    base_url: str
    key: str = field(repr=False)
    timeout_seconds: float
    calls_in_flight: int
    dialect: str = "openai"  # a key of judges.endpoints.dialects.DIALECTS


@dataclass(frozen=True)
class Question:
    """One call. It omits None and empty values and sends `extra_body` unchanged."""

    model: str
    messages: tuple[Message, ...]
    temperature: float | None
    max_tokens: int
    max_tokens_name: str = ""  # if unknown: max_tokens first, then the other name if the server rejects it
    schema: dict[str, Any] | None = None
    wants_probabilities: bool = False
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1  # number of replies requested

    @property
    def may_vary(self) -> bool:
        """Return True if the same question may get another reply when sent again."""
        return self.temperature != 0 and self.seed is None
