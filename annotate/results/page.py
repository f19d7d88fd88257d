"""A page of results: tables under headings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.results.table import Table


@dataclass(frozen=True)
class Section:
    """Tables under one heading, with what must be known to read them."""

    title: str
    says: str
    tables: Sequence[Table]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON."""
        return {"title": self.title, "says": self.says, "tables": [each.as_dict() for each in self.tables]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Section":
        """Return the section that `as_dict` gave."""
        tables = [Table.from_dict(each) for each in plain["tables"]]
        return cls(plain["title"], plain["says"], tables)
