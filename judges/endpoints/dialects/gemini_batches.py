"""Gemini's batches: files of requests for `batchGenerateContent`, by the google-genai package."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

from django.utils.translation import gettext

from annotate.core.lazy_module import LazyModule
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects.batches import BatchClient, BatchSubmission, RemoteBatch
from judges.endpoints.dialects.gemini import Gemini
from judges.endpoints.failures import BatchUnknown, RequestFailed
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors
else:
    genai, errors = LazyModule("google.genai"), LazyModule("google.genai.errors")

STATUSES = {
    "JOB_STATE_SUCCEEDED": "completed",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "completed",
    "JOB_STATE_FAILED": "failed",
    "JOB_STATE_CANCELLED": "cancelled",
    "JOB_STATE_CANCELLING": "cancelling",
    "JOB_STATE_EXPIRED": "expired",
}


class GeminiBatches(BatchClient):
    def __init__(self, server: Server) -> None:
        super().__init__(server, Gemini())
        self._http = client_of_one(self._server, self._dialect.key_headers(server.key))
        version = re.search(r"/(v\d\w*)$", server.base_url.rstrip("/"))
        self._root = server.base_url.rstrip("/")[: version.start() if version else None]
        self._genai = genai.Client(
            api_key=server.key,
            enterprise=False,  # whatever variables of the host say
            http_options=genai.types.HttpOptions(
                base_url=self._root,
                api_version=version[1] if version else "v1beta",
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

    def create(self, input_file: str, token: str, submission: BatchSubmission) -> RemoteBatch:
        """Submit an uploaded file; the token becomes the display name of the batch."""
        with self._sentences(self._no_batches):
            return self._remote(
                self._genai.batches.create(
                    model=submission.model, src=input_file, config={"display_name": token}
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
            status=STATUSES.get(state, "in_progress"),
            files=(file,) if file else (),
            refusal=(batch.error and batch.error.message) or "",
        )
