"""A server that webhooks are sent to: it keeps what comes, and answers as told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Where it is, what came, and what comes next is answered: the last status for ever after."""

    url: str = ""
    statuses: list[int] = field(default_factory=lambda: [200])
    says: bytes = b"thank you"
    received: list[Received] = field(default_factory=list)

    def answer(self, request: Received) -> int:
        """Keep a request and return the status of its answer."""
        self.received.append(request)
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiver(*statuses: int, says: bytes = b"thank you") -> Iterator[Receiver]:
    """Run a receiver on a port of its own."""
    told = Receiver(statuses=list(statuses) or [200], says=says)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(told.answer(Received(self.path, headers, body)))
            self.send_header("Location", f"{told.url}elsewhere")
            self.send_header("Content-Length", str(len(told.says)))
            self.end_headers()
            self.wfile.write(told.says)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
