"""Chat completions of OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and most others."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from judges.endpoints.dialects.base import SCHEMA_NAME, BatchLine, Dialect
from judges.endpoints.failures import Kind, ProviderError, RequestProblem, error_inside
from judges.endpoints.limits import retry_after, seconds_to_wait
from judges.endpoints.questions import CANDIDATE_TOKENS, USUAL_NAME, Question, Server
from judges.endpoints.replies import (
    Reply,
    Token,
    count_of,
    object_in,
    objects_in,
    read_token,
    share_tokens,
    text_of,
)

if TYPE_CHECKING:
    from judges.endpoints.dialects.batches import BatchClient

COMPLETIONS: Literal["/v1/chat/completions"] = "/v1/chat/completions"
PROBLEMS = {"content_filter": RequestProblem.FILTERED, "length": RequestProblem.TRUNCATED}


class ChatCompletions(Dialect):
    """The OpenAI-compatible interface."""

    kind = Kind("OpenAI-compatible", "/v1")
    usual_url = "https://api.openai.com/v1"
    package = "openai"
    own_fields = frozenset(
        {
            *("model", "messages", "temperature", "top_p", "seed", "stop", "reasoning_effort", "max_tokens"),
            *("max_completion_tokens", "response_format", "logprobs", "top_logprobs", "n", "stream"),
        }
    )
    renames_limit = True

    def path(self, question: Question) -> str:  # noqa: ARG002
        return COMPLETIONS.removeprefix("/v1/")

    def body(self, question: Question) -> dict[str, Any]:
        body: dict[str, Any] = {
            **question.extra_body,
            "model": question.model,
            "messages": [{"role": each.role, "content": each.content} for each in question.messages],
            question.max_tokens_name or USUAL_NAME: question.max_tokens,
        }
        for name in ("temperature", "top_p", "seed"):
            if (value := getattr(question, name)) is not None:
                body[name] = value
        if question.n > 1:
            body["n"] = question.n
        if question.stop:
            body["stop"] = list(question.stop)
        if question.reasoning_effort:
            body["reasoning_effort"] = question.reasoning_effort
        if question.schema:
            shape = {"name": SCHEMA_NAME, "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        if question.wants_probabilities:
            body |= {"logprobs": True, "top_logprobs": CANDIDATE_TOKENS}
        return body

    def replies(self, answer: Mapping[str, Any], seconds: float | None, most: int) -> list[Reply] | None:
        """Return a reply for each choice, with its share of the tokens."""
        if found := error_inside(answer):
            raise self.error(found[0], {}, {"error": found[1]})
        if "choices" not in answer:
            return None
        choices = objects_in(answer["choices"])[:most] or [{}]
        usage = object_in(answer.get("usage"))
        details = object_in(usage.get("prompt_tokens_details"))
        thought = object_in(usage.get("completion_tokens_details"))
        return share_tokens(
            [
                Reply(
                    **_read_choice(choice),
                    input_tokens=count_of(usage.get("prompt_tokens")),
                    output_tokens=count_of(usage.get("completion_tokens")),
                    cached_tokens=count_of(details.get("cached_tokens")),
                    reasoning_tokens=count_of(thought.get("reasoning_tokens")),
                    model=text_of(answer.get("model")),
                    system_fingerprint=text_of(answer.get("system_fingerprint")),
                    seconds=seconds,
                    tokens=_tokens(object_in(choice.get("logprobs")).get("content")),
                )
                for choice in choices
            ]
        )

    def error(self, status: int, headers: Mapping[str, str], said: object) -> ProviderError:
        """Return the error in the form of OpenAI and vLLM; OpenRouter's metadata report moderation."""
        whole = object_in(said)
        inner = object_in(whole.get("error"))
        message = text_of(inner.get("message"))
        if whole.get("object") == "error":
            inner, message = inner or whole, message or text_of(whole.get("message"))
        codes = [inner.get("code"), inner.get("type"), *object_in(inner.get("metadata"))]
        wait = seconds_to_wait(headers, self.limits) if status == 429 else retry_after(headers)
        return ProviderError(status, message=message, codes=" ".join(map(str, codes)), wait=wait)

    def models(self, listed: Mapping[str, Any]) -> list[str] | None:
        rows = listed.get("data")
        if not isinstance(rows, list):
            return None
        return [each["id"] for each in objects_in(rows) if isinstance(each.get("id"), str)]

    def batch_request(self, key: str, question: Question) -> dict[str, Any]:
        return {"custom_id": key, "method": "POST", "url": COMPLETIONS, "body": self.body(question)}

    def batch_line(self, said: Mapping[str, Any]) -> BatchLine:
        key, response = str(said["custom_id"]), object_in(said.get("response"))
        body, status = object_in(response.get("body")), response.get("status_code")
        if status == 200:
            try:
                replies = self.replies(body, None, 1) if body.get("choices") else None
            except ProviderError as error:
                return BatchLine(key, error=error)
            return BatchLine(key, reply=replies[0] if replies else None)
        # The reason for a missing reply is in one of two fields.
        outer = object_in(said.get("error"))
        told = {"error": outer} if outer.get("message") else body
        return BatchLine(key, error=self.error(status if isinstance(status, int) else 500, {}, told))

    def batches(self, server: Server) -> "BatchClient":
        from judges.endpoints.dialects.openai_batches import OpenAIBatches

        return OpenAIBatches(server)


def _read_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a choice; a field with an unknown form counts as missing."""
    message, finish_reason = object_in(choice.get("message")), text_of(choice.get("finish_reason"))
    content = message.get("content")
    parts = objects_in(content)
    text = "".join(text_of(each.get("text")) for each in parts) if parts else text_of(content)
    refusal = text_of(message.get("refusal")) or "".join(text_of(each.get("refusal")) for each in parts)
    called = [object_in(each.get("function")) for each in objects_in(message.get("tool_calls"))]
    name = text_of(called[0].get("name")) if called else ""
    if name == SCHEMA_NAME and not text:
        text, name = text_of(called[0].get("arguments")), ""
    return {
        "text": text,
        "refusal": refusal,
        "tool": name,
        "finish_reason": finish_reason,
        "problem": RequestProblem.REFUSED if refusal else PROBLEMS.get(finish_reason),
    }


def _tokens(content: Any) -> tuple[Token, ...] | None:
    try:
        tokens = [
            read_token(each["token"], ((other["token"], other["logprob"]) for other in each["top_logprobs"]))
            for each in content or ()
        ]
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(tokens) or None
