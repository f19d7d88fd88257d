"""OpenAI's batches: files of requests, by the openai package."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.batches import PIECE, BatchClient, BatchSubmission, RemoteBatch
from judges.endpoints.dialects.chat_completions import COMPLETIONS, ChatCompletions
from judges.endpoints.failures import BatchUnknown, RequestFailed
from judges.endpoints.questions import Server
from judges.endpoints.replies import count_of

if TYPE_CHECKING:
    import openai
else:
    openai = LazyModule("openai")

METADATA = "concord_batch"  # the key that identifies a batch
MOST_PROBLEMS = 3  # errors of a rejected batch, which may have one for each line


class OpenAIBatches(BatchClient):
    def __init__(self, server: Server) -> None:
        super().__init__(server, ChatCompletions())
        self._openai = openai.OpenAI(
            api_key=server.key,
            base_url=server.base_url,
            timeout=self._server.timeout_seconds,
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

    def create(self, input_file: str, token: str, submission: BatchSubmission) -> RemoteBatch:  # noqa: ARG002
        with self._sentences(self._no_batches):
            return self._remote(
                self._openai.batches.create(
                    input_file_id=input_file,
                    endpoint=COMPLETIONS,
                    completion_window="24h",
                    metadata={METADATA: token},
                )
            )

    def find(
        self,
        token: str,
        since: datetime,
        *,
        requests: int = 0,  # noqa: ARG002
        known: Collection[str] = (),  # noqa: ARG002
    ) -> RemoteBatch | None:
        with self._sentences():
            try:
                for batch in self._openai.batches.list(limit=100):
                    if (batch.metadata or {}).get(METADATA) == token:
                        return self._remote(batch)
                    if batch.created_at < since.timestamp():
                        return None  # they are listed from the newest on
            except (AttributeError, TypeError, ValueError):
                return None
            except openai.APIStatusError as error:
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
            raise error.__cause__ or OSError(str(error)) from error
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
            files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
            refusal=" ".join(problems[:MOST_PROBLEMS]),
        )
