"""Servers, the questions sent to them, and their replies, whatever the dialect."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from annotate.core.lazy_module import LazyModule
from judges.methods.base import Message

if TYPE_CHECKING:
    import aiohttp
    import httpx2
else:
    aiohttp, httpx2 = LazyModule("aiohttp"), LazyModule("httpx2")

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
        # None leaves the temperature to the server, and its default is above 0.
        return self.temperature != 0 and self.seed is None


class RequestProblem(Enum):
    """A problem of one request or its reply; the server accepts other requests."""

    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    TOO_LONG = "too_long"


@dataclass(frozen=True)
class Token:
    """A token of an answer and its alternatives, with log probabilities."""

    text: str
    top_logprobs: dict[str, float]


def read_tokens(found: Iterable[tuple[Any, Any]]) -> tuple[Token, ...] | None:
    """Return the tokens of an answer, each with its alternatives; None if there are none.

    found: reads them from the answer, and raises an error if that has another form, which is none as well.
    """
    try:
        tokens = [
            Token(text, {str(other): float(logprob) for other, logprob in others}) for text, others in found
        ]
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(tokens) if tokens and all(isinstance(token.text, str) for token in tokens) else None


@dataclass(frozen=True)
class Reply:
    """The answer of a server; `seconds` is None if no caller waited for it.

    problem: the server's reason for a missing or partial reply. refusal: the words with which the model
    declines. tool: the tool that the model called instead of answering.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    tokens: tuple["Token", ...] | None = None
    finish_reason: str = ""
    refusal: str = ""
    problem: RequestProblem | None = None
    tool: str = ""
    cached_tokens: int | None = None  # of the input tokens
    reasoning_tokens: int | None = None  # of the output tokens
    model: str = ""  # as the server names it
    system_fingerprint: str = ""
    max_tokens_name: str = ""  # the request's name for the limit
    rest: float = 0.0  # seconds until the server accepts another call, if it reports that this was the last


def shares_of(reply: Reply, count: int) -> list[Reply]:
    """Return `count` copies of a reply, each with a share of the tokens; the shares add up."""
    return share_tokens([reply] * count)


def share_tokens(replies: list[Reply]) -> list[Reply]:
    """Replace the tokens of the whole call in each reply by its share; shares add up."""
    if len(replies) == 1:
        return replies
    return [
        replace(
            reply,
            input_tokens=_share(reply.input_tokens, index, len(replies)),
            output_tokens=_share(reply.output_tokens, index, len(replies)),
            cached_tokens=_share(reply.cached_tokens, index, len(replies)),
            reasoning_tokens=_share(reply.reasoning_tokens, index, len(replies)),
        )
        for index, reply in enumerate(replies)
    ]


def _share(count: int | None, index: int, of: int) -> int | None:
    # The first replies get the remainder, so that the shares add up exactly.
    return None if count is None else count // of + (index < count % of)


def text_of(said: object) -> str:
    """Return a string of an answer in a form that databases accept; empty if it is no string."""
    # No database holds half of a surrogate pair, and PostgreSQL holds no NUL.
    return said.replace("\x00", "").encode(errors="replace").decode() if isinstance(said, str) else ""


def object_in(said: object) -> dict[str, Any]:
    """Return an object of an answer, or an empty one if it is no object."""
    return said if isinstance(said, dict) else {}


def objects_in(said: object) -> list[dict[str, Any]]:
    """Return the objects of a list in an answer; an empty list if it is no list."""
    return [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []


def count_of(said: object) -> int | None:
    """Return a count from a server, None if the database cannot store it."""
    return said if isinstance(said, int) and 0 <= said < 2**31 else None
