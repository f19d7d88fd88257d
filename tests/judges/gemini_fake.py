"""Gemini's `generateContent` and batches inside the test, after their public documentation."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tests.judges.http_fake import Answer, Asked, serving_answers

STATES = {"done": "BATCH_STATE_SUCCEEDED", "cancelled": "BATCH_STATE_CANCELLED", "": "BATCH_STATE_RUNNING"}


def content(text: str = "Score: 4", *, reason: str = "STOP", **fields: Any) -> dict[str, Any]:
    """Return an answer with one candidate, 100 input tokens, 30 of thoughts and 20 of the reply."""
    parts = [{"text": "First I think.", "thought": True}, {"text": text}]
    return {
        "candidates": [
            {"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0, **fields}
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 40,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 30,
            "totalTokenCount": 150,
        },
        "modelVersion": "gemini-3-flash",
        "responseId": "r",
    }


def error(code: int, status: str, says: str, *details: dict[str, Any]) -> dict[str, Any]:
    """Return the body of an error."""
    return {"error": {"code": code, "message": says, "status": status, "details": list(details)}}


@dataclass
class GeminiServer:
    """Its answers and its requests; `first` and `of` as in `AnthropicServer`."""

    base_url: str = ""
    first: list[Answer] = field(default_factory=list)
    of: Callable[[dict[str, Any]], Answer] = lambda body: Answer(content())  # noqa: ARG005
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    ends_after: int = 1
    loses_answers: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answer(self, asked: Asked) -> Answer:
        """Answer as Google would."""
        self.keys.add(asked.headers.get("x-goog-api-key", ""))
        path, _, query = asked.path.partition("?")
        self.paths.append(path)
        if path.endswith(":generateContent"):
            self.asked.append(asked.body)
            return self.first.pop(0) if self.first else self.of(asked.body)
        if path == "/v1beta/models":
            both = [("b", ["generateContent"]), ("a", ["generateContent"]), ("e", ["embedContent"])]
            rows = [{"name": f"models/{name}", "supportedGenerationMethods": how} for name, how in both]
            return Answer({"models": rows})
        if path == "/upload/v1beta/files":
            return self._upload(asked, query)
        if path.endswith(":batchGenerateContent"):
            return self._submit(path, asked.body["batch"])
        if path == "/v1beta/batches":
            return Answer({"operations": [self._shown(each) for each in reversed(self.batches)]})
        if found := re.fullmatch(r"/v1beta/files/(\w+):download", path):
            return Answer(self._responses(found[1]))
        if found := re.fullmatch(r"/v1beta/(batches/\w+)(:cancel)?", path):
            return self._of_batch(found[1], found[2] or "")
        return Answer(error(404, "NOT_FOUND", "Requested entity was not found."), 404)

    def _upload(self, asked: Asked, query: str) -> Answer:
        if asked.headers.get("x-goog-upload-command") == "start":
            # The package sends the rest to the host of the endpoint, whatever the link says.
            link = "https://elsewhere.example/upload/v1beta/files?upload_id=1"
            return Answer({}, headers={"X-Goog-Upload-URL": link, "X-Goog-Upload-Status": "active"})
        assert query == "upload_id=1"
        name = f"f{next(self.numbers)}"
        self.files[name] = asked.content
        return Answer({"file": {"name": f"files/{name}"}}, headers={"X-Goog-Upload-Status": "final"})

    def _submit(self, path: str, batch: dict[str, Any]) -> Answer:
        key = f"batches/b{next(self.numbers)}"
        file = batch["inputConfig"]["fileName"].removeprefix("files/")
        self.batches[key] = {
            "name": batch["displayName"],
            "model": path.removeprefix("/v1beta/").partition(":")[0],
            "requests": [json.loads(line) for line in self.files[file].splitlines()],
            "looks": 0,
            "cancelled": False,
        }
        if self.loses_answers:
            self.loses_answers -= 1
            return Answer(error(500, "INTERNAL", "Internal error encountered."), 500)
        return Answer(self._shown(key))

    def _of_batch(self, key: str, what: str) -> Answer:
        if key not in self.batches:
            return Answer(error(404, "NOT_FOUND", "Requested entity was not found."), 404)
        if what:
            self.batches[key]["cancelled"] = True
            return Answer({})
        self.batches[key]["looks"] += 1
        return Answer(self._shown(key))

    def _shown(self, key: str) -> dict[str, Any]:
        batch = self.batches[key]
        ended = batch["looks"] >= self.ends_after
        state = STATES["" if not ended else "cancelled" if batch["cancelled"] else "done"]
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        about = {"displayName": batch["name"], "model": batch["model"], "state": state, "createTime": now}
        output = {"responsesFile": f"files/{key.removeprefix('batches/')}"} if ended else None
        return {"name": key, "metadata": {**about, **({"output": output} if output else {})}, "done": ended}

    def _responses(self, key: str) -> bytes:
        lines = []
        for each in self.batches[f"batches/{key}"]["requests"]:
            said = self.first.pop(0) if self.first else self.of(each["request"])
            told = {"response": said.body} if said.status == 200 else {"error": said.body["error"]}
            lines.append(json.dumps({"key": each["key"], **told}))
        return "".join(f"{line}\n" for line in lines).encode()


@contextmanager
def gemini_serving(**says: Any) -> Iterator[GeminiServer]:
    """Run a server of Gemini's."""
    server = GeminiServer(**says)
    with serving_answers(server.answer) as url:
        server.base_url = f"{url}/v1beta"
        yield server
