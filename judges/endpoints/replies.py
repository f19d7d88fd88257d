"""Answers of a server, independent of its dialect."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from judges.endpoints.failures import RequestProblem


@dataclass(frozen=True)
class Token:
    """A token of an answer and its alternatives, with log probabilities."""

    text: str
    top_logprobs: dict[str, float]


def read_token(text: object, others: Iterable[tuple[object, Any]]) -> Token:
    """Return a token of an answer; raises TypeError or ValueError if it has another form."""
    if not isinstance(text, str):
        raise TypeError
    return Token(text, {str(other): float(logprob) for other, logprob in others})


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
