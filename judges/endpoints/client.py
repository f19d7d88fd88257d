"""Clients of a server: questions in its dialect, and probabilities of given passages."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from django.utils.translation import gettext

from annotate.core.jobs import MaybePaidError
from annotate.core.lazy_module import LazyModule
from judges.core.models import Endpoint
from judges.endpoints.connections import client_of_many, client_of_one
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.failures import (
    ProviderError,
    RequestFailed,
    json_of,
    no_server_sentence,
    raise_request_failures,
    seconds_until_reset,
)
from judges.endpoints.questions import OTHER_NAME, USUAL_NAME, Question, Reply, Server, count_of, object_in

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = LazyModule("httpx2")

T = TypeVar("T")
LONGEST_REST = 60.0  # seconds; limits are per minute, and a 429 shows the remainder of a longer one
BIAS = 100  # added to the logit of the token that has to come: no other one does


class Client:
    """A client of one server with up to `calls_in_flight` connections; close it after use."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.timeout_seconds = server.timeout_seconds
        self._dialect = DIALECTS[server.dialect]
        self._reasoning_models: set[str] = set()
        self._http = client_of_many(server, self._dialect.key_headers(server.key))
        self._base = httpx2.URL(f"{server.base_url.rstrip('/')}/")
        self._urls: dict[str, httpx2.URL] = {}  # by path: joining one takes a twentieth of a call
        self._headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "user-agent": "Concord",
            **self._dialect.own_headers(),
        }

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, question: Question) -> Reply:
        """Return the server's answer; raises RequestFailed with a message that never contains the key."""
        return (await self.ask_samples(question))[0]

    async def ask_samples(self, question: Question) -> list[Reply]:
        """Return up to `n` replies, one at least, each with its share of the tokens.

        Raises RequestFailed like `ask`.

        A server without support for `n` gives one reply, with all the tokens.
        """
        began = time.perf_counter()
        with raise_request_failures(self._server, self._dialect.kind):
            response = await self._complete(question)
            answer = response.json()
            if not isinstance(answer, dict):
                raise RequestFailed(no_server_sentence(self._server, self._dialect.kind))
            replies = self._dialect.replies(answer, time.perf_counter() - began, question.n)
        if replies is None:
            raise RequestFailed(no_server_sentence(self._server, self._dialect.kind))
        rest = min(seconds_until_reset(response.headers, self._dialect.limits) or 0.0, LONGEST_REST)
        learned = OTHER_NAME if question.model in self._reasoning_models else USUAL_NAME
        # The name that this server took is stored, so later runs need no rejected call.
        name = question.max_tokens_name or learned
        return [replace(reply, rest=rest, max_tokens_name=name) for reply in replies]

    async def list_models(self) -> list[str]:
        """Return the names of the server's models in alphabetical order. Raises RequestFailed like `ask`."""
        with raise_request_failures(self._server, self._dialect.kind):
            listed = (await self._send("GET", self._dialect.models_path)).json()
        names = self._dialect.models(listed) if isinstance(listed, dict) else None
        if names is None:
            raise RequestFailed(no_server_sentence(self._server, self._dialect.kind))
        return sorted(set(names))

    async def _complete(self, question: Question) -> "httpx2.Response":
        """Send the question; OpenAI's reasoning models need another name for the reply limit and report it
        in an error.
        """
        body = self._dialect.body(question)
        if question.model in self._reasoning_models and USUAL_NAME in body:
            body[OTHER_NAME] = body.pop(USUAL_NAME)
        try:
            return await self._post(self._dialect.path(question), body)
        except ProviderError as error:
            is_new = self._dialect.renames_limit and question.model not in self._reasoning_models
            if error.status != 400 or OTHER_NAME not in error.message or not is_new:
                raise
        # The second call uses the other name at once, and so does every later one to this model.
        self._reasoning_models.add(question.model)
        return await self._complete(question)

    async def _post(self, path: str, body: Mapping[str, Any]) -> "httpx2.Response":
        """Send a body with the plain HTTP client.

        The providers' packages copy their options and build each header and URL again, which takes a third of
        a call's processor time (docs/decisions/0042-dialects.md).
        """
        # JSON has no NaN, so a body with one fails here and not at the server.
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return await self._send("POST", path, written.encode())

    async def _send(self, method: str, path: str, content: bytes | None = None) -> "httpx2.Response":
        url = self._urls.get(path) or self._urls.setdefault(path, self._base.join(path))
        request = self._http.build_request(method, url, content=content, headers=self._headers)
        response = await self._http.send(request)
        if not response.is_success:
            raise self._dialect.error(response.status_code, response.headers, json_of(response))
        return response


def use_client(server: Server, act: Callable[[Client], Awaitable[T]]) -> T:
    """Return the result of an action with a new client, in a new event loop."""

    async def use() -> T:
        client = Client(server)
        try:
            return await act(client)
        finally:
            await client.close()

    return asyncio.run(use())


def ask_once(server: Server, question: Question) -> Reply:
    """Send one question to a server with a separate client; raises RequestFailed."""
    return use_client(server, lambda client: client.ask(question))


def call_once(server: Server, question: Question) -> Reply:
    """Call a model for a job; raises RequestFailed.

    Raises MaybePaidError for any other failure: the server may have answered, and another call costs again.
    """
    try:
        return ask_once(server, question)
    except RequestFailed:
        raise
    except Exception as error:
        raise MaybePaidError from error


@dataclass(frozen=True)
class TextProbability:
    """log_probabilities: of each token but the first, given all before it. input_tokens: paid, if known."""

    log_probabilities: tuple[float, ...]
    input_tokens: int | None

    @property
    def perplexity(self) -> float | None:
        """The exponential of minus their mean; None for a single token, which has no predecessor.

        None also if it exceeds the largest float: servers report -9999 or -inf for some tokens.
        """
        found = self.log_probabilities
        if not found:
            return None
        try:
            value = math.exp(-sum(found) / len(found))
        except OverflowError:
            return None
        return value if math.isfinite(value) else None


class TextProbabilities:
    """Client that computes the probabilities of passages under a server's model; close it after use.

    It uses completions with `echo` and `logprobs`, as in vLLM. A llama.cpp server has no `echo`: there a
    separate call forces each token (`logit_bias`, which its log-probabilities ignore). Such a call costs
    milliseconds, because the server caches the preceding tokens. Other servers raise an error.
    """

    def __init__(self, server: Server, model: str) -> None:
        self._server, self._model = server, model
        self._dialect = DIALECTS[Endpoint.Dialect.OPENAI]
        self._http = client_of_one(server, self._dialect.key_headers(server.key))
        # None until the first passage shows whether the server has `echo`.
        self._echoes: bool | None = None

    def close(self) -> None:
        self._http.close()

    def of_text(self, text: str) -> TextProbability:
        """Return the probability of a passage.

        Raises RequestFailed, permanently if the server cannot compute it.
        """
        if self._server.dialect != Endpoint.Dialect.OPENAI:
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
        with raise_request_failures(self._server, self._dialect.kind):
            if self._echoes is not False:
                found = self._measure_by_echo(text)
                if found is not None:
                    self._echoes = True
                    return found
                # It gave probabilities before, so only this passage lacks them.
                if self._echoes:
                    raise RequestFailed(_cannot(self._server), permanent=True)
                self._echoes = False
            return self._token_by_token(text)

    def _measure_by_echo(self, text: str) -> TextProbability | None:
        answer = self._complete(prompt=text, echo=True)
        found = object_in(_first(answer.get("choices")).get("logprobs"))
        probabilities, starts = found.get("token_logprobs"), found.get("text_offset")
        if not isinstance(probabilities, list) or not isinstance(starts, list):
            return None
        # Without the first token, which has no probability, and the generated one behind the passage.
        own = [
            float(each)
            for each, start in zip(probabilities, starts, strict=True)
            if each is not None and start < len(text)
        ]
        return TextProbability(tuple(own), count_of(object_in(answer.get("usage")).get("prompt_tokens")))

    def _token_by_token(self, text: str) -> TextProbability:
        tokens = self._tokens(text)
        found = []
        # The first token has no predecessor, so its probability is undefined.
        for index in range(1, len(tokens)):
            answer = self._complete(prompt=tokens[:index], logit_bias={str(tokens[index]): BIAS})
            said = _first(object_in(_first(answer.get("choices")).get("logprobs")).get("content"))
            # A server that ignores `logit_bias` returns another token, so its number means nothing here.
            if said.get("id") != tokens[index] or not isinstance(said.get("logprob"), float | int):
                raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
            found.append(float(said["logprob"]))
        return TextProbability(tuple(found), len(tokens))

    def _tokens(self, text: str) -> list[int]:
        # llama.cpp serves `/tokenize` beside `/v1`, not below it.
        root = self._server.base_url.rstrip("/").removesuffix("/v1")
        try:
            tokens = self._post(f"{root}/tokenize", {"content": text}).get("tokens")
        except ProviderError as error:
            # A server without this path is no llama.cpp, and has no other way to show its tokens.
            if error.status != 404:
                raise
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True) from error
        if not isinstance(tokens, list) or not all(isinstance(each, int) for each in tokens):
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
        return tokens

    def _complete(self, **asked: Any) -> dict[str, Any]:
        # Both ways read log-probabilities, so one generated token is enough.
        usual = {"model": self._model, "max_tokens": 1, "temperature": 0, "logprobs": 1}
        return self._post(f"{self._server.base_url.rstrip('/')}/completions", {**usual, **asked})

    def _post(self, address: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = self._http.send(self._http.build_request("POST", address, json=body))
        if not response.is_success:
            raise self._dialect.error(response.status_code, response.headers, json_of(response))
        return object_in(json.loads(response.content))


def _cannot(server: Server) -> str:
    return gettext(
        "{server} returns no log-probabilities of its input; use a server that does, such as vLLM"
        " (completions with echo) or llama.cpp."
    ).format(server=server.base_url)


def _first(said: object) -> dict[str, Any]:
    return object_in(said[0]) if isinstance(said, list) and said else {}
