"""Server of recorded replies with OpenAI's interface: a judge that needs no key."""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from judges.management.demonstration.material import ARTICLES, QUALITY, SYSTEMS, Article, felt, why

PORT = 8089
BASE_URL = f"http://127.0.0.1:{PORT}/v1"
MODEL = "recorded-model"
UNKNOWN = "I know the twelve articles of the demonstration, and this text is about none of them."
SPREAD, LENIENT = 0.7, 0.2


def reply_to(prompt: str) -> str:
    """Return the recorded reply to a prompt about a summary of the demonstration, always the same."""
    article = next((each for each in ARTICLES if each.sentences[0] in prompt), None)
    # The first dimension that the prompt names is the one that it asks about.
    asked = {prompt.find(name.capitalize()): name for name in QUALITY if name.capitalize() in prompt}
    position = _position(article, prompt) if article else None
    if article is None or position is None or not asked:
        return UNKNOWN
    dimension = asked[min(asked)]
    value = felt(article, position, dimension, by=MODEL, leaning=LENIENT, spread=SPREAD)
    flawed = SYSTEMS[position] == "small-model"
    reason = why(dimension, article, article.summaries[position], low=value < 4, flawed=flawed)
    # Only the multiple-choice prompt has these words.
    if "letter of your choice" in prompt:
        return f"{'ABCDE'[value - 1]}. {reason}"
    return f"{reason}\nScore: {value}"


def _position(article: Article, prompt: str) -> int | None:
    text = prompt.rpartition("<text>\n")[2].partition("\n</text>")[0].strip()
    return article.summaries.index(text) if text in article.summaries else None


# A server of the replies, on this machine.


class RecordedReplies(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        try:
            sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            prompt = "\n".join(str(each["content"]) for each in sent["messages"])
            completion = completion_of(prompt, int(sent.get("n") or 1))
        except (ValueError, KeyError, TypeError):
            self._send({"error": {"message": "Send a chat completion as JSON."}}, status=400)
        else:
            self._send(completion)

    def _send(self, body: Mapping[str, Any], status: int = 200) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:
        """Disable the log, because prompts do not belong there."""


def completion_of(prompt: str, samples: int) -> dict[str, Any]:
    """Return a chat completion with the recorded reply; a word counts as a token."""
    text = reply_to(prompt)
    message = {"role": "assistant", "content": text}
    choices = [{"index": n, "message": message, "finish_reason": "stop"} for n in range(samples)]
    tokens = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split()) * samples}
    usage = {**tokens, "total_tokens": sum(tokens.values())}
    return {"id": "recorded", "object": "chat.completion", "model": MODEL, "choices": choices, "usage": usage}


def serve_recorded_replies(port: int = PORT) -> ThreadingHTTPServer | None:
    """Serve the replies from a thread of this process; return None if the port is in use.

    Another Concord on this machine gives the same replies at that port.
    """
    try:
        # Only this host may call it, because it demands no key.
        server = ThreadingHTTPServer(("127.0.0.1", port), RecordedReplies)
    except OSError:
        return None
    # A daemon thread does not keep the process alive when its worker stops.
    Thread(target=server.serve_forever, name="recorded replies", daemon=True).start()
    return server
