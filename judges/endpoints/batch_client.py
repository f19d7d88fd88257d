"""Talking to a server's batch interface: files of requests, and what came of them."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.failures import BatchUnknown, RequestFailed, in_sentences
from judges.endpoints.questions import COMPLETIONS, Server
from judges.endpoints.replies import count_of

if TYPE_CHECKING:
    import openai
else:
    openai = LazyModule("openai")

METADATA = "concord_batch"  # the key by which a batch is found again
FILE_TIMEOUT = 300.0  # seconds; a large file takes longer than a call
PIECE = 2**16  # bytes
MOST_PROBLEMS = 3  # of a refused batch, which may name one for each line
_NO_BATCHES = gettext_lazy(
    "What answered does not know OpenAI's batch interface; plan the run with one call a judgment."
)


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as the provider tells it. `refusal`: why it asked none of the requests."""

    id: str
    status: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in ("completed", "failed", "expired", "cancelled")

    @property
    def can_be_cancelled(self) -> bool:
        """Whether it is neither over nor about to be."""
        return not self.has_ended and self.status != "cancelling"


class BatchClient:
    """Hands files of requests to one server's batch interface and fetches what came of them.

    Its methods wait, and raise RequestFailed with a sentence that never holds the key. Close it after use.
    """

    def __init__(self, server: Server) -> None:
        self._server = replace(server, timeout_seconds=max(server.timeout_seconds, FILE_TIMEOUT))
        self._openai = openai.OpenAI(
            api_key=server.key,
            base_url=server.base_url,
            timeout=self._server.timeout_seconds,
            max_retries=0,
            http_client=client_of_one(server.base_url, server.key, self._server.timeout_seconds),
        )

    def close(self) -> None:
        """Close the connections."""
        self._openai.close()

    def upload(self, requests: IO[bytes]) -> str:
        """Upload a file of requests and return the id that the provider gives it."""
        with in_sentences(self._server, str(_NO_BATCHES)):
            stored = self._openai.files.create(file=("judgments.jsonl", requests), purpose="batch")
            if not isinstance(stored, openai.types.FileObject) or not stored.id:
                raise RequestFailed(str(_NO_BATCHES), fatal_for_run=True)
            return stored.id

    def create(self, input_file: str, token: str) -> RemoteBatch:
        """Submit an uploaded file as a batch that can be found by its token."""
        with in_sentences(self._server, str(_NO_BATCHES)):
            return _remote(
                self._openai.batches.create(
                    input_file_id=input_file,
                    endpoint=COMPLETIONS,
                    completion_window="24h",
                    metadata={METADATA: token},
                )
            )

    def find(self, token: str, since: datetime) -> RemoteBatch | None:
        """Return the batch with a token if the server has one; None too where it lists no batches."""
        with in_sentences(self._server):
            try:
                for batch in self._openai.batches.list(limit=100):
                    if (batch.metadata or {}).get(METADATA) == token:
                        return _remote(batch)
                    if batch.created_at < since.timestamp():
                        return None  # they are listed from the newest on
            except (AttributeError, TypeError, ValueError):
                return None
            except openai.APIStatusError as error:
                if error.status_code not in (400, 404, 405, 501):
                    raise
        return None

    def look(self, batch: str) -> RemoteBatch:
        """Return how far a batch is; raises BatchUnknown where the server does not know it."""
        with in_sentences(self._server, str(_NO_BATCHES)):
            try:
                return _remote(self._openai.batches.retrieve(batch))
            except openai.NotFoundError as error:
                raise BatchUnknown(
                    gettext("The server does not know the batch {batch}.").format(batch=batch)
                ) from error

    def cancel(self, batch: str) -> None:
        """Ask the provider to begin no more requests of a batch."""
        with in_sentences(self._server, str(_NO_BATCHES)):
            self._openai.batches.cancel(batch)

    def download(self, file: str, into: IO[bytes]) -> None:
        """Write a file of the provider's into one here, piece by piece; raises BatchUnknown if it is gone."""
        content = self._openai.files.with_streaming_response.content
        with in_sentences(self._server, str(_NO_BATCHES)):
            try:
                with content(file) as response:
                    for piece in response.iter_bytes(PIECE):
                        into.write(piece)
            except openai.NotFoundError as error:
                raise BatchUnknown(
                    gettext("The server does not know the file {file} any more.").format(file=file)
                ) from error


def _remote(batch: object) -> RemoteBatch:
    if not isinstance(batch, openai.types.Batch) or not isinstance(batch.id, str) or not batch.id:
        raise RequestFailed(str(_NO_BATCHES))
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
