"""A page of results: tables under headings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.results.table import Table


@dataclass(frozen=True)
class Section:
    """Tables under one heading, with the notes needed to read them.

    anchor: its anchor on the page, for links. packed: data too large for tables, as a string that only one
    page reads; neither files nor the API contain it.
    """

    title: str
    says: str
    tables: Sequence[Table]
    anchor: str = ""
    packed: str = ""

    def heading(self) -> dict[str, Any]:
        return {"title": self.title, "says": self.says, "anchor": self.anchor}

    def to_kept(self) -> dict[str, Any]:
        return {**self.heading(), "tables": [each.to_kept() for each in self.tables], "packed": self.packed}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Section":
        tables = [Table.from_dict(each) for each in plain["tables"]]
        return cls(plain["title"], plain["says"], tables, plain.get("anchor", ""), plain.get("packed", ""))
