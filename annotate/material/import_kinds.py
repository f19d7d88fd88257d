"""What uploaded files can be imported as: annotate's own kind, and those that other apps add."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from annotate.core.models import DataImport
from annotate.material.reading.progress import OnProgress


class Report(Protocol):
    """What came of a file, as it is stored and shown."""

    @property
    def is_refused(self) -> bool:
        """Whether a line was refused, so that nothing is imported."""

    @property
    def may_leave_out(self) -> bool:
        """Whether the refused lines can be left out, so that something is left to import."""

    def to_json(self) -> dict[str, Any]:
        """Return what is stored."""


@dataclass(frozen=True)
class ImportKind:
    """How uploaded files of one kind are imported.

    run: imports a file and reports progress; the last act of its transaction is to report "written".
    read_report: reads what the report's `to_json` wrote.
    page, pages: the routes of one import, which takes slug and pk, and of all of this kind.
    """

    key: str
    run: Callable[[DataImport, OnProgress], Report]
    read_report: Callable[[Mapping[str, Any]], Report]
    page: str
    pages: str


KINDS: dict[str, ImportKind] = {}
