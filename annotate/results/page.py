"""A page of results: tables under headings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.results.table import Table


@dataclass(frozen=True)
class Section:
    """Tables under one heading, with what must be known to read them.

    anchor: where it is on its page, for links to it. packed: what is too much for tables and is read by one
    page alone, as text; no door shows it.
    """

    title: str
    says: str
    tables: Sequence[Table]
    anchor: str = ""
    packed: str = ""

    def heading(self) -> dict[str, Any]:
        """Return what stands above its tables, as plain values for JSON."""
        return {"title": self.title, "says": self.says, "anchor": self.anchor}

    def as_kept(self) -> dict[str, Any]:
        """Return all of it for JSON that is read in part."""
        return {**self.heading(), "tables": [each.as_kept() for each in self.tables], "packed": self.packed}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Section":
        """Return the section that `as_dict` or `as_kept` gave."""
        tables = [Table.from_dict(each) for each in plain["tables"]]
        return cls(plain["title"], plain["says"], tables, plain.get("anchor", ""), plain.get("packed", ""))
