"""Chat completions of OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and most others."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Literal

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.base import (
    PIECE,
    SCHEMA_NAME,
    BatchClient,
    BatchLine,
    Dialect,
    RemoteBatch,
)
from judges.endpoints.failures import (
    BatchUnknown,
    Kind,
    ProviderError,
    RequestFailed,
    error_inside,
    retry_after,
    seconds_to_wait,
)
from judges.endpoints.questions import (
    CANDIDATE_TOKENS,
    USUAL_NAME,
    Question,
    Reply,
    RequestProblem,
    Server,
    count_of,
    object_in,
    objects_in,
    read_tokens,
    share_tokens,
    text_of,
)

if TYPE_CHECKING:
    import openai
else:
    openai = LazyModule("openai")

COMPLETIONS: Literal["/v1/chat/completions"] = "/v1/chat/completions"
PROBLEMS = {"content_filter": RequestProblem.FILTERED, "length": RequestProblem.TRUNCATED}
METADATA = "concord_batch"  # the key that identifies a batch
MOST_PROBLEMS = 3  # errors of a rejected batch, which may have one for each line


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
        # Additional fields come first, so that they replace no field of Concord.
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
        # An answer without a choice is one empty reply, which was paid.
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
                    tokens=read_tokens(_tokens(object_in(choice.get("logprobs")).get("content"))),
                )
                for choice in choices
            ]
        )

    def error(self, status: int, headers: Mapping[str, str], said: object) -> ProviderError:
        """Return the error in the form of OpenAI and vLLM; OpenRouter's metadata report moderation."""
        whole = object_in(said)
        inner = object_in(whole.get("error"))
        message = text_of(inner.get("message"))
        # vLLM has the fields of an error at the top of the answer.
        if whole.get("object") == "error":
            inner, message = inner or whole, message or text_of(whole.get("message"))
        codes = [inner.get("code"), inner.get("type"), *object_in(inner.get("metadata"))]
        wait = seconds_to_wait(headers, self.limits) if status == 429 else retry_after(headers)
        return ProviderError(status, message=message, codes=" ".join(map(str, codes)), wait=wait)

    def batch_request(self, key: str, question: Question) -> dict[str, Any]:
        return {"custom_id": key, "method": "POST", "url": COMPLETIONS, "body": self.body(question)}

    def batch_line(self, said: Mapping[str, Any]) -> BatchLine:
        key, response = str(said["custom_id"]), object_in(said.get("response"))
        body, status = object_in(response.get("body")), response.get("status_code")
        # A reply may contain an error although its status is that of a success.
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

        return OpenAIBatches(server)


def _read_choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a choice; a field with an unknown form counts as missing."""
    # The content is a text, or a list of parts of text and refusal.
    message, finish_reason = object_in(choice.get("message")), text_of(choice.get("finish_reason"))
    content = message.get("content")
    parts = objects_in(content)
    text = "".join(text_of(each.get("text")) for each in parts) if parts else text_of(content)
    refusal = text_of(message.get("refusal")) or "".join(text_of(each.get("refusal")) for each in parts)
    called = [object_in(each.get("function")) for each in objects_in(message.get("tool_calls"))]
    name = text_of(called[0].get("name")) if called else ""
    # Such a call has the reply as its arguments.
    if name == SCHEMA_NAME and not text:
        text, name = text_of(called[0].get("arguments")), ""
    return {
        "text": text,
        "refusal": refusal,
        "tool": name,
        "finish_reason": finish_reason,
        "problem": RequestProblem.REFUSED if refusal else PROBLEMS.get(finish_reason),
    }


def _tokens(content: Any) -> Iterator[tuple[Any, Any]]:
    for each in content or ():
        yield each["token"], [(other["token"], other["logprob"]) for other in each["top_logprobs"]]


class OpenAIBatches(BatchClient):
    def __init__(self, server: Server) -> None:
        super().__init__(server, ChatCompletions())
        self._openai = openai.OpenAI(
            api_key=server.key,
            base_url=server.base_url,
            timeout=self._server.timeout_seconds,
            # A repeated submission could be paid twice, so only the batch worker repeats steps.
            max_retries=0,
            http_client=client_of_one(self._server, self._dialect.key_headers(server.key)),
        )

    def close(self) -> None:
        self._openai.close()

    def upload(self, requests: IO[bytes]) -> str:
        with self._sentences(self._no_batches):
            stored = self._openai.files.create(file=("judgments.jsonl", requests), purpose="batch")
            if not isinstance(stored, openai.types.FileObject) or not stored.id:
                raise RequestFailed(self._no_batches, fatal_for_run=True)
            return stored.id

    def create(self, input_file: str, token: str, model: str, *_: object) -> RemoteBatch:  # noqa: ARG002
        with self._sentences(self._no_batches):
            return self._remote(
                self._openai.batches.create(
                    input_file_id=input_file,
                    endpoint=COMPLETIONS,
                    # OpenAI offers no other window.
                    completion_window="24h",
                    metadata={METADATA: token},
                )
            )

    def find(self, token: str, since: datetime, **_: object) -> RemoteBatch | None:
        with self._sentences():
            try:
                for batch in self._openai.batches.list(limit=100):
                    if (batch.metadata or {}).get(METADATA) == token:
                        return self._remote(batch)
                    if batch.created_at < since.timestamp():
                        return None  # they are listed from the newest on
            # A compatible server may list something else, which has no batch with the token.
            except (AttributeError, TypeError, ValueError):
                return None
            except openai.APIStatusError as error:
                # These mean that the server lists no batches, and so has none to find.
                if error.status_code not in (400, 404, 405, 501):
                    raise
        return None

    def look(self, batch: str) -> RemoteBatch:
        with self._sentences(self._no_batches):
            try:
                return self._remote(self._openai.batches.retrieve(batch))
            except openai.NotFoundError as error:
                raise BatchUnknown(
                    gettext("The server does not know the batch {batch}.").format(batch=batch)
                ) from error

    def cancel(self, batch: str) -> None:
        with self._sentences(self._no_batches):
            self._openai.batches.cancel(batch)

    def download(self, file: str, into: IO[bytes]) -> None:
        # Streamed, because an output file may have hundreds of megabytes.
        content = self._openai.files.with_streaming_response.content
        with self._sentences(self._no_batches):
            try:
                with content(file) as response:
                    for piece in response.iter_bytes(PIECE):
                        into.write(piece)
            except openai.NotFoundError as error:
                raise BatchUnknown(
                    gettext("The server does not know the file {file} any more.").format(file=file)
                ) from error

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise self._error_answer(error.response) from error
        except openai.APIConnectionError as error:
            # The cause is the error of the HTTP client, as single calls raise it.
            raise error.__cause__ or OSError(str(error)) from error
        # An answer that the package cannot read counts as malformed, as for a single call.
        except openai.APIError as error:
            raise ValueError(str(error)) from error

    def _remote(self, batch: object) -> RemoteBatch:
        if not isinstance(batch, openai.types.Batch) or not isinstance(batch.id, str) or not batch.id:
            raise RequestFailed(self._no_batches)
        counts = batch.request_counts
        problems = [each.message for each in (batch.errors and batch.errors.data) or [] if each.message]
        return RemoteBatch(
            id=batch.id,
            status=str(batch.status),
            completed=(counts and count_of(counts.completed)) or 0,
            failed=(counts and count_of(counts.failed)) or 0,
            # Failed requests have their errors in a second file.
            files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
            refusal=" ".join(problems[:MOST_PROBLEMS]),
        )
