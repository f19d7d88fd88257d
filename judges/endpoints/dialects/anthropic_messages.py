"""Anthropic's Messages, in the version of October 2026: no temperature, no seed, no log-probabilities."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.core.models import ScoreFrom
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.base import (
    PIECE,
    SCHEMA_NAME,
    BatchClient,
    BatchLine,
    Dialect,
    Refused,
    RemoteBatch,
    Settings,
)
from judges.endpoints.failures import (
    ANTHROPIC_LIMITS,
    BatchUnknown,
    Kind,
    ProviderError,
    RequestFailed,
    retry_after,
    seconds_to_wait,
)
from judges.endpoints.questions import (
    Question,
    Reply,
    RequestProblem,
    Server,
    count_of,
    object_in,
    objects_in,
    text_of,
)
from judges.methods.base import Message

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch
else:
    anthropic = LazyModule("anthropic")

VERSION = "2026-10-21"
# Anthropic keeps no beginning shorter than 1,024 tokens (some models: 4,096); marking one costs nothing then.
SHORTEST_CACHED = 3_000  # characters
CACHED = {"cache_control": {"type": "ephemeral"}}
LIMITS_OF_SCHEMAS = ("minimum", "maximum", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength")
PROBLEMS = {
    "refusal": RequestProblem.REFUSED,
    "max_tokens": RequestProblem.TRUNCATED,
    "model_context_window_exceeded": RequestProblem.TOO_LONG,
}
ERRORS = {  # in an answer without a separate status, such as a line of a batch
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class AnthropicMessages(Dialect):
    kind = Kind("Anthropic Messages", "/v1")
    usual_url = "https://api.anthropic.com/v1"
    package, extra = "anthropic", "anthropic"
    message_fields = ("messages", "system")
    own_fields = frozenset(
        {
            *("model", "messages", "system", "max_tokens", "stop_sequences", "thinking", "output_config"),
            *("temperature", "top_p", "top_k", "stream"),
        }
    )
    limits = ANTHROPIC_LIMITS
    takes_n = False
    batch_bytes = 16_000_000  # the package has all requests of a batch in memory; Anthropic takes 256 MB
    models_path = "models?limit=1000"

    def own_headers(self) -> dict[str, str]:
        """Return the API version on which this module is based."""
        return {"anthropic-version": VERSION}

    def refuses(self, judge: Settings) -> Refused | None:
        """Reject settings that Messages do not support."""
        if judge.score_from == ScoreFrom.PROBABILITIES:
            sentence = gettext("Anthropic gives no log-probabilities; read the score from the reply's text.")
            return Refused("score_from", sentence)
        # Without them, the request would belong to another judge than the stored settings describe.
        for name in ("temperature", "top_p", "seed"):
            if getattr(judge, name) is not None:
                sentence = gettext(
                    "Anthropic takes neither temperature nor top p nor seed; leave all of them empty."
                )
                return Refused(name, sentence)
        return None

    def path(self, question: Question) -> str:  # noqa: ARG002
        return "messages"

    def body(self, question: Question) -> dict[str, Any]:
        """Return the body of a request, with cache marks after shared prefixes."""
        system = "\n\n".join(each.content for each in question.messages if each.role == "system")
        rest = [each for each in question.messages if each.role != "system"]
        # Additional fields come first, so that they replace no field of Concord.
        body: dict[str, Any] = {
            **question.extra_body,
            "model": question.model,
            "max_tokens": question.max_tokens,
            "messages": [{"role": each.role, "content": _content(each, len(system))} for each in rest],
        }
        if system:
            long = len(system) >= SHORTEST_CACHED
            body["system"] = [{"type": "text", "text": system, **CACHED}] if long else system
        if question.stop:
            body["stop_sequences"] = list(question.stop)
        body |= _thinking(question.reasoning_effort)
        if question.schema:
            # The effort of reasoning may have filled another field of `output_config` already.
            shape = {"type": "json_schema", "schema": _drop_ranges(question.schema)}
            body["output_config"] = {**body.get("output_config", {}), "format": shape}
        return body

    def replies(self, answer: Mapping[str, Any], seconds: float | None, most: int) -> list[Reply] | None:  # noqa: ARG002
        """Return the one reply; its input tokens include the cached ones."""
        if answer.get("type") == "error":
            raise self.error(0, {}, answer)
        if not isinstance(answer.get("content"), list):
            return None
        blocks, usage = objects_in(answer["content"]), object_in(answer.get("usage"))
        text = "".join(text_of(each.get("text")) for each in blocks if each.get("type") == "text")
        tools = [text_of(each.get("name")) for each in blocks if each.get("type") == "tool_use"]
        stop_reason, details = text_of(answer.get("stop_reason")), object_in(answer.get("stop_details"))
        refusal = ""
        if stop_reason == "refusal":
            refusal = text_of(details.get("explanation")) or text_of(details.get("category"))
        # Anthropic counts tokens from the cache, and into it, separately from the other input.
        cached = count_of(usage.get("cache_read_input_tokens"))
        input_tokens = count_of(usage.get("input_tokens"))
        if input_tokens is not None:
            input_tokens += (cached or 0) + (count_of(usage.get("cache_creation_input_tokens")) or 0)
        thought = object_in(usage.get("output_tokens_details")).get("thinking_tokens")
        return [
            Reply(
                text=text,
                refusal=refusal,
                tool=tools[0] if tools and tools[0] != SCHEMA_NAME else "",
                finish_reason=stop_reason,
                problem=PROBLEMS.get(stop_reason),
                input_tokens=input_tokens,
                output_tokens=count_of(usage.get("output_tokens")),
                cached_tokens=cached,
                reasoning_tokens=count_of(thought),
                model=text_of(answer.get("model")),
                seconds=seconds,
            )
        ]

    def error(self, status: int, headers: Mapping[str, str], said: object) -> ProviderError:
        """Return the error; its type gives the status of errors without one."""
        inner = object_in(object_in(said).get("error"))
        kind = text_of(inner.get("type"))
        status = status or ERRORS.get(kind, 500)
        code = text_of(object_in(inner.get("details")).get("error_code"))
        # Resets of limits matter only where a limit is the reason of the error.
        wait = seconds_to_wait(headers, self.limits) if status == 429 else retry_after(headers)
        return ProviderError(status, message=text_of(inner.get("message")), codes=f"{kind} {code}", wait=wait)

    def batch_key(self, batch: str, judgment: int) -> str:
        """Return a key that starts with the batch's: Anthropic stores no other field to find a batch by."""
        return f"{UUID(batch).hex}-{judgment}"

    def judgment_of(self, key: str) -> int:
        """Return the number after the batch's id."""
        return int(key.rpartition("-")[2])

    def batch_request(self, key: str, question: Question) -> dict[str, Any]:
        return {"custom_id": key, "params": self.body(question)}

    def batch_line(self, said: Mapping[str, Any]) -> BatchLine:
        """Read a result: succeeded, errored, canceled or expired."""
        key, result = str(said["custom_id"]), object_in(said.get("result"))
        if result.get("type") == "succeeded":
            replies = self.replies(object_in(result.get("message")), None, 1)
            return BatchLine(key, reply=replies[0] if replies else None)
        # A failed request has its error here; one that was canceled or expired has none.
        if result.get("type") == "errored":
            return BatchLine(key, error=self.error(0, {}, result.get("error")))
        return BatchLine(key, error=ProviderError(500, message=text_of(result.get("type"))))

    def batches(self, server: Server) -> "BatchClient":
        self.require_package()

        return MessageBatches(server)


def _content(message: Message, system: int) -> str | list[dict[str, Any]]:
    """Return a message's content, in two blocks if its shared prefix is long enough for the cache."""
    if not message.shared or system + message.shared < SHORTEST_CACHED:
        return message.content
    beginning, rest = message.content[: message.shared], message.content[message.shared :]
    blocks = [{"type": "text", "text": beginning, **CACHED}]
    return [*blocks, {"type": "text", "text": rest}] if rest else blocks


def _thinking(effort: str) -> dict[str, Any]:
    if not effort:
        return {}
    # A number is a budget of tokens, a word the effort in Anthropic's own terms.
    if effort.isdecimal() and int(effort):
        return {"thinking": {"type": "enabled", "budget_tokens": int(effort)}}
    if effort in ("none", "0"):
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _drop_ranges(schema: Any) -> Any:
    """Return a schema without limits of numbers and lists, which Anthropic rejects; the prompt states
    them.
    """
    if isinstance(schema, list):
        return [_drop_ranges(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    # A field may have the name of a limit; its value is a schema then, and no number.
    return {
        name: _drop_ranges(each)
        for name, each in schema.items()
        if name not in LIMITS_OF_SCHEMAS or isinstance(each, dict)
    }


class MessageBatches(BatchClient):
    """The client of Message Batches. Requests are submitted in one body, and nothing is uploaded before."""

    uploads = False
    finds_by_token = False

    def __init__(self, server: Server) -> None:
        super().__init__(server, AnthropicMessages())
        self._http = client_of_one(self._server, self._dialect.key_headers(server.key))
        self._anthropic = anthropic.Anthropic(
            api_key=server.key,
            # The package adds the version to the path.
            base_url=server.base_url.rstrip("/").removesuffix("/v1"),
            timeout=self._server.timeout_seconds,
            # A repeated submission could be paid twice, so only the batch worker repeats steps.
            max_retries=0,
            http_client=self._http,
            default_headers=self._dialect.own_headers(),
        )
        self._batches = self._anthropic.messages.batches

    def close(self) -> None:
        self._anthropic.close()

    def upload(self, requests: IO[bytes]) -> str:  # noqa: ARG002
        """Upload nothing: the submission contains the requests."""
        return "inline"

    def create(
        self,
        input_file: str,  # noqa: ARG002
        token: str,  # noqa: ARG002
        model: str,  # noqa: ARG002
        requests: IO[bytes] | None = None,
        /,
    ) -> RemoteBatch:
        """Submit requests; each of their ids starts with the token."""
        with self._sentences(self._no_batches):
            return self._remote(self._batches.create(requests=[json.loads(line) for line in requests or ()]))

    def find(
        self, token: str, since: datetime, *, requests: int = 0, known: Collection[str] = ()
    ) -> RemoteBatch | None:
        """Find a batch by its results, or by the number of its requests while it has none.

        A batch has no field for the token. Its results contain the request ids, but only after its end.
        Before, an unknown batch since then with the same number of requests counts as ours, because a second
        submission would be paid twice. If another client submitted it with the same key, its replies have
        other request ids and are ignored.
        """
        with self._sentences():
            for batch in self._batches.list(limit=100):
                if batch.created_at < since:
                    return None  # they are listed from the newest on
                if batch.id not in known and self._may_be(batch, token, requests):
                    return self._remote(batch)
        return None

    def _may_be(self, batch: "MessageBatch", token: str, requests: int) -> bool:
        counts = batch.request_counts
        ended = counts.succeeded + counts.errored + counts.canceled + counts.expired
        # Compared first, since results take another request.
        if counts.processing + ended != requests:
            return False
        if batch.processing_status != "ended":
            return True
        # One result suffices, since all request ids of a batch start alike.
        first = next(iter(self._batches.results(batch.id)), None)
        return first is not None and first.custom_id.startswith(UUID(token).hex)

    def look(self, batch: str) -> RemoteBatch:
        """Return the state of a batch; Anthropic counts requests only at its end."""
        with self._sentences(self._no_batches):
            try:
                return self._remote(self._batches.retrieve(batch))
            except anthropic.NotFoundError as error:
                raise BatchUnknown(_unknown(batch)) from error

    def cancel(self, batch: str) -> None:
        with self._sentences(self._no_batches):
            self._batches.cancel(batch)

    def download(self, file: str, into: IO[bytes]) -> None:
        # By the HTTP client: the package makes an object of each line, of which 10,000 may come.
        url = f"{self._server.base_url.rstrip('/')}/messages/batches/{file}/results"
        with (
            self._sentences(self._no_batches),
            self._http.stream("GET", url, headers=self._dialect.own_headers()) as response,
        ):
            if response.status_code == 404:
                raise BatchUnknown(_unknown(file))
            if not response.is_success:
                # The body of a streamed answer, which has the reason.
                response.read()
                raise self._error_answer(response)
            for piece in response.iter_bytes(PIECE):
                into.write(piece)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except anthropic.APIStatusError as error:
            raise self._error_answer(error.response) from error
        except anthropic.APIConnectionError as error:
            # The cause is the error of the HTTP client, as single calls raise it.
            raise error.__cause__ or OSError(str(error)) from error
        # The package does not validate answers, so another kind of answer fails at a missing field.
        except (anthropic.AnthropicError, AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error

    def _remote(self, batch: object) -> RemoteBatch:
        if not isinstance(batch, anthropic.types.messages.MessageBatch) or not isinstance(batch.id, str):
            raise RequestFailed(self._no_batches)
        counts = batch.request_counts
        given_up = counts.errored + counts.canceled + counts.expired
        # States have the names of OpenAI (`RemoteBatch`).
        status = {"canceling": "cancelling"}.get(batch.processing_status, batch.processing_status)
        if status == "ended":
            status = _status_of_ended(batch)
        files = (batch.id,) if batch.processing_status == "ended" else ()
        return RemoteBatch(batch.id, status, completed=counts.succeeded, failed=given_up, files=files)


def _unknown(batch: str) -> str:
    return gettext("The server does not know the batch {batch}.").format(batch=batch)


def _status_of_ended(batch: "MessageBatch") -> str:
    """Return the end of a batch: cancelled, expired or completed."""
    counts = batch.request_counts
    if batch.cancel_initiated_at is not None:
        return "cancelled"
    return "expired" if counts.expired and not counts.succeeded + counts.errored else "completed"
