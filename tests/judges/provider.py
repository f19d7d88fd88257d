"""A small provider inside the test: it answers every call as it is told, and remembers what was sent."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMPLETION = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
}


@dataclass
class Provider:
    """What a provider answers, and what it was asked."""

    base_url: str
    reply: str = "Score: 4"
    reply_to: Callable[[dict[str, Any]], str] | None = None  # in place of the same reply to everyone
    status: int = 200
    error: str = ""
    code: str | None = None
    body: str | None = None  # sent as it is, in place of a completion
    kind: str = "application/json"
    seconds: float = 0
    answers: threading.Semaphore | None = None  # as many as it may give; more are added by a test
    refuses: str = ""  # a field of the request that it does not take, with an error that names another
    finish_reason: str = "stop"
    refusal: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    in_flight: Counter[str] = field(default_factory=Counter)  # calls of each model
    most_in_flight: int = 0
    counting: threading.Lock = field(default_factory=threading.Lock)

    def count(self, model: str, calls: int) -> None:
        """Count a call that comes or goes."""
        with self.counting:
            self.in_flight[model] += calls
            self.most_in_flight = max(self.most_in_flight, self.in_flight.total())

    def status_for(self, request: dict[str, Any]) -> int:
        return 400 if self.refuses in request else self.status

    def answer(self, status: int, reply: str | None = None) -> str:
        reply = self.reply if reply is None else reply
        if self.body is not None:
            return self.body
        if status != 200:
            error = {"message": self.error, "type": "t", "param": None, "code": self.code}
            return json.dumps({"error": error})
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": reply, "refusal": self.refusal},
            "finish_reason": self.finish_reason,
        }
        return json.dumps({**COMPLETION, "choices": [choice]})


@contextmanager
def providing(**says: Any) -> Iterator[Provider]:
    """Run a provider that says the same to everyone."""
    provider = Provider("", **says)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            provider.keys.append(self.headers["Authorization"].removeprefix("Bearer "))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            provider.asked.append(body)
            model = body.get("model", "")
            provider.count(model, 1)
            time.sleep(provider.seconds)
            if provider.answers is not None:
                provider.answers.acquire()
            status = provider.status_for(body)
            said = [provider.reply_to(body)] if provider.reply_to else []
            content = provider.answer(status, *said).encode()
            provider.count(model, -1)
            self.send_response(status)
            self.send_header("Content-Type", provider.kind)
            self.send_header("Content-Length", str(len(content)))
            for name, value in provider.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # who asked may have given up
                self.wfile.write(content)

        def do_GET(self) -> None:
            provider.keys.append(self.headers["Authorization"].removeprefix("Bearer "))
            is_known = self.path.endswith("/models")
            listed = json.dumps({"object": "list", "data": [{"id": each} for each in provider.models]})
            content = (provider.body if provider.body is not None else listed if is_known else "{}").encode()
            self.send_response(provider.status if is_known else 404)
            self.send_header("Content-Type", provider.kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield provider
    server.shutdown()
    server.server_close()
    thread.join()
