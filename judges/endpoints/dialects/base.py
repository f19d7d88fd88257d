"""Base of dialects, which build requests for a provider's interface and parse its answers, and of batches."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext, gettext_lazy

from judges.core.errors import ProviderPackageMissingError
from judges.core.models import Judge
from judges.core.specification import JudgeSpec
from judges.endpoints.failures import (
    OPENAI_LIMITS,
    Kind,
    Limits,
    ProviderError,
    json_of,
    raise_request_failures,
)
from judges.endpoints.questions import Question, Reply, Server, objects_in

if TYPE_CHECKING:
    import httpx2

SCHEMA_NAME = "judgment"  # of the shape of structured replies
Settings = Judge | JudgeSpec
"""Settings of a stored or an entered judge."""
FILE_TIMEOUT = 300.0  # seconds; a large file takes longer than a call
PIECE = 2**16  # bytes
NO_BATCHES = gettext_lazy(
    "What answered does not know {dialect} batches; plan the run with one call a judgment."
)


@dataclass(frozen=True)
class Refused:
    """The reason against a judge in a dialect, and the setting that must change."""

    field: str
    sentence: str


@dataclass(frozen=True)
class BatchLine:
    """A line of a batch's output: the key of a request, and its reply or its error."""

    key: str
    reply: Reply | None = None
    error: ProviderError | None = None


class Dialect(ABC):
    """The interface of a provider. It holds no state: `DIALECTS` has one of each.

    package: the package that `batches` needs, and `extra` the extra that installs it. message_fields: fields
    of a body that hold the messages. own_fields: fields that Concord fills, or values of other fields that it
    could not read. takes_n: True if one call may give several replies. gives_probabilities: True if it
    returns the probabilities of a reply's tokens.
    """

    kind: ClassVar[Kind]
    usual_url: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str] = ""
    message_fields: ClassVar[tuple[str, ...]] = ("messages",)
    own_fields: ClassVar[frozenset[str]]
    limits: ClassVar[Limits] = OPENAI_LIMITS
    takes_n: ClassVar[bool] = True
    renames_limit: ClassVar[bool] = False  # of a reply's tokens, for models that reason
    batch_bytes: ClassVar[int] = 200_000_000  # of the requests of one batch
    models_path: ClassVar[str] = "models"

    @abstractmethod
    def path(self, question: Question) -> str: ...

    @abstractmethod
    def body(self, question: Question) -> dict[str, Any]:
        """Return the body of the request for a question, for a single call or a batch."""

    @abstractmethod
    def replies(self, answer: Mapping[str, Any], seconds: float | None, most: int) -> list[Reply] | None:
        """Return the replies in an answer, one to `most`; None if it holds none.

        Raises ProviderError for an error inside an answer of 200.
        """

    @abstractmethod
    def error(self, status: int, headers: Mapping[str, str], said: object) -> ProviderError:
        """Return the error of an answer without success; `said` is its JSON."""

    def models(self, listed: Mapping[str, Any]) -> list[str] | None:
        """Return the names in a list of models; None if it is no list of models."""
        rows = listed.get("data")
        if not isinstance(rows, list):
            return None
        return [each["id"] for each in objects_in(rows) if isinstance(each.get("id"), str)]

    @abstractmethod
    def batch_request(self, key: str, question: Question) -> dict[str, Any]: ...

    @abstractmethod
    def batch_line(self, said: Mapping[str, Any]) -> BatchLine:
        """Read a line of a batch's output; raises KeyError if it names no request."""

    @abstractmethod
    def batches(self, server: Server) -> "BatchClient":
        """Return a client of the server's batch interface. Raises ProviderPackageMissingError."""

    def batch_key(self, batch: str, judgment: int) -> str:  # noqa: ARG002
        return str(judgment)

    def judgment_of(self, key: str) -> int:
        return int(key)

    def key_headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"}

    def own_headers(self) -> dict[str, str]:
        return {}

    def refuses(self, judge: Settings) -> Refused | None:  # noqa: ARG002
        """Return the reason against a judge with these settings, None if there is none."""
        return None

    def parameters(self, question: Question) -> dict[str, Any]:
        """Return the request without its messages, with the model if only the URL has it."""
        body = {"model": question.model, **self.body(question)}
        return {name: value for name, value in body.items() if name not in self.message_fields}

    def require_package(self) -> None:
        """Raise ProviderPackageMissingError if the provider's package is not installed."""
        try:
            # `find_spec` finds the package without loading it: only batches need it in memory.
            found = find_spec(self.package)
        except ModuleNotFoundError:  # of a package around it
            found = None
        if found is None:
            raise ProviderPackageMissingError(
                gettext(
                    "Batches of {dialect} need a package that is not installed. Ask the operator to run: "
                    "pip install “concord-eval[{extra}]”."
                ).format(dialect=self.kind.label, extra=self.extra)
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
    def create(
        self, input_file: str, token: str, model: str, requests: IO[bytes] | None = None, /
    ) -> RemoteBatch:
        """Submit requests as a batch that `find` can identify by its token.

        input_file: what `upload` returned; requests: the file, for interfaces without uploads.
        """

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
        # The inner manager translates errors of the package, the outer one gives them their message.
        with raise_request_failures(self._server, self._dialect.kind, unreadable), self._errors():
            yield
