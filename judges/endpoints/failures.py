"""Why a server gave no answer, in sentences that never hold a key."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from annotate.core.outbound.guard import PrivateAddressError
from judges.endpoints.limits import retry_after, seconds_to_wait
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    import openai
else:
    aiohttp, httpx2, openai = LazyModule("aiohttp"), LazyModule("httpx2"), LazyModule("openai")

logger = logging.getLogger(__name__)

# As OpenAI, Azure, vLLM, llama.cpp and Ollama put it.
TOO_LONG_WORDS = (
    *("context_length_exceeded", "exceed_context_size", "maximum context length", "context window"),
    *("available context size", "context length"),
)
FILTERED_WORDS = ("content_filter", "content_policy", "content management policy", "responsibleai")


class RequestProblem(Enum):
    """Why a server refuses one request and would take others."""

    FILTERED = "filtered"
    TOO_LONG = "too_long"


class RequestFailed(Exception):  # noqa: N818 - it reads as what happened
    """A call without an answer.

    `fatal_for_run`: no other call would fare better. `permanent`: this one would not, asked again. `wait`:
    the seconds that the server asked everyone to wait. `problem`: what is wrong with the request, if known.
    `unknown_model`: the server may know another model.
    """

    def __init__(
        self,
        sentence: str,
        *,
        fatal_for_run: bool = False,
        permanent: bool = False,
        wait: float | None = None,
        problem: RequestProblem | None = None,
        unknown_model: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.fatal_for_run = fatal_for_run
        self.permanent = permanent
        self.wait = wait
        self.problem = problem
        self.unknown_model = unknown_model

    @property
    def concerns_judge(self) -> bool:
        """Whether the server rejects the model or a parameter, and so each request of the same judge."""
        return self.unknown_model or (self.permanent and self.problem is None)


class BatchUnknown(RequestFailed):
    """The server answers, and does not know a batch that it was given."""


@contextmanager
def in_sentences(server: Server, unreadable: str = "") -> Iterator[None]:
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
        raise RequestFailed(no_server_sentence(server)) from error
    except (ValueError, RecursionError) as error:  # no JSON, or nested too deeply
        _log(error, server)
        raise RequestFailed(unreadable or no_server_sentence(server)) from error


def no_server_sentence(server: Server) -> str:
    """Return the one sentence about whatever is no OpenAI-compatible server."""
    return gettext(
        "No OpenAI-compatible server answers at {url}; check that it runs, and the address, "
        "which often ends in /v1."
    ).format(url=server.base_url)


def _log(error: Exception, server: Server) -> None:
    cause = _without_key(f"{type(error).__name__}: {error.__cause__ or error}", server.key)
    logger.info("A call to %s failed: %s", server.base_url, cause)


def _request_failed(error: "openai.APIError", server: Server) -> RequestFailed:
    if isinstance(error, openai.APITimeoutError) and not _was_never_connected(error):
        return RequestFailed(
            gettext("No answer within {seconds:g} s.").format(seconds=server.timeout_seconds)
        )
    failed = _classify(error, _without_key(message_of(error), server.key))
    if message_of(error):
        return failed
    _log(error, server)
    return RequestFailed(
        no_server_sentence(server),
        fatal_for_run=failed.fatal_for_run,
        permanent=failed.permanent,
        wait=failed.wait,
    )


def _problem(error: "openai.APIError", says: str) -> RequestProblem | None:
    """Return what is wrong with a refused request, by OpenAI's codes or, without them, by the words."""
    message = f"{error.code} {error.type} {says}".lower()
    if any(words in message for words in TOO_LONG_WORDS):
        return RequestProblem.TOO_LONG
    return RequestProblem.FILTERED if any(words in message for words in FILTERED_WORDS) else None


def _classify(error: "openai.APIError", says: str) -> RequestFailed:
    if error.code == "insufficient_quota":  # OpenAI's own 429 that no waiting mends
        return RequestFailed(
            gettext("The account has nothing left to spend: {error}").format(error=says), fatal_for_run=True
        )
    if isinstance(error, openai.RateLimitError):
        return RequestFailed(
            gettext("The server asks to slow down: {error}").format(error=says),
            wait=seconds_to_wait(error.response.headers) or 1.0,
        )
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return RequestFailed(
            gettext("The server refuses the key: {error}").format(error=says), fatal_for_run=True
        )
    if isinstance(error, openai.NotFoundError):
        return RequestFailed(
            gettext("The server does not know the model or address: {error}").format(error=says),
            fatal_for_run=True,
            unknown_model=True,
        )
    if isinstance(error, openai.InternalServerError):
        return RequestFailed(
            gettext("The server failed: {error}").format(error=says), wait=retry_after(error.response.headers)
        )
    if isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        problem = _problem(error, says)
        return RequestFailed(
            gettext("The server refuses the request: {error}").format(error=says),
            permanent=True,
            problem=problem,
        )
    return RequestFailed(gettext("The server's answer cannot be used: {error}").format(error=says))


def error_of_status(response: "httpx2.Response") -> "openai.APIStatusError":
    """Return the package's error for an answer that is no success, as the package itself raises it."""
    kinds: dict[int, type[openai.APIStatusError]] = {
        400: openai.BadRequestError,
        401: openai.AuthenticationError,
        403: openai.PermissionDeniedError,
        404: openai.NotFoundError,
        409: openai.ConflictError,
        422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
    }
    status = response.status_code
    kind = kinds.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    said = body.get("error", body) if isinstance(body, dict) else body
    return kind(f"Error code: {status}", response=response, body=said)


def message_of(error: "openai.APIError") -> str:
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
        body = error.response.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _was_never_connected(error: "openai.APITimeoutError") -> bool:
    # With aiohttp a refused or lost connection is called a timeout of connecting too.
    return isinstance(error.__cause__, httpx2.ConnectTimeout)


def _without_key(text: str, key: str) -> str:
    return text.replace(key, "[key]") if key and key != "none" else text
