"""Client that sends questions to a server in its dialect."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotate.core.jobs import MaybePaidError
from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_many
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.failures import (
    ProviderError,
    RequestFailed,
    json_of,
    no_server_sentence,
    raise_request_failures,
)
from judges.endpoints.limits import seconds_until_reset
from judges.endpoints.questions import OTHER_NAME, USUAL_NAME, Question, Server
from judges.endpoints.replies import Reply

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = LazyModule("httpx2")

LONGEST_REST = 60.0  # seconds; limits are per minute, and a 429 shows the remainder of a longer one


class Client:
    """A client of one server with up to `calls_in_flight` connections; close it after use."""

    def __init__(self, server: Server) -> None:
        self._server = server
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
        self._reasoning_models.add(question.model)
        return await self._complete(question)

    async def _post(self, path: str, body: Mapping[str, Any]) -> "httpx2.Response":
        """Send a body with the plain HTTP client.

        The providers' packages copy their options and build each header and URL again, which takes a third of
        a call's processor time (docs/decisions/0042-dialects.md).
        """
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return await self._send("POST", path, written.encode())

    async def _send(self, method: str, path: str, content: bytes | None = None) -> "httpx2.Response":
        url = self._urls.get(path) or self._urls.setdefault(path, self._base.join(path))
        request = self._http.build_request(method, url, content=content, headers=self._headers)
        response = await self._http.send(request)
        if not response.is_success:
            raise self._dialect.error(response.status_code, response.headers, json_of(response))
        return response


@asynccontextmanager
async def use_client(server: Server) -> AsyncIterator[Client]:
    client = Client(server)
    try:
        yield client
    finally:
        await client.close()


async def ask_once(server: Server, question: Question) -> Reply:
    """Send one question to a server with a separate client; raises RequestFailed."""
    async with use_client(server) as client:
        return await client.ask(question)


async def list_models_once(server: Server) -> list[str]:
    """Return the names of a server's models, with a separate client; raises RequestFailed."""
    async with use_client(server) as client:
        return await client.list_models()


def call_once(server: Server, question: Question) -> Reply:
    """Call a model for a job; raises RequestFailed.

    Raises MaybePaidError for any other failure: the server may have answered, and another call costs again.
    """
    try:
        return asyncio.run(ask_once(server, question))
    except RequestFailed:
        raise
    except Exception as error:
        raise MaybePaidError from error
