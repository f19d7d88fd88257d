"""Restored rows of an export, by the names in its tables."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from annotate.core.models import Dimension, Guideline, Membership, Project, Round, User
from annotate.exports.restoring.archive import ExportArchive, MisfitError

Key = TypeVar("Key")
Value = TypeVar("Value")


class RestoredRows(dict[Key, Value]):
    """Restored rows by their names in the export. An unknown name raises MisfitError."""

    def __missing__(self, key: Key) -> Value:
        raise MisfitError(f"a row names {key!r}, which is in no table")


@dataclass
class Restored:
    """A project during its restoration, with everything that rows of its tables refer to.

    comparisons: the kinds of the items that compare others. answered: the complete assignments of Round I.
    """

    project: Project
    guidelines: RestoredRows[int, Guideline] = field(default_factory=RestoredRows)
    dimensions: RestoredRows[str, Dimension] = field(default_factory=RestoredRows)
    rounds: RestoredRows[int, Round] = field(default_factory=RestoredRows)
    documents: RestoredRows[str, int] = field(default_factory=RestoredRows)
    items: RestoredRows[tuple[str, str], int] = field(default_factory=RestoredRows)
    comparisons: dict[int, str] = field(default_factory=dict)
    raters: RestoredRows[str, Membership] = field(default_factory=RestoredRows)
    answered: list[int] = field(default_factory=list)
    actors: dict[str, User] = field(default_factory=dict)

    def item(self, row: dict[str, Any]) -> int:
        return self.items[row["document"], row["system"]]

    def guideline(self, row: dict[str, Any]) -> Guideline | None:
        """Return the guideline that a row names by its version."""
        version = row["guideline_version"]
        return None if version is None else self.guidelines[version]


Restorer = Callable[[Restored, ExportArchive], None]
RESTORERS: dict[str, Restorer] = {}  # of other apps, by their names: after annotate's own tables
