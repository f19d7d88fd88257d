"""Gemini's `generateContent`."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.base import (
    SCHEMA_NAME,
    BatchClient,
    BatchLine,
    Dialect,
    Refused,
    RemoteBatch,
    Settings,
)
from judges.endpoints.failures import BatchUnknown, Kind, ProviderError, RequestFailed, duration, retry_after
from judges.endpoints.questions import (
    CANDIDATE_TOKENS,
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
    from google import genai
    from google.genai import errors
else:
    genai, errors = LazyModule("google.genai"), LazyModule("google.genai.errors")

HELD_BACK = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "ESCALATION"),
    "MODEL_ARMOR",
)
PROBLEMS = dict.fromkeys(HELD_BACK, RequestProblem.FILTERED) | {"MAX_TOKENS": RequestProblem.TRUNCATED}
ACCOUNT_IS_LIMITED = "PUP_LIMITED_DISABLED"  # a reason to stop of the model, and for the run
RETRY = "RetryInfo"  # the end of the type name of the detail with the waiting time
LARGEST_SEED = 2**31 - 1
CODES = {3: 400, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}  # of gRPC, in lines of a batch
STATUSES = {
    "JOB_STATE_SUCCEEDED": "completed",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "completed",
    "JOB_STATE_FAILED": "failed",
    "JOB_STATE_CANCELLED": "cancelled",
    "JOB_STATE_CANCELLING": "cancelling",
    "JOB_STATE_EXPIRED": "expired",
}


class Gemini(Dialect):
    kind = Kind("Gemini", "/v1beta")
    usual_url = "https://generativelanguage.googleapis.com/v1beta"
    package, extra = "google.genai", "gemini"
    message_fields = ("contents", "systemInstruction")
    own_fields = frozenset({"model", "contents", "systemInstruction"})
    models_path = "models?pageSize=1000"

    def key_headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key}

    def refuses(self, judge: Settings) -> Refused | None:
        if judge.seed is not None and judge.seed > LARGEST_SEED:
            sentence = gettext("Gemini takes seeds up to {most:,}.").format(most=LARGEST_SEED)
            return Refused("seed", sentence)
        return None

    def path(self, question: Question) -> str:
        # Quoted with its slashes: a model's name must not lead to another path.
        return f"models/{quote(question.model.removeprefix('models/'), safe='')}:generateContent"

    def body(self, question: Question) -> dict[str, Any]:
        system = [{"text": each.content} for each in question.messages if each.role == "system"]
        # Additional fields come first, so that they replace no setting of the judge.
        config: dict[str, Any] = {
            **object_in(question.extra_body.get("generationConfig")),
            "maxOutputTokens": question.max_tokens,
        }
        wanted = {
            "temperature": question.temperature,
            "topP": question.top_p,
            "seed": question.seed,
            "candidateCount": question.n if question.n > 1 else None,
            "stopSequences": list(question.stop) or None,
            "thinkingConfig": _thinking(question.reasoning_effort),
        }
        config |= {name: value for name, value in wanted.items() if value is not None}
        if question.schema:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": question.schema}
        if question.wants_probabilities:
            config |= {"responseLogprobs": True, "logprobs": CANDIDATE_TOKENS}
        return {
            **question.extra_body,
            **({"systemInstruction": {"parts": system}} if system else {}),
            "contents": [
                {"role": "model" if each.role == "assistant" else "user", "parts": [{"text": each.content}]}
                for each in question.messages
                if each.role != "system"
            ],
            "generationConfig": config,
        }

    def replies(self, answer: Mapping[str, Any], seconds: float | None, most: int) -> list[Reply] | None:
        """Return a reply for each candidate, or an empty one for a blocked prompt.

        Thoughts count as output tokens here, by their price, while Gemini counts them separately from the
        candidates.
        """
        if object_in(answer.get("error")):
            raise self.error(0, {}, answer)
        blocked = text_of(object_in(answer.get("promptFeedback")).get("blockReason"))
        if "candidates" not in answer and not blocked and "usageMetadata" not in answer:
            return None
        # A blocked prompt has no candidate, only the reason of the block.
        candidates = objects_in(answer.get("candidates"))[:most] or [{"finishReason": blocked}]
        usage = object_in(answer.get("usageMetadata"))
        thought, written = (count_of(usage.get(f"{each}TokenCount")) for each in ("thoughts", "candidates"))
        output_tokens = None if thought is None and written is None else (thought or 0) + (written or 0)
        return share_tokens(
            [
                Reply(
                    **_read_candidate(candidate, is_blocked=bool(blocked)),
                    input_tokens=count_of(usage.get("promptTokenCount")),
                    output_tokens=output_tokens,
                    cached_tokens=count_of(usage.get("cachedContentTokenCount")),
                    reasoning_tokens=thought,
                    model=text_of(answer.get("modelVersion")),
                    seconds=seconds,
                    tokens=read_tokens(_tokens(object_in(candidate.get("logprobsResult")))),
                )
                for candidate in candidates
            ]
        )

    def error(self, status: int, headers: Mapping[str, str], said: object) -> ProviderError:
        """Return the error; its details give the waiting time, and the key or limit concerned."""
        # An error may come as a list of one object.
        said = said[0] if isinstance(said, list) and said else said
        inner = object_in(object_in(said).get("error"))
        # Waiting time, reason and name of the limit are in details of different types.
        details = objects_in(inner.get("details"))
        delays = [
            duration(text_of(each.get("retryDelay")))
            for each in details
            if text_of(each.get("@type")).endswith(RETRY)
        ]
        violations = [each for detail in details for each in objects_in(detail.get("violations"))]
        codes = [inner.get("status"), *(each.get("reason") for each in details)]
        codes += [each.get("quotaId") for each in violations]
        code = inner.get("code")
        # Lines of a batch have codes of gRPC, other answers the ones of HTTP.
        known = CODES.get(code, code) if isinstance(code, int) else 500
        return ProviderError(
            status or known,
            message=text_of(inner.get("message")),
            codes=" ".join(map(str, codes)),
            wait=next((each for each in delays if each is not None), retry_after(headers)),
        )

    def models(self, listed: Mapping[str, Any]) -> list[str] | None:
        rows = listed.get("models")
        if not isinstance(rows, list):
            return None
        return [
            text_of(each.get("name")).removeprefix("models/")
            for each in objects_in(rows)
            # A server may omit the methods, and then every model counts.
            if "generateContent" in str(each.get("supportedGenerationMethods", "generateContent"))
        ]

    def batch_request(self, key: str, question: Question) -> dict[str, Any]:
        return {"key": key, "request": self.body(question)}

    def batch_line(self, said: Mapping[str, Any]) -> BatchLine:
        key = str(said["key"])
        if "response" not in said:
            error = object_in(said.get("error")) or object_in(said.get("status"))
            return BatchLine(key, error=self.error(0, {}, {"error": error}))
        try:
            replies = self.replies(object_in(said["response"]), None, 1)
        except ProviderError as error:
            return BatchLine(key, error=error)
        return BatchLine(key, reply=replies[0] if replies else None)

    def batches(self, server: Server) -> "BatchClient":
        self.require_package()

        return GeminiBatches(server)


def _read_candidate(candidate: Mapping[str, Any], *, is_blocked: bool) -> dict[str, Any]:
    reason = text_of(candidate.get("finishReason"))
    # An error and not a reply, because every further call would end like this.
    if reason == ACCOUNT_IS_LIMITED:
        said = text_of(candidate.get("finishMessage")) or reason
        raise ProviderError(403, message=said)
    parts = objects_in(object_in(candidate.get("content")).get("parts"))
    called = [object_in(each["functionCall"]) for each in parts if "functionCall" in each]
    tool = text_of(called[0].get("name")) if called else ""
    return {
        # Thoughts are parts of the candidate, too, and are not the reply.
        "text": "".join(text_of(each.get("text")) for each in parts if not each.get("thought")),
        "tool": tool if tool != SCHEMA_NAME else "",
        "finish_reason": reason,
        "problem": RequestProblem.FILTERED if is_blocked else PROBLEMS.get(reason),
    }


def _thinking(effort: str) -> dict[str, Any] | None:
    """Return the field of a reasoning effort: a budget in tokens, `none`, `auto`, or a level."""
    if not effort:
        return None
    # Gemini's own numbers: 0 does not think, -1 lets the model decide.
    budgets = {"none": 0, "auto": -1, "-1": -1}
    if effort.isdecimal() or effort in budgets:
        return {"thinkingBudget": budgets[effort] if effort in budgets else int(effort)}
    return {"thinkingLevel": effort.upper()}


def _tokens(result: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for chosen, top in zip(result["chosenCandidates"], result["topCandidates"], strict=True):
        # The chosen token may be none of the likeliest.
        likeliest = [*top["candidates"], chosen]
        yield chosen["token"], [(each["token"], each["logProbability"]) for each in likeliest]


class GeminiBatches(BatchClient):
    def __init__(self, server: Server) -> None:
        super().__init__(server, Gemini())
        self._http = client_of_one(self._server, self._dialect.key_headers(server.key))
        # The package takes the version of the interface separately from the address.
        version = re.search(r"/(v\d\w*)$", server.base_url.rstrip("/"))
        self._root = server.base_url.rstrip("/")[: version.start() if version else None]
        self._genai = genai.Client(
            api_key=server.key,
            enterprise=False,  # whatever variables of the host say
            http_options=genai.types.HttpOptions(
                base_url=self._root,
                api_version=version[1] if version else "v1beta",
                # The package counts in milliseconds.
                timeout=int(self._server.timeout_seconds * 1000),
                httpx_client=self._http,
            ),
        )

    def close(self) -> None:
        self._genai.close()
        self._http.close()  # the package leaves clients open that it did not make

    def upload(self, requests: IO[bytes]) -> str:
        with self._sentences(self._no_batches):
            # With the URL the file goes there, too, whatever host the link of the answer names.
            there = genai.types.HttpOptions(base_url=self._root)
            config = genai.types.UploadFileConfig(mime_type="jsonl", http_options=there)
            stored = self._genai.files.upload(file=requests, config=config)  # type: ignore[arg-type]
            if not stored.name:
                raise RequestFailed(self._no_batches, fatal_for_run=True)
            return stored.name

    def create(self, input_file: str, token: str, model: str, *_: object) -> RemoteBatch:
        """Submit an uploaded file; the token becomes the display name of the batch."""
        with self._sentences(self._no_batches):
            return self._remote(
                self._genai.batches.create(model=model, src=input_file, config={"display_name": token})
            )

    def find(self, token: str, since: datetime, **_: object) -> RemoteBatch | None:
        with self._sentences():
            for batch in self._genai.batches.list(config={"page_size": 100}):
                if batch.display_name == token:
                    return self._remote(batch)
                if batch.create_time and batch.create_time < since:
                    return None  # they are listed from the newest on
        return None

    def look(self, batch: str) -> RemoteBatch:
        with self._sentences(self._no_batches), self._note_unknown(batch):
            return self._remote(self._genai.batches.get(name=batch))

    def cancel(self, batch: str) -> None:
        with self._sentences(self._no_batches):
            self._genai.batches.cancel(name=batch)

    def download(self, file: str, into: IO[bytes]) -> None:
        with self._sentences(self._no_batches), self._note_unknown(file):
            self._genai.files.download(file=file, destination=into)  # type: ignore[call-overload]

    @contextmanager
    def _note_unknown(self, what: str) -> Iterator[None]:
        try:
            yield
        except errors.APIError as error:
            if error.code != 404:
                raise
            raise BatchUnknown(gettext("The server does not know {name}.").format(name=what)) from error

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except errors.APIError as error:
            headers: Any = getattr(error.response, "headers", {})
            raise self._dialect.error(error.code, headers, error.details) from error
        except (AttributeError, TypeError, KeyError) as error:  # of an answer that the package cannot read
            raise ValueError(str(error)) from error

    def _remote(self, batch: Any) -> RemoteBatch:
        if not batch.name:
            raise RequestFailed(self._no_batches)
        file = batch.dest and batch.dest.file_name
        state = batch.state.value if batch.state else ""
        return RemoteBatch(
            id=batch.name,
            # Pending and unknown states are not final, so the worker checks such a batch again.
            status=STATUSES.get(state, "in_progress"),
            files=(file,) if file else (),
            refusal=(batch.error and batch.error.message) or "",
        )
