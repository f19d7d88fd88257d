"""A small provider with a batch interface: it answers every request of a file with the same reply."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.judges.provider import COMPLETION


@dataclass
class BatchProvider:
    """What it replies, the requests of each file that it was given, and its single calls."""

    reply: str
    base_url: str = ""
    called: list[dict[str, Any]] = field(default_factory=list)
    files: list[list[dict[str, Any]]] = field(default_factory=list)

    def batch(self, number: int) -> dict[str, Any]:
        """Return a batch that has ended; its number is that of its file."""
        asked = len(self.files[number])
        return {
            "id": str(number),
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": str(number),
            "completion_window": "24h",
            "status": "completed",
            "output_file_id": str(number),
            "created_at": 0,
            "request_counts": {"total": asked, "completed": asked, "failed": 0},
        }

    @property
    def completion(self) -> dict[str, Any]:
        """What it answers to every request."""
        message = {"role": "assistant", "content": self.reply}
        return {**COMPLETION, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def output(self, number: int) -> str:
        """Return the file of replies."""
        response = {"status_code": 200, "body": self.completion}
        lines = [{"custom_id": asked["custom_id"], "response": response} for asked in self.files[number]]
        return "".join(f"{json.dumps(line)}\n" for line in lines)


@contextmanager
def batch_providing(reply: str) -> Iterator[BatchProvider]:
    """Run a provider on a free port."""
    provider = BatchProvider(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("/chat/completions"):
                provider.called.append(json.loads(sent))
                self.answer(json.dumps(provider.completion))
            elif self.path.endswith("/files"):
                lines = [line for line in sent.split(b"\n") if line.startswith(b'{"custom_id"')]
                provider.files.append([json.loads(line) for line in lines])
                file = {"id": str(len(provider.files) - 1), "object": "file", "purpose": "batch", "bytes": 1}
                self.answer(json.dumps({**file, "created_at": 0, "filename": "f", "status": "processed"}))
            else:
                self.answer(json.dumps(provider.batch(int(json.loads(sent)["input_file_id"]))))

        def do_GET(self) -> None:
            found = re.search(r"/(files|batches)/(\d+)", self.path)
            if found is None:  # whatever it was given
                self.answer(json.dumps({"object": "list", "data": [], "has_more": False}))
            elif found[1] == "files":
                self.answer(provider.output(int(found[2])))
            else:
                self.answer(json.dumps(provider.batch(int(found[2]))))

        def answer(self, content: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content.encode())))
            self.end_headers()
            self.wfile.write(content.encode())

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
