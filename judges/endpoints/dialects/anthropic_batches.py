"""Anthropic's Message Batches, by the anthropic package."""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.anthropic_messages import AnthropicMessages
from judges.endpoints.dialects.batches import PIECE, BatchClient, BatchSubmission, RemoteBatch
from judges.endpoints.failures import BatchUnknown, RequestFailed
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    import anthropic
    from anthropic.types.messages import MessageBatch
else:
    anthropic = LazyModule("anthropic")


class MessageBatches(BatchClient):
    """The client of Message Batches. Requests are submitted in one body, and nothing is uploaded before."""

    uploads = False
    finds_by_token = False

    def __init__(self, server: Server) -> None:
        super().__init__(server, AnthropicMessages())
        self._http = client_of_one(self._server, self._dialect.key_headers(server.key))
        self._anthropic = anthropic.Anthropic(
            api_key=server.key,
            base_url=server.base_url.rstrip("/").removesuffix("/v1"),
            timeout=self._server.timeout_seconds,
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

    def create(self, input_file: str, token: str, submission: BatchSubmission) -> RemoteBatch:  # noqa: ARG002
        """Submit requests; each of their ids starts with the token."""
        requests = [json.loads(line) for line in submission.requests or ()]
        with self._sentences(self._no_batches):
            return self._remote(self._batches.create(requests=requests))

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
        if counts.processing + ended != requests:
            return False
        if batch.processing_status != "ended":
            return True
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
            raise error.__cause__ or OSError(str(error)) from error
        except (anthropic.AnthropicError, AttributeError, TypeError) as error:
            raise ValueError(str(error)) from error

    def _remote(self, batch: object) -> RemoteBatch:
        if not isinstance(batch, anthropic.types.messages.MessageBatch) or not isinstance(batch.id, str):
            raise RequestFailed(self._no_batches)
        counts = batch.request_counts
        given_up = counts.errored + counts.canceled + counts.expired
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
