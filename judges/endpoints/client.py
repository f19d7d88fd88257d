"""Asking an OpenAI-compatible server one question after another."""

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
from judges.endpoints.failures import (
    RequestFailed,
    error_of_status,
    in_sentences,
    message_of,
    no_server_sentence,
)
from judges.endpoints.limits import seconds_until_reset
from judges.endpoints.questions import COMPLETIONS, OTHER_NAME, USUAL_NAME, Question, Server, body_of
from judges.endpoints.replies import Reply, replies_of

if TYPE_CHECKING:
    import httpx2
    import openai
else:
    httpx2, openai = LazyModule("httpx2"), LazyModule("openai")

LONGEST_REST = 60.0  # seconds; limits are per minute, and what a longer one leaves is seen by its 429


class Client:
    """Asks one server, at most `calls_in_flight` at a time by its connections; close it after use."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reasoning_models: set[str] = set()
        self._http = client_of_many(server.base_url, server.key, server.timeout_seconds)
        base = f"{server.base_url.rstrip('/')}/"
        self._headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "user-agent": f"AsyncOpenAI/Python {openai.__version__}",
        }
        self._completions = httpx2.URL(base).join(COMPLETIONS.removeprefix("/v1/"))
        self._models = httpx2.URL(base).join("models")

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, question: Question) -> Reply:
        """Return the server's answer; raises RequestFailed with a sentence that never holds the key."""
        return (await self.ask_samples(question))[0]

    async def ask_samples(self, question: Question) -> list[Reply]:
        """Return at most `n` replies, one at least, each with its share of the tokens. Raises as asking does.

        A server that does not know `n` gives one reply, with all the tokens.
        """
        began = time.perf_counter()
        with in_sentences(self._server):
            response = await self._complete(question)
            completion = response.json()
        if not isinstance(completion, dict) or "choices" not in completion:
            raise RequestFailed(no_server_sentence(self._server))
        replies = replies_of(completion, time.perf_counter() - began, question.n)
        rest = min(seconds_until_reset(response.headers) or 0.0, LONGEST_REST)
        learned = OTHER_NAME if question.model in self._reasoning_models else USUAL_NAME
        name = question.max_tokens_name or learned
        return [replace(reply, rest=rest, max_tokens_name=name) for reply in replies]

    async def list_models(self) -> list[str]:
        """Return the names of the server's models in alphabetical order. Raises as asking does."""
        with in_sentences(self._server):
            listed = (await self._send("GET", self._models)).json()
        rows = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(rows, list):
            raise RequestFailed(no_server_sentence(self._server))
        names = {row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}
        return sorted(names)

    async def _complete(self, question: Question) -> "httpx2.Response":
        """Ask; OpenAI's models that reason name the longest reply otherwise, and say so when asked."""
        body = body_of(question)
        if question.model in self._reasoning_models and USUAL_NAME in body:
            body[OTHER_NAME] = body.pop(USUAL_NAME)
        try:
            return await self._post(body)
        except openai.BadRequestError as error:
            if OTHER_NAME not in message_of(error) or question.model in self._reasoning_models:
                raise
        self._reasoning_models.add(question.model)
        return await self._complete(question)

    async def _post(self, body: Mapping[str, Any]) -> "httpx2.Response":
        """Send a body by the package's HTTP client; raises its errors.

        `AsyncOpenAI.post` copies its options three times and makes each header and address anew, which takes
        a third of a call's processor time; `chat.completions.create` looks through every field besides.
        """
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return await self._send("POST", self._completions, written.encode())

    async def _send(self, method: str, url: "httpx2.URL", content: bytes | None = None) -> "httpx2.Response":
        request = self._http.build_request(method, url, content=content, headers=self._headers)
        try:
            response = await self._http.send(request)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=request) from error
        except httpx2.HTTPError as error:
            raise openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise error_of_status(response)
        return response


@asynccontextmanager
async def use_client(server: Server) -> AsyncIterator[Client]:
    """Give a client of a server, and close it."""
    client = Client(server)
    try:
        yield client
    finally:
        await client.close()


async def ask_once(server: Server, question: Question) -> Reply:
    """Ask a server one question by a client of its own; raises RequestFailed."""
    async with use_client(server) as client:
        return await client.ask(question)


async def list_models_once(server: Server) -> list[str]:
    """Return the names of a server's models by a client of its own; raises RequestFailed."""
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
