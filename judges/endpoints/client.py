"""Talking to an OpenAI-compatible server: the only module that knows the openai package."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import IO, TYPE_CHECKING, Any, Literal

from annotate.core.outbound.guard import PrivateAddressError
from judges.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_many, client_of_one
from judges.endpoints.limits import retry_after, seconds_to_wait, seconds_until_reset
from judges.methods.base import Message

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    import openai
else:
    aiohttp, httpx2, openai = LazyModule("aiohttp"), LazyModule("httpx2"), LazyModule("openai")

logger = logging.getLogger(__name__)

CANDIDATE_TOKENS = 20  # the most that servers give for one position
COMPLETIONS: Literal["/v1/chat/completions"] = "/v1/chat/completions"
# Fields of a request that Concord fills, or whose other values it could not read.
OWN_FIELDS = frozenset(
    {
        *("model", "messages", "temperature", "top_p", "seed", "stop", "reasoning_effort", "max_tokens"),
        *("max_completion_tokens", "response_format", "logprobs", "top_logprobs", "n", "stream"),
    }
)
USUAL_NAME, OTHER_NAME = "max_tokens", "max_completion_tokens"  # of the longest reply
# As OpenAI, Azure, vLLM, llama.cpp and Ollama put it.
TOO_LONG_WORDS = (
    *("context_length_exceeded", "exceed_context_size", "maximum context length", "context window"),
    *("available context size", "context length"),
)
FILTERED_WORDS = ("content_filter", "content_policy", "content management policy", "responsibleai")
METADATA = "concord_batch"  # the key by which a batch is found again
FILE_TIMEOUT = 300.0  # seconds; a large file takes longer than a call
PIECE = 2**16  # bytes
LONGEST_REST = 60.0  # seconds; limits are per minute, and what a longer one leaves is seen by its 429
MOST_PROBLEMS = 3  # of a refused batch, which may name one for each line


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


class RequestProblem(Enum):
    """Why a server refuses one request and would take others."""

    FILTERED = "filtered"
    TOO_LONG = "too_long"


class RequestFailed(Exception):  # noqa: N818 - it reads as what happened
    """A call without an answer.

    `fatal_for_run`: no other call would fare better. `permanent`: this one would not, asked again. `wait`:
    the seconds that the server asked everyone to wait. `problem`: what is wrong with the request, if known.
    """

    def __init__(
        self,
        sentence: str,
        *,
        fatal_for_run: bool = False,
        permanent: bool = False,
        wait: float | None = None,
        problem: RequestProblem | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.fatal_for_run = fatal_for_run
        self.permanent = permanent
        self.wait = wait
        self.problem = problem


class BatchUnknown(RequestFailed):
    """The server answers, and does not know a batch that it was given."""


class Client:
    """Asks one server, at most `calls_in_flight` at a time by its connections; close it after use."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reasoning_models: set[str] = set()
        self._openai = openai.AsyncOpenAI(
            api_key=server.key,
            base_url=server.base_url,
            timeout=server.timeout_seconds,
            max_retries=0,
            http_client=client_of_many(server.base_url, server.key, server.timeout_seconds),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()

    async def ask(self, question: Question) -> Reply:
        """Return the server's answer; raises RequestFailed with a sentence that never holds the key."""
        return (await self.ask_samples(question))[0]

    async def ask_samples(self, question: Question) -> list[Reply]:
        """Return at most `n` replies, one at least, each with its share of the tokens. Raises as asking does.

        A server that does not know `n` gives one reply, with all the tokens.
        """
        began = time.perf_counter()
        with _in_sentences(self._server):
            response = await self._complete(question)
            completion = response.json()
        if not isinstance(completion, dict) or "choices" not in completion:
            raise RequestFailed(_no_server(self._server))
        replies = _replies(completion, time.perf_counter() - began, question.n)
        rest = min(seconds_until_reset(response.headers) or 0.0, LONGEST_REST)
        learned = OTHER_NAME if question.model in self._reasoning_models else USUAL_NAME
        name = question.max_tokens_name or learned
        return [replace(reply, rest=rest, max_tokens_name=name) for reply in replies]

    async def _complete(self, question: Question) -> "httpx2.Response":
        """Ask; OpenAI's models that reason name the longest reply otherwise, and say so when asked."""
        body = body_of(question)
        if question.model in self._reasoning_models and USUAL_NAME in body:
            body[OTHER_NAME] = body.pop(USUAL_NAME)
        try:
            # The package's own way to a path. `chat.completions.create` looks through every field of a body
            # and of an answer that are plain already, which takes a quarter of a call's processor time.
            path = COMPLETIONS.removeprefix("/v1")
            return await self._openai.post(path, body=body, cast_to=httpx2.Response)
        except openai.BadRequestError as error:
            if OTHER_NAME not in _message(error) or question.model in self._reasoning_models:
                raise
        self._reasoning_models.add(question.model)
        return await self._complete(question)


async def ask_once(server: Server, question: Question) -> Reply:
    """Ask a server one question by a client of its own; raises RequestFailed."""
    client = Client(server)
    try:
        return await client.ask(question)
    finally:
        await client.close()


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as the provider tells it. `refusal`: why it asked none of the requests."""

    id: str
    status: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in ("completed", "failed", "expired", "cancelled")

    @property
    def can_be_cancelled(self) -> bool:
        """Whether it is neither over nor about to be."""
        return not self.has_ended and self.status != "cancelling"


class BatchClient:
    """Hands files of requests to one server's batch interface and fetches what came of them.

    Its methods wait, and raise RequestFailed with a sentence that never holds the key. Close it after use.
    """

    def __init__(self, server: Server) -> None:
        self._server = replace(server, timeout_seconds=max(server.timeout_seconds, FILE_TIMEOUT))
        self._openai = openai.OpenAI(
            api_key=server.key,
            base_url=server.base_url,
            timeout=self._server.timeout_seconds,
            max_retries=0,
            http_client=client_of_one(server.base_url, server.key, self._server.timeout_seconds),
        )

    def close(self) -> None:
        """Close the connections."""
        self._openai.close()

    def upload(self, requests: IO[bytes]) -> str:
        """Upload a file of requests and return the id that the provider gives it."""
        with _in_sentences(self._server, _NO_BATCHES):
            stored = self._openai.files.create(file=("judgments.jsonl", requests), purpose="batch")
            if not isinstance(stored, openai.types.FileObject) or not stored.id:
                raise RequestFailed(_NO_BATCHES, fatal_for_run=True)
            return stored.id

    def create(self, input_file: str, token: str) -> RemoteBatch:
        """Submit an uploaded file as a batch that can be found by its token."""
        with _in_sentences(self._server, _NO_BATCHES):
            return _remote(
                self._openai.batches.create(
                    input_file_id=input_file,
                    endpoint=COMPLETIONS,
                    completion_window="24h",
                    metadata={METADATA: token},
                )
            )

    def find(self, token: str, since: datetime) -> RemoteBatch | None:
        """Return the batch with a token if the server has one; None too where it lists no batches."""
        with _in_sentences(self._server):
            try:
                for batch in self._openai.batches.list(limit=100):
                    if (batch.metadata or {}).get(METADATA) == token:
                        return _remote(batch)
                    if batch.created_at < since.timestamp():
                        return None  # they are listed from the newest on
            except (AttributeError, TypeError, ValueError):
                return None
            except openai.APIStatusError as error:
                if error.status_code not in (400, 404, 405, 501):
                    raise
        return None

    def look(self, batch: str) -> RemoteBatch:
        """Return how far a batch is; raises BatchUnknown where the server does not know it."""
        with _in_sentences(self._server, _NO_BATCHES):
            try:
                return _remote(self._openai.batches.retrieve(batch))
            except openai.NotFoundError as error:
                raise BatchUnknown(f"The server does not know the batch {batch}.") from error

    def cancel(self, batch: str) -> None:
        """Ask the provider to begin no more requests of a batch."""
        with _in_sentences(self._server, _NO_BATCHES):
            self._openai.batches.cancel(batch)

    def download(self, file: str, into: IO[bytes]) -> None:
        """Write a file of the provider's into one here, piece by piece; raises BatchUnknown if it is gone."""
        content = self._openai.files.with_streaming_response.content
        with _in_sentences(self._server, _NO_BATCHES):
            try:
                with content(file) as response:
                    for piece in response.iter_bytes(PIECE):
                        into.write(piece)
            except openai.NotFoundError as error:
                raise BatchUnknown(f"The server does not know the file {file} any more.") from error


def _remote(batch: object) -> RemoteBatch:
    if not isinstance(batch, openai.types.Batch) or not isinstance(batch.id, str) or not batch.id:
        raise RequestFailed(_NO_BATCHES)
    counts = batch.request_counts
    problems = [each.message for each in (batch.errors and batch.errors.data) or [] if each.message]
    return RemoteBatch(
        id=batch.id,
        status=str(batch.status),
        completed=(counts and _count(counts.completed)) or 0,
        failed=(counts and _count(counts.failed)) or 0,
        files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        refusal=" ".join(problems[:MOST_PROBLEMS]),
    )


_NO_BATCHES = "What answered does not know OpenAI's batch interface; plan the run with one call a judgment."


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


def reply_of(body: object) -> Reply:
    """Return the reply in a completion as a batch's output file has it; raises RequestFailed."""
    if not isinstance(body, dict) or not body.get("choices"):
        raise RequestFailed("The batch's output has no completion for this request.")
    return _replies(body, None, 1)[0]


def _replies(completion: dict[str, Any], seconds: float | None, most: int) -> list[Reply]:
    said = completion.get("choices")
    choices = (said[:most] if isinstance(said, list) else []) or [{}]
    usage = _object(completion.get("usage"))
    counts = {
        name: _count(_object(usage.get(path)).get(key) if path else usage.get(key))
        for name, path, key in _USAGE
    }
    return [
        _reply(
            completion,
            _object(choice),
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
    message = _object(choice.get("message"))
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
        tokens=_tokens(_object(choice.get("logprobs")).get("content")),
    )


def _text(said: object) -> str:
    return said.replace("\x00", "") if isinstance(said, str) else ""


def _object(said: object) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}


def _count(said: object) -> int | None:
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


@contextmanager
def _in_sentences(server: Server, unreadable: str = "") -> Iterator[None]:
    """Raise RequestFailed for what was not answered as it should be; `unreadable`: for what makes no sense.

    Whoever enters an address must not learn what speaks behind it, or the network around Concord could be
    explored: only errors of OpenAI's form are shown, all others are one sentence here and a line of the log.
    """
    try:
        yield
    except PrivateAddressError as error:
        raise RequestFailed(str(error), fatal_for_run=True) from error
    except openai.APIError as error:
        raise _request_failed(error, server) from error
    except (OSError, aiohttp.ClientError, httpx2.HTTPError) as error:
        _log(error, server)
        raise RequestFailed(_no_server(server)) from error
    except (ValueError, RecursionError) as error:  # no JSON, or nested too deeply
        _log(error, server)
        raise RequestFailed(unreadable or _no_server(server)) from error


def _no_server(server: Server) -> str:
    return (
        f"No OpenAI-compatible server answers at {server.base_url}; check that it runs, and the address, "
        "which often ends in /v1."
    )


def _log(error: Exception, server: Server) -> None:
    cause = _without_key(f"{type(error).__name__}: {error.__cause__ or error}", server.key)
    logger.info("A call to %s failed: %s", server.base_url, cause)


def _request_failed(error: "openai.APIError", server: Server) -> RequestFailed:
    if isinstance(error, openai.APITimeoutError) and not _was_never_connected(error):
        return RequestFailed(f"No answer within {server.timeout_seconds:g} s.")
    failed = _classify(error, _without_key(_message(error), server.key))
    if _message(error):
        return failed
    _log(error, server)
    return RequestFailed(
        _no_server(server), fatal_for_run=failed.fatal_for_run, permanent=failed.permanent, wait=failed.wait
    )


def _problem(error: "openai.APIError", says: str) -> RequestProblem | None:
    """Return what is wrong with a refused request, by OpenAI's codes or, without them, by the words."""
    message = f"{error.code} {error.type} {says}".lower()
    if any(words in message for words in TOO_LONG_WORDS):
        return RequestProblem.TOO_LONG
    return RequestProblem.FILTERED if any(words in message for words in FILTERED_WORDS) else None


def _classify(error: "openai.APIError", says: str) -> RequestFailed:
    if error.code == "insufficient_quota":  # OpenAI's own 429 that no waiting mends
        return RequestFailed(f"The account has nothing left to spend: {says}", fatal_for_run=True)
    if isinstance(error, openai.RateLimitError):
        return RequestFailed(
            f"The server asks to slow down: {says}", wait=seconds_to_wait(error.response.headers) or 1.0
        )
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return RequestFailed(f"The server refuses the key: {says}", fatal_for_run=True)
    if isinstance(error, openai.NotFoundError):
        return RequestFailed(f"The server does not know the model or address: {says}", fatal_for_run=True)
    if isinstance(error, openai.InternalServerError):
        return RequestFailed(f"The server failed: {says}", wait=retry_after(error.response.headers))
    if isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        problem = _problem(error, says)
        return RequestFailed(f"The server refuses the request: {says}", permanent=True, problem=problem)
    return RequestFailed(f"The server's answer cannot be used: {says}")


def _message(error: "openai.APIError") -> str:
    """Return what the server itself said where it said it as OpenAI does, vLLM included; else nothing."""
    body = _json_of(error)
    inner = body.get("error")
    said = inner.get("message") if isinstance(inner, dict) else None
    if body.get("object") == "error":
        said = said or body.get("message")
    return said if isinstance(said, str) else ""


def _json_of(error: "openai.APIError") -> dict[str, Any]:
    if not isinstance(error, openai.APIStatusError):
        return {}
    try:
        return _object(error.response.json())
    except (ValueError, RecursionError):
        return {}


def _was_never_connected(error: "openai.APITimeoutError") -> bool:
    # With aiohttp a refused or lost connection is called a timeout of connecting too.
    return isinstance(error.__cause__, httpx2.ConnectTimeout)


def _without_key(text: str, key: str) -> str:
    return text.replace(key, "[key]") if key and key != "none" else text
