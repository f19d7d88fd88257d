"""Anthropic's Messages and Message Batches inside the test, after their public documentation."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tests.judges.http_fake import Answer, Asked, serving_answers

VERSION = "2026-10-21"
REMOVED = ("temperature", "top_p", "top_k", "seed", "logprobs")  # refused by this version, whatever they are
MOMENT = "2026-11-02T10:00:00Z"


def message(text: str = "Score: 4", *, stop_reason: str = "end_turn", **fields: Any) -> dict[str, Any]:
    """Return a message with one block of text, 100 input and 50 output tokens."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 60,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 10,
            "output_tokens": 50,
            "output_tokens_details": {"thinking_tokens": 20},
        },
        **fields,
    }


def error(kind: str, says: str, **details: Any) -> dict[str, Any]:
    """Return the body of an error."""
    inner = {"type": kind, "message": says, **({"details": details} if details else {})}
    return {"type": "error", "error": inner, "request_id": "req_1"}


@dataclass
class AnthropicServer:
    """Its answers and its requests.

    first: answers to the first calls. of: the answer to all others. batches: the requests of each batch and
    its state. ends_after: looks at a batch before its end.
    """

    base_url: str = ""
    first: list[Answer] = field(default_factory=list)
    of: Callable[[dict[str, Any]], Answer] = lambda body: Answer(message())  # noqa: ARG005
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    ends_after: int = 1
    loses_answers: int = 0  # of submissions, which it takes all the same
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def answer(self, asked: Asked) -> Answer:
        """Answer as Anthropic would."""
        self.keys.add(asked.headers.get("authorization", ""))
        if asked.headers.get("anthropic-version") != VERSION:
            return Answer(error("invalid_request_error", "anthropic-version: header is required"), 400)
        path = asked.path.partition("?")[0]
        if (asked.method, path) == ("POST", "/v1/messages"):
            self.asked.append(asked.body)
            return self.first.pop(0) if self.first else self._reply(asked.body)
        if path == "/v1/models":
            rows = [{"type": "model", "id": name, "display_name": name} for name in ("claude-b", "claude-a")]
            return Answer({"data": rows, "has_more": False})
        if (asked.method, path) == ("POST", "/v1/messages/batches"):
            return self._submit(asked.body["requests"])
        if path == "/v1/messages/batches":
            rows = [self._shown(each) for each in reversed(self.batches)]
            return Answer({"data": rows, "has_more": False, "first_id": None, "last_id": None})
        if found := re.fullmatch(r"/v1/messages/batches/(\w+)(/results|/cancel)?", path):
            return self._of_batch(found[1], found[2] or "")
        return Answer(error("not_found_error", "Not Found"), 404)

    def _reply(self, body: dict[str, Any]) -> Answer:
        if found := next((name for name in REMOVED if name in body), None):
            return Answer(error("invalid_request_error", f"{found}: Extra inputs are not permitted"), 400)
        return self.of(body)

    def _submit(self, requests: list[dict[str, Any]]) -> Answer:
        key = f"msgbatch_{next(self.numbers)}"
        self.batches[key] = {"requests": requests, "looks": 0, "cancelled": False}
        if self.loses_answers:
            self.loses_answers -= 1
            return Answer(error("api_error", "Internal server error"), 500)
        return Answer(self._shown(key))

    def _of_batch(self, key: str, what: str) -> Answer:
        if key not in self.batches:
            return Answer(error("not_found_error", "batch not found"), 404)
        if what == "/results":
            return Answer(self._results(key))
        if what == "/cancel":
            self.batches[key]["cancelled"] = True
        else:
            self.batches[key]["looks"] += 1
        return Answer(self._shown(key))

    def _has_ended(self, key: str) -> bool:
        return bool(self.batches[key]["looks"] >= self.ends_after)

    def _shown(self, key: str) -> dict[str, Any]:
        ended, many = self._has_ended(key), len(self.batches[key]["requests"])
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        cancelled = self.batches[key]["cancelled"]
        counts["processing" if not ended else "canceled" if cancelled else "succeeded"] = many
        return {
            "id": key,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if cancelled else "in_progress",
            "request_counts": counts,
            "created_at": datetime.now(UTC).isoformat(),
            "expires_at": datetime.now(UTC).isoformat(),
            "ended_at": MOMENT if ended else None,
            "cancel_initiated_at": MOMENT if cancelled else None,
            "archived_at": None,
            "results_url": f"{self.base_url}/messages/batches/{key}/results" if ended else None,
        }

    def _results(self, key: str) -> bytes:
        lines = []
        for each in reversed(self.batches[key]["requests"]):  # in any order, the documentation says
            if self.batches[key]["cancelled"]:
                result: dict[str, Any] = {"type": "canceled"}
            else:
                said = self.first.pop(0) if self.first else self._reply(each["params"])
                done = said.status == 200
                result = (
                    {"type": "succeeded", "message": said.body}
                    if done
                    else {
                        "type": "errored",
                        "error": said.body,
                    }
                )
            lines.append(json.dumps({"custom_id": each["custom_id"], "result": result}))
        return "".join(f"{line}\n" for line in lines).encode()


@contextmanager
def anthropic_serving(**says: Any) -> Iterator[AnthropicServer]:
    """Run a server of Anthropic's."""
    server = AnthropicServer(**says)
    with serving_answers(server.answer) as url:
        server.base_url = f"{url}/v1"
        yield server
