"""What is asked of which server, and the body of the request that asks it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judges.methods.base import Message

COMPLETIONS: Literal["/v1/chat/completions"] = "/v1/chat/completions"
CANDIDATE_TOKENS = 20  # the most that servers give for one position
# Fields of a request that Concord fills, or whose other values it could not read.
OWN_FIELDS = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "seed", "stop", "reasoning_effort", "max_tokens"),
        *("max_completion_tokens", "response_format", "logprobs", "top_logprobs", "n", "stream"),
    }
)
USUAL_NAME, OTHER_NAME = "max_tokens", "max_completion_tokens"  # of the longest reply


@dataclass(frozen=True)
class Server:
    """Where to ask: what of an endpoint a call needs, with its key."""

    base_url: str
    key: str = field(repr=False)
    timeout_seconds: float
    calls_in_flight: int


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


def body_of(question: Question) -> dict[str, Any]:
    """Return the body of the request that asks a question, one by one or in a batch."""
    arguments: dict[str, Any] = {
        **question.extra_body,
        "model": question.model,
        "messages": [{"role": each.role, "content": each.content} for each in question.messages],
        question.max_tokens_name or USUAL_NAME: question.max_tokens,
    }
    for name in ("temperature", "top_p", "seed"):
        if (value := getattr(question, name)) is not None:
            arguments[name] = value
    if question.n > 1:
        arguments["n"] = question.n
    if question.stop:
        arguments["stop"] = list(question.stop)
    if question.reasoning_effort:
        arguments["reasoning_effort"] = question.reasoning_effort
    if question.schema:
        shape = {"name": "judgment", "strict": True, "schema": question.schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": shape}
    if question.wants_probabilities:
        arguments |= {"logprobs": True, "top_logprobs": CANDIDATE_TOKENS}
    return arguments
