"""The batch interface that all dialects share."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, TYPE_CHECKING

from django.utils.translation import gettext_lazy

from judges.endpoints.dialects.base import Dialect
from judges.endpoints.failures import ProviderError, json_of, raise_request_failures
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    import httpx2

FILE_TIMEOUT = 300.0  # seconds; a large file takes longer than a call
PIECE = 2**16  # bytes
NO_BATCHES = gettext_lazy(
    "What answered does not know {dialect} batches; plan the run with one call a judgment."
)


@dataclass(frozen=True)
class RemoteBatch:
    """The provider's state of a batch, with the status names of OpenAI.

    files: input of `download`. refusal: the reason why it processed none of the requests.
    """

    id: str
    status: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def has_ended(self) -> bool:
        """Return True if no more results will follow."""
        return self.status in ("completed", "failed", "expired", "cancelled")

    @property
    def can_be_cancelled(self) -> bool:
        """Return True if it has not ended and is not about to end."""
        return not self.has_ended and self.status != "cancelling"


@dataclass(frozen=True)
class BatchSubmission:
    """The model of a batch, and the file of requests for interfaces without uploads."""

    model: str
    requests: IO[bytes] | None = None


class BatchClient(ABC):
    """Submits files of requests to one server's batch interface and fetches the results.

    Its methods block, and raise RequestFailed with a message that never contains the key. Close it after use.
    uploads: True if requests are uploaded before their submission. finds_by_token: True if a batch without
    results can be distinguished from others.
    """

    uploads = True
    finds_by_token = True

    def __init__(self, server: Server, dialect: Dialect) -> None:
        self._server = replace(server, timeout_seconds=max(server.timeout_seconds, FILE_TIMEOUT))
        self._dialect = dialect
        self._no_batches = str(NO_BATCHES).format(dialect=dialect.kind.label)

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def upload(self, requests: IO[bytes]) -> str: ...

    @abstractmethod
    def create(self, input_file: str, token: str, submission: BatchSubmission) -> RemoteBatch:
        """Submit requests as a batch that `find` can identify by its token."""

    @abstractmethod
    def find(
        self, token: str, since: datetime, *, requests: int = 0, known: Collection[str] = ()
    ) -> RemoteBatch | None:
        """Return the batch with a token; None if the server has none or lists no batches.

        requests, known: the number of its requests and the ids of other batches, for servers without tokens.
        """

    @abstractmethod
    def look(self, batch: str) -> RemoteBatch:
        """Return the state of a batch; raises BatchUnknown if the server does not know it."""

    @abstractmethod
    def cancel(self, batch: str) -> None:
        """Request that the provider starts no more requests of a batch."""

    @abstractmethod
    def download(self, file: str, into: IO[bytes]) -> None:
        """Stream a file of the provider into a local one; raises BatchUnknown if it is gone."""

    @abstractmethod
    def _errors(self) -> AbstractContextManager[None]:
        """Raise ProviderError or an error of the connection for each error of the package."""

    def _error_answer(self, response: "httpx2.Response") -> ProviderError:
        return self._dialect.error(response.status_code, response.headers, json_of(response))

    @contextmanager
    def _sentences(self, unreadable: str = "") -> Iterator[None]:
        """Raise RequestFailed, as single calls do."""
        with raise_request_failures(self._server, self._dialect.kind, unreadable), self._errors():
            yield
