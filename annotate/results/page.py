"""A page of results: tables under headings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.results.table import Table


@dataclass(frozen=True)
class Section:
    """Tables under one heading, with what must be known to read them.

    anchor: where it is on its page, for links to it.
    """

    title: str
    says: str
    tables: Sequence[Table]
    anchor: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON."""
        tables = [each.as_dict() for each in self.tables]
        return {"title": self.title, "says": self.says, "tables": tables, "anchor": self.anchor}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Section":
        """Return the section that `as_dict` gave."""
        tables = [Table.from_dict(each) for each in plain["tables"]]
        return cls(plain["title"], plain["says"], tables, plain.get("anchor", ""))
