"""What is asked of which server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judges.methods.base import Message

CANDIDATE_TOKENS = 20  # the most that servers give for one position
USUAL_NAME, OTHER_NAME = "max_tokens", "max_completion_tokens"  # of the longest reply


@dataclass(frozen=True)
class Server:
    """Where to ask: what of an endpoint a call needs, with its key."""

    base_url: str
    key: str = field(repr=False)
    timeout_seconds: float
    calls_in_flight: int
    dialect: str = "openai"  # a key of judges.endpoints.dialects.DIALECTS


@dataclass(frozen=True)
class Question:
    """One call. What is None or empty is not sent; `extra_body` is sent as it is."""

    model: str
    messages: tuple[Message, ...]
    temperature: float | None
    max_tokens: int
    max_tokens_name: str = ""  # where it is not known: max_tokens, and the other one if that is refused
    schema: dict[str, Any] | None = None
    wants_probabilities: bool = False
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1  # replies that are asked for

    @property
    def may_vary(self) -> bool:
        """Whether the same question may get another reply when it is asked again."""
        return self.temperature != 0 and self.seed is None
