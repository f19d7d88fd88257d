"""Base of dialects, which build requests for a provider's interface and parse its answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext

from judges.core.errors import ProviderPackageMissingError
from judges.core.models import Judge
from judges.core.specification import JudgeSpec
from judges.endpoints.failures import Kind, ProviderError
from judges.endpoints.limits import OPENAI_LIMITS, Limits
from judges.endpoints.questions import Question, Server
from judges.endpoints.replies import Reply

if TYPE_CHECKING:
    from judges.endpoints.dialects.batches import BatchClient

SCHEMA_NAME = "judgment"  # of the shape of structured replies


Settings = Judge | JudgeSpec
"""Settings of a stored or an entered judge."""


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

    @abstractmethod
    def models(self, listed: Mapping[str, Any]) -> list[str] | None:
        """Return the names in a list of models; None if it is no list of models."""

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
