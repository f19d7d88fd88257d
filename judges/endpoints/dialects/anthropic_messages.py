"""Anthropic's Messages, in the version of October 2026: no temperature, no seed, no log-probabilities."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext

from judges.core.models import ScoreFrom
from judges.endpoints.dialects.base import SCHEMA_NAME, BatchLine, Dialect, Refused, Settings
from judges.endpoints.failures import Kind, ProviderError, RequestProblem
from judges.endpoints.limits import ANTHROPIC_LIMITS, retry_after, seconds_to_wait
from judges.endpoints.questions import Question, Server
from judges.endpoints.replies import Reply, count_of, object_in, objects_in, text_of
from judges.methods.base import Message

if TYPE_CHECKING:
    from judges.endpoints.dialects.batches import BatchClient

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
        wait = seconds_to_wait(headers, self.limits) if status == 429 else retry_after(headers)
        return ProviderError(status, message=text_of(inner.get("message")), codes=f"{kind} {code}", wait=wait)

    def models(self, listed: Mapping[str, Any]) -> list[str] | None:
        rows = listed.get("data")
        if not isinstance(rows, list):
            return None
        return [each["id"] for each in objects_in(rows) if isinstance(each.get("id"), str)]

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
        if result.get("type") == "errored":
            return BatchLine(key, error=self.error(0, {}, result.get("error")))
        return BatchLine(key, error=ProviderError(500, message=text_of(result.get("type"))))

    def batches(self, server: Server) -> "BatchClient":
        self.require_package()
        from judges.endpoints.dialects.anthropic_batches import MessageBatches

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
