"""What a provider answers, as one sentence where it is no answer."""

import asyncio
import json
import threading
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Semaphore

import pytest

from judges.endpoints.client import Client
from judges.endpoints.dialects.chat_completions import OpenAIBatches
from judges.endpoints.failures import RequestFailed
from judges.endpoints.questions import Question, Reply, Server
from judges.methods.base import Message


def ask(url: str, key: str = "k", timeout: float = 5) -> Reply:
    async def once() -> Reply:
        client = Client(Server(url, key, timeout, 1))
        try:
            return await client.ask(Question("m", (Message("user", "Hello"),), 0, 5))
        finally:
            await client.close()

    return asyncio.run(once())


def failure(url: str, **how: object) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        ask(url, **how)  # type: ignore[arg-type]
    return caught.value


def test_reply_has_content_and_tokens(provider):
    reply = ask(provider.base_url)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("Score: 4", 100, 50)


@pytest.mark.parametrize("body", ["<html>It works!</html>", "[1]", "null", "Ollama is running"])
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_invalid_completion_has_an_explanation(provider, body, kind):
    provider.body, provider.kind = body, kind
    assert failure(provider.base_url).sentence.startswith("No OpenAI-compatible server answers at")


@pytest.mark.parametrize("body", ['{"choices": null}', '{"choices": [{"index": 0, "message": null}]}'])
def test_a_completion_without_content_is_an_empty_reply(provider, body):
    provider.body = body
    assert ask(provider.base_url).text == ""


def test_reasoning_model_gets_the_maximum_reply_length_by_its_own_name(provider):
    provider.refuses = "max_tokens"
    provider.error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    assert ask(provider.base_url).text == "Score: 4"
    assert [each.get("max_completion_tokens") for each in provider.asked] == [None, 5]


def test_rejected_connection_is_not_reported_as_slow():
    sentence = failure("http://127.0.0.1:9/v1").sentence
    assert sentence.startswith("No OpenAI-compatible server answers at http://127.0.0.1:9/v1")


def test_a_server_that_is_silent_is_cut_off(provider):
    provider.answers = Semaphore(0)
    assert failure(provider.base_url, timeout=0.2).sentence == "No answer within 0.2 s."
    provider.answers.release(10)


@pytest.mark.parametrize(("status", "fatal_for_run"), [(401, True), (403, True), (404, True), (400, False)])
def test_provider_message_omits_the_key(provider, status, fatal_for_run):
    provider.status, provider.error = status, "Incorrect key provided: planted-key. Find yours online."
    error = failure(provider.base_url, key="planted-key")
    assert error.sentence.endswith(": Incorrect key provided: [key]. Find yours online.")
    assert error.fatal_for_run is fatal_for_run


# The batch interface

MADE = {
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "input_file_id": "f",
    "completion_window": "24h",
}


@contextmanager
def listing(*pages, status=200):
    """Serve pages of batches; the client has to be given the first one's address."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            page = pages[min(len(asked), len(pages)) - 1]
            more = len(asked) < len(pages)
            content = json.dumps({"object": "list", "data": page, "has_more": more}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    with closing(OpenAIBatches(Server(f"http://127.0.0.1:{server.server_port}/v1", "k", 5, 1))) as client:
        yield client, asked
    server.shutdown()
    server.server_close()
    thread.join()


def made(name, at, token=None):
    metadata = {"concord_batch": token} if token else None
    return {**MADE, "id": name, "status": "in_progress", "created_at": at, "metadata": metadata}


SINCE = datetime.fromtimestamp(1000, UTC)


def test_batch_is_located_by_its_token_on_any_page():
    with listing([made("a", 1300), made("b", 1200, "other")], [made("c", 1100, "mine")]) as (client, asked):
        found = client.find("mine", SINCE)
    assert found is not None
    assert (found.id, found.status, found.has_ended) == ("c", "in_progress", False)
    assert len(asked) == 2


def test_batches_older_than_ours_are_not_gone_through():
    with listing([made("a", 1300), made("b", 900)], [made("c", 800, "mine")]) as (client, asked):
        assert client.find("mine", SINCE) is None
    assert len(asked) == 1


@pytest.mark.parametrize("status", [400, 404, 405, 501])
def test_a_server_that_lists_no_batches_has_not_ours(status):
    with listing([], status=status) as (client, _):
        assert client.find("mine", SINCE) is None


@pytest.mark.parametrize(("status", "fatal_for_run"), [(401, True), (500, False), (503, False)])
def test_a_list_that_failed_is_not_taken_for_an_empty_one(status, fatal_for_run):
    with listing([], status=status) as (client, _), pytest.raises(RequestFailed) as caught:
        client.find("mine", SINCE)
    assert caught.value.fatal_for_run is fatal_for_run


@pytest.mark.parametrize("said", ["<html>", "[]", '{"id": null}', '{"id": ""}', "null"])
def test_invalid_batch_has_an_explanation(provider, said):
    provider.body = said
    server = Server(provider.base_url, "k", 5, 1)
    says = "does not know OpenAI-compatible batches"
    with closing(OpenAIBatches(server)) as client, pytest.raises(RequestFailed, match=says):
        client.create("file-1", "token", "m")
