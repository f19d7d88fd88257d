"""What a server answers, read from the body of a completion."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from judges.endpoints.failures import RequestFailed


@dataclass(frozen=True)
class Token:
    """A token of an answer and what could have stood in its place, with log probabilities."""

    text: str
    top_logprobs: dict[str, float]


@dataclass(frozen=True)
class Reply:
    """What a server answered; `seconds` is None where nobody waited for it."""

    text: str
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    tokens: tuple["Token", ...] | None = None
    finish_reason: str = ""
    refusal: str = ""  # the model's words, where it says that it refuses
    cached_tokens: int | None = None  # of the input tokens
    reasoning_tokens: int | None = None  # of the output tokens
    model: str = ""  # as the server names it
    system_fingerprint: str = ""
    max_tokens_name: str = ""  # with which it was asked
    rest: float = 0.0  # seconds until the server takes another call, where it says that this was the last


def reply_of(body: object) -> Reply:
    """Return the reply in a completion as a batch's output file has it; raises RequestFailed."""
    if not isinstance(body, dict) or not body.get("choices"):
        raise RequestFailed(gettext("The batch's output has no completion for this request."))
    return replies_of(body, None, 1)[0]


def replies_of(completion: dict[str, Any], seconds: float | None, most: int) -> list[Reply]:
    """Return the replies in a completion, at most so many and one at least, which may be empty."""
    said = completion.get("choices")
    choices = (said[:most] if isinstance(said, list) else []) or [{}]
    usage = object_in(completion.get("usage"))
    counts = {
        name: count_of(object_in(usage.get(path)).get(key) if path else usage.get(key))
        for name, path, key in _USAGE
    }
    return [
        _reply(
            completion,
            object_in(choice),
            {name: _share(count, place, len(choices)) for name, count in counts.items()},
            seconds,
        )
        for place, choice in enumerate(choices)
    ]


def shares_of(reply: Reply, count: int) -> list[Reply]:
    """Return a reply as often as judgments come of it, each with a share of the tokens; they add up."""
    if count == 1:
        return [reply]
    return [
        replace(
            reply,
            input_tokens=_share(reply.input_tokens, place, count),
            output_tokens=_share(reply.output_tokens, place, count),
            cached_tokens=_share(reply.cached_tokens, place, count),
            reasoning_tokens=_share(reply.reasoning_tokens, place, count),
        )
        for place in range(count)
    ]


_USAGE = (
    ("input_tokens", "", "prompt_tokens"),
    ("output_tokens", "", "completion_tokens"),
    ("cached_tokens", "prompt_tokens_details", "cached_tokens"),
    ("reasoning_tokens", "completion_tokens_details", "reasoning_tokens"),
)


def _share(count: int | None, place: int, of: int) -> int | None:
    """Return one reply's part of a count of tokens; the parts add up to it."""
    return None if count is None else count // of + (place < count % of)


def _reply(
    completion: dict[str, Any],
    choice: dict[str, Any],
    tokens: Mapping[str, int | None],
    seconds: float | None,
) -> Reply:
    """Return what a choice says; what is not as OpenAI has it counts as not said."""
    message = object_in(choice.get("message"))
    return Reply(
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choice.get("finish_reason")),
        input_tokens=tokens["input_tokens"],
        output_tokens=tokens["output_tokens"],
        cached_tokens=tokens["cached_tokens"],
        reasoning_tokens=tokens["reasoning_tokens"],
        model=_text(completion.get("model")),
        system_fingerprint=_text(completion.get("system_fingerprint")),
        seconds=seconds,
        tokens=_tokens(object_in(choice.get("logprobs")).get("content")),
    )


def _text(said: object) -> str:
    # No database holds half of a surrogate pair, and PostgreSQL holds no NUL.
    return said.replace("\x00", "").encode(errors="replace").decode() if isinstance(said, str) else ""


def object_in(said: object) -> dict[str, Any]:
    """Return what a server says where it is an object, an empty one where it is none."""
    return said if isinstance(said, dict) else {}


def count_of(said: object) -> int | None:
    """Return a count that a server gives, None where it is none that the database takes."""
    return said if isinstance(said, int) and 0 <= said < 2**31 else None


def _tokens(content: Any) -> tuple[Token, ...] | None:
    try:
        tokens = [
            Token(each["token"], {other["token"]: other["logprob"] for other in each["top_logprobs"]})
            for each in content or ()
        ]
    except (KeyError, TypeError):
        return None
    return tuple(tokens) or None
