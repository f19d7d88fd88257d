"""Calls without a reply: the provider's errors in plain words, and the seconds that it asks to wait."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from annotate.core.outbound import PrivateAddressError
from judges.endpoints.questions import RequestProblem, Server

if TYPE_CHECKING:
    import aiohttp
    import httpx2
else:
    aiohttp, httpx2 = LazyModule("aiohttp"), LazyModule("httpx2")

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
Limits = Sequence[tuple[str, str]]
"""Two headers for each limit: what remains, and when the limit starts anew."""
OPENAI_LIMITS: Limits = tuple(
    (f"x-ratelimit-remaining-{each}", f"x-ratelimit-reset-{each}") for each in ("requests", "tokens")
)
ANTHROPIC_LIMITS: Limits = tuple(
    (f"anthropic-ratelimit-{each}-remaining", f"anthropic-ratelimit-{each}-reset")
    for each in ("requests", "tokens", "input-tokens", "output-tokens")
)
logger = logging.getLogger(__name__)
# As OpenAI, Azure, vLLM, llama.cpp, Ollama, Anthropic and Gemini put it.
TOO_LONG_WORDS = (
    *("context_length_exceeded", "exceed_context_size", "maximum context length", "context window"),
    *("available context size", "context length", "prompt is too long", "request_too_large"),
    "input token count",
)
FILTERED_WORDS = (
    *("content_filter", "content_policy", "content management policy", "responsibleai"),
    *("moderation", "flagged_input"),
)
UNPAID_WORDS = (
    *("insufficient_quota", "billing_error", "spend_limit_reached", "insufficient_balance"),
    *("insufficient balance", "credit balance is too low"),
)
KEY_WORDS = ("api_key_invalid",)  # Gemini's 400
DAILY_WORDS = ("perday",)  # in the name of a limit of Gemini's: no pause that it asks for is long enough
OVERLOADED = 529  # Anthropic's own status
OVERLOADED_PAUSE = 5.0  # seconds, if the answer does not specify them
NO_SUCCESS = 400


def seconds_to_wait(headers: Mapping[str, str], limits: Limits = OPENAI_LIMITS) -> float | None:
    """Return the seconds without calls that a server demands after rejecting a call for its limits; None
    if unspecified.
    """
    wait = retry_after(headers)
    return seconds_until_reset(headers, limits) if wait is None else wait


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after-ms`, or of `Retry-After`: seconds or a date (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    return _until(said, parsedate_to_datetime) if seconds is None else seconds


def seconds_until_reset(headers: Mapping[str, str], limits: Limits = OPENAI_LIMITS) -> float | None:
    """Return the seconds until calls are accepted again; None if no limit is used up.

    The latest reset of all used-up limits counts.
    """
    resets = [
        duration(headers.get(reset, ""))
        for remaining, reset in limits
        if _number(headers.get(remaining, "")) == 0
    ]
    return max((seconds for seconds in resets if seconds is not None), default=None)


def _number(said: str) -> float | None:
    try:
        number = float(said)
    except ValueError:
        return None
    # Python reads “nan” and “inf” as numbers, and neither is a pause.
    return max(number, 0.0) if isfinite(number) else None


def duration(said: str) -> float | None:
    """Return seconds from "6m0s", "120ms", a plain number of seconds, or a moment (RFC 3339)."""
    said = said.strip()
    if DURATION.fullmatch(said):
        return sum(float(number) * UNITS[unit] for number, unit in PART.findall(said))
    seconds = _number(said)
    return _until(said, datetime.fromisoformat) if seconds is None else seconds


def _until(said: str, parse: Callable[[str], datetime]) -> float | None:
    try:
        moment = parse(said)
    except ValueError:
        return None
    # A date without a zone is in UTC.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - timezone.now()).total_seconds(), 0.0)


class RequestFailed(Exception):  # noqa: N818 - it reads as what happened
    """A call without an answer.

    `fatal_for_run`: any other call would fail too. `permanent`: this call would fail again. `wait`: the
    seconds that the server wants all clients to wait. `problem`: the problem of the request, if known.
    `unknown_model`: the server may have another model.
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
        """Return True if the server rejects the model or a parameter, and so each request of the same
        judge.
        """
        return self.unknown_model or (self.permanent and self.problem is None)


class BatchUnknown(RequestFailed):
    """The server answers, but does not have the submitted batch."""


class ProviderError(Exception):
    """An error that a server sends instead of a reply.

    status: the HTTP status, or the status inside an answer of 200. message: the server's message, if it has
    the form of its dialect. codes: its codes and kinds of the error, in one string. wait: the seconds that
    all calls should wait.
    """

    def __init__(self, status: int, *, message: str = "", codes: str = "", wait: float | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.message = message
        self.codes = codes
        self.wait = wait

    @property
    def words(self) -> str:
        """Its codes and message in lower case."""
        return f"{self.codes} {self.message}".lower()


@dataclass(frozen=True)
class Kind:
    """The name of a dialect's servers, and the usual end of their URLs."""

    label: str
    url_ends_in: str


@contextmanager
def raise_request_failures(server: Server, kind: Kind, unreadable: str = "") -> Iterator[None]:
    """Raise RequestFailed for an answer that is no valid reply; `unreadable`:

    the message for a malformed one.

    A user who enters a URL must not learn which service is behind it, because that would allow exploring the
    network around Concord. Users see only errors of the dialect's form. All others become one fixed message,
    with a line in the log.
    """
    try:
        yield
    except PrivateAddressError as error:
        raise RequestFailed(str(error), fatal_for_run=True) from error
    except ProviderError as error:
        raise _request_failed(error, server, kind) from error
    except httpx2.TimeoutException as error:
        # aiohttp uses this name also for a rejected or lost connection
        if isinstance(error, httpx2.ConnectTimeout):
            _log(error, server)
            raise RequestFailed(no_server_sentence(server, kind)) from error
        raise RequestFailed(
            gettext("No answer within {seconds:g} s.").format(seconds=server.timeout_seconds)
        ) from error
    # The client of many connections sends by aiohttp, so errors of both packages can arrive.
    except (OSError, aiohttp.ClientError, httpx2.HTTPError) as error:
        _log(error, server)
        raise RequestFailed(no_server_sentence(server, kind)) from error
    except (ValueError, RecursionError) as error:  # no JSON, or nested too deeply
        _log(error, server)
        raise RequestFailed(unreadable or no_server_sentence(server, kind)) from error


def no_server_sentence(server: Server, kind: Kind) -> str:
    """Return the fixed message for anything that is no server of this dialect."""
    return gettext(
        "No {dialect} server answers at {url}; check that it runs, and the address, "
        "which often ends in {ending}."
    ).format(dialect=kind.label, url=server.base_url, ending=kind.url_ends_in)


def _log(error: Exception, server: Server) -> None:
    cause = _hide_key(f"{type(error).__name__}: {error.__cause__ or error}", server.key)
    logger.info("A call to %s failed: %s", server.base_url, cause)


def _request_failed(error: ProviderError, server: Server, kind: Kind) -> RequestFailed:
    failed = _classify(error, _hide_key(error.message, server.key))
    # Only an error in the form of the dialect has a message that users may see.
    if error.message or failed.problem is RequestProblem.TOO_LONG:
        return failed
    _log(error, server)
    return RequestFailed(
        no_server_sentence(server, kind),
        fatal_for_run=failed.fatal_for_run,
        permanent=failed.permanent,
        wait=failed.wait,
    )


def failure_of(error: ProviderError) -> RequestFailed:
    if not error.message:
        return RequestFailed(gettext("The server failed and did not say why."))
    return _classify(error, error.message)


def _classify(error: ProviderError, says: str) -> RequestFailed:
    def failure(sentence: str, **facts: Any) -> RequestFailed:
        return RequestFailed(sentence.format(error=says), **facts)

    # Words come before the status: a 429 may be an empty account, which no pause refills.
    status, refused = error.status, gettext("The server refuses the request: {error}")
    if status == 402 or _has(error, UNPAID_WORDS) or (status == 429 and _has(error, DAILY_WORDS)):
        return failure(gettext("The account has nothing left to spend: {error}"), fatal_for_run=True)
    if status in (429, OVERLOADED):
        usual = 1.0 if status == 429 else OVERLOADED_PAUSE
        return failure(gettext("The server asks to slow down: {error}"), wait=error.wait or usual)
    if status == 413:
        says = says or gettext("it is too long.")
        return failure(refused, permanent=True, problem=RequestProblem.TOO_LONG)
    if status == 403 and _has(error, FILTERED_WORDS):  # of one output; OpenRouter moderates some models
        return failure(refused, permanent=True, problem=RequestProblem.FILTERED)
    if status in (401, 403) or _has(error, KEY_WORDS):
        return failure(gettext("The server refuses the key: {error}"), fatal_for_run=True)
    if status == 404:
        sentence = gettext("The server does not know the model or address: {error}")
        return failure(sentence, fatal_for_run=True, unknown_model=True)
    if status >= 500:
        return failure(gettext("The server failed: {error}"), wait=error.wait)
    if status in (400, 422):
        return failure(refused, permanent=True, problem=_problem(error))
    return failure(gettext("The server's answer cannot be used: {error}"))


def _problem(error: ProviderError) -> RequestProblem | None:
    """Return the problem of a rejected request by its codes or words, None if neither is known."""
    if _has(error, TOO_LONG_WORDS):
        return RequestProblem.TOO_LONG
    return RequestProblem.FILTERED if _has(error, FILTERED_WORDS) else None


def _has(error: ProviderError, words: tuple[str, ...]) -> bool:
    return any(each in error.words for each in words)


def json_of(response: "httpx2.Response") -> Any:
    try:
        return response.json()
    # The parser raises RecursionError for deep nesting, and no answer of a server may end a worker.
    except (ValueError, RecursionError):
        return None


def error_inside(answer: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]] | None:
    """Return the status and object of an error inside an answer of 200; None if there is no error.

    OpenRouter sends one when a model fails after the answer has started, as a field of it or of the choice.
    """
    # The error is a field of the answer, or of its first choice.
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    for holder in (answer, choice if isinstance(choice, dict) else {}):
        error = holder.get("error")
        if isinstance(error, dict) and error:
            # A code may be a word; without a status the error counts as the server's.
            code = error.get("code")
            return (code if isinstance(code, int) and NO_SUCCESS <= code < 600 else 500), error
    return None


def _hide_key(text: str, key: str) -> str:
    # "none" is sent where no key is needed, and may be a word of the message.
    return text.replace(key, "[key]") if key and key != "none" else text
