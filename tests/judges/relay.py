"""What lies between a worker and a server: it passes requests on, can list batches, and lets a test step in.

A test says what happens in place of passing a request on, or after it was and before its answer goes back:
kill the worker there, say. The server behind it need not list batches; this remembers those that were made.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

Hook = Callable[[], None]
Answer = tuple[int, bytes]


@dataclass
class Relay:
    """Requests that passed, as "POST /batches", and what is to happen at some of them, once."""

    base_url: str
    lists_batches: bool = True
    passed: list[str] = field(default_factory=list)
    before: dict[str, Hook] = field(default_factory=dict)
    after: dict[str, Hook] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)  # in place of the server's, as often as asked
    batches: list[dict[str, Any]] = field(default_factory=list)

    def count(self, what: str) -> int:
        return self.passed.count(what)


def _name(method: str, path: str) -> str:
    """Return a request without the ids in it."""
    parts = path.split("?")[0].removeprefix("/v1").split("/")
    return f"{method} " + "/".join("ID" if "_" in part or "file-" in part else part for part in parts)


@contextmanager
def relaying(upstream: str) -> Iterator[Relay]:
    """Pass requests on to a server and its answers back."""
    relay = Relay("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            name = _name(self.command, self.path)
            if name in relay.before:
                relay.before.pop(name)()
                self.close_connection = True
                return
            status, content = self._answer(name, body)
            relay.passed.append(name)
            relay.after.pop(name, lambda: None)()
            with suppress(ConnectionError):  # who asked may be dead
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def _answer(self, name: str, body: bytes) -> Answer:
            if name in relay.answers:
                return relay.answers[name]
            if name == "GET /batches" and relay.lists_batches:
                newest_first = relay.batches[::-1]
                return 200, json.dumps({"object": "list", "data": newest_first, "has_more": False}).encode()
            status, content = self._passed_on(body)
            if name == "POST /batches" and status == 200:
                relay.batches.append(json.loads(content))
            return status, content

        def _passed_on(self, body: bytes) -> Answer:
            headers = {"Content-Type": self.headers.get("Content-Type") or "application/json"}
            path = self.path.removeprefix("/v1")
            request = Request(f"{upstream}{path}", body or None, headers, method=self.command)
            try:
                with urlopen(request, timeout=60) as reply:
                    return reply.status, reply.read()
            except HTTPError as error:
                with error:
                    return error.code, error.read()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    relay.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield relay
    server.shutdown()
    server.server_close()
    thread.join()
