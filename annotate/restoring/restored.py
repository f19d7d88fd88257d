"""What of an export has been restored already, by the names that its tables use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from annotate.models import Dimension, Guideline, Membership, Project, Round, User
from annotate.restoring.archive import ExportArchive


@dataclass
class Restored:
    """A project on its way back into the database, with everything that rows of its tables refer to.

    answered: the places of Round I on which nothing is missing.
    """

    project: Project
    guidelines: dict[int, Guideline] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    rounds: dict[int, Round] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    items: dict[tuple[str, str], int] = field(default_factory=dict)
    raters: dict[str, Membership] = field(default_factory=dict)
    answered: list[int] = field(default_factory=list)
    actors: dict[str, User] = field(default_factory=dict)

    def item(self, row: dict[str, Any]) -> int:
        """Return the key of a row's item."""
        return self.items[row["document"], row["system"]]

    def guideline(self, row: dict[str, Any]) -> Guideline | None:
        """Return the guideline that a row names by its version."""
        version = row["guideline_version"]
        return None if version is None else self.guidelines[version]


Restorer = Callable[[Restored, ExportArchive], None]
RESTORERS: list[Restorer] = []


def add_restorer(restorer: Restorer) -> None:
    """Let another app restore its tables, after those of annotate."""
    RESTORERS.append(restorer)
