"""The content of the public pages of a leaderboard: the stored newest version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote as _quote

from django.conf import settings
from django.urls import reverse

from annotate.core.audit import digest_of
from annotate.core.models import Item, PublicLeaderboard, Version
from annotate.core.version import VERSION
from annotate.exports.citation import Card, bibtex
from annotate.leaderboard.queries import documents_with_outputs
from annotate.leaderboard.results import board_table, explain, values_table
from annotate.leaderboard.standings import Board, Leaderboard
from annotate.results.shown import Link
from annotate.results.table import ColumnKind, Table
from annotate.results.text import interval, number

DOCUMENTS_ON_A_PAGE = 200
SEVERITY = "severity_correction"


def public_leaderboard(key: str) -> "PublicPage | None":
    """Return the public page with this key, None unless it is public and has a version. Two queries."""
    shown = PublicLeaderboard.objects.filter(key=key, is_public=True).select_related("project").first()
    if shown is None:
        return None
    version = Version.objects.filter(project=shown.project_id).select_related("export").first()
    return PublicPage(shown, version) if version else None


@dataclass(frozen=True)
class ShownRow:
    """A row of the table: a system, and its cells as strings with the value that sorts them."""

    system: str
    cells: Sequence[tuple[str, object, str]]


class PublicPage:
    def __init__(self, shown: PublicLeaderboard, version: Version) -> None:
        self.settings, self.version = shown, version
        self.project = shown.project

    @cached_property
    def leaderboard(self) -> Leaderboard:
        return Leaderboard.from_dict(self.version.leaderboard)

    @property
    def etag(self) -> str:
        chosen = self.settings
        parts = [
            *(VERSION, self.version.content_hash, self.version.number, self.version.changelog),
            *(self.project.name, chosen.shows_texts, chosen.shows_effort, chosen.takes_submissions),
            chosen.introduction,
            *self.metadata_names,
        ]
        return f'"{digest_of(repr(parts))[:32]}"'

    @property
    def metadata_names(self) -> Sequence[str]:
        return [str(name) for name in self.settings.metadata_names]

    def board(self, given: Mapping[str, str]) -> Board | None:
        boards = self.leaderboard.boards
        return self.leaderboard.board(given.get("dimension", "")) or (boards[0] if boards else None)

    def metadata(self, given: Mapping[str, str], board: Board) -> str:
        """Return the chosen metadata; empty if the page does not show it."""
        name = given.get("metadata", "")
        return name if name in self.metadata_names and name in board.values else ""

    def table(self, given: Mapping[str, str]) -> Table | None:
        board = self.board(given)
        if board is None:
            return None
        return self._table(board, self.metadata(given, board))

    def _table(self, board: Board, name: str) -> Table:
        if name:
            return values_table(board, name)
        table = board_table(board)
        left_out = () if self.settings.shows_effort else (SEVERITY,)
        return table.select([column.key for column in table.columns if column.key not in left_out])

    def context(self, given: Mapping[str, str], site: str) -> dict[str, Any]:
        """Return the context of the templates. site: the URL of the installation, without a path."""
        board = self.board(given)
        name = self.metadata(given, board) if board else ""
        return {
            "page": self,
            "currency": settings.CURRENCY,
            "board": board,
            "says": explain(board) if board else "",
            "metadata": name,
            **(self._cells(_drop_empty_addition_columns(self._table(board, name))) if board else {}),
            "dimension_links": self._links(board, name) if board else (),
            "metadata_links": self._metadata_links(board, name) if board else (),
            "query": f"?dimension={board.key}" if board else "",
            "citation": self._citation(site),
        }

    def _cells(self, table: Table) -> dict[str, Any]:
        """Return the template's context for a table; a cell has its content, its sort value, and a reason."""
        found = []
        for row in table.rows:
            cells: list[tuple[str, object, str]] = []
            for cell, column in zip(row[1:], table.columns[1:], strict=True):
                if isinstance(cell.value, str) or cell.value is None:
                    cells.append((cell.value or "–", "", cell.reason))
                else:
                    ends = interval(cell, column) if cell.low is not None else ""
                    shown = f"{number(cell.value, column)} {ends}".strip()
                    cells.append((shown, cell.value, cell.interval_reason))
            found.append(ShownRow(str(row[0].value), cells))
        reasons = [reason for row in found for _, _, reason in row.cells if reason]
        return {
            "title": table.title,
            "heads": [(column.name, column.kind is not ColumnKind.TEXT) for column in table.columns],
            "rows": found,
            "reasons": list(dict.fromkeys(reasons)),
        }

    def _links(self, board: Board, name: str) -> list[Link]:
        more = f"&metadata={_quote(name)}" if name else ""
        return [
            Link(each.name, f"?dimension={_quote(each.key)}{more}", each is board)
            for each in self.leaderboard.boards
        ]

    def _metadata_links(self, board: Board, name: str) -> list[Link]:
        names = [each for each in self.metadata_names if each in board.values]
        start = f"?dimension={_quote(board.key)}"
        return [Link(each, f"{start}&metadata={_quote(each)}", each == name) for each in names]

    def _citation(self, site: str) -> str:
        card = Card.from_dict(self.version.export.card if self.version.export else {})
        name = f"{self.project.name}, version {self.version.number}"
        address = site + reverse("public_page", args=[self.settings.key])
        found = bibtex(self.project.slug, name, card, self.version.created_at)
        year = f"{self.version.created_at:%Y}"
        return found or f"{name} ({year}). {address}"

    def to_dict(self) -> dict[str, Any]:
        """Return all boards as plain values for JSON, without hidden content."""
        found = self.leaderboard.to_dict()
        for board in found["boards"]:
            board["values"] = {
                name: own for name, own in board["values"].items() if name in self.metadata_names
            }
        if not self.settings.shows_effort:
            _leave_out_effort(found)
        return {
            "name": self.project.name,
            "version": self.version.number,
            "date": self.version.created_at.date().isoformat(),
            "changelog": self.version.changelog,
            "content_hash": self.version.content_hash,
            **found,
        }

    def documents(self, number: int) -> tuple[list[dict[str, Any]], bool]:
        """Return a page of documents, from 1, and True if there are more. Up to two queries.

        Contains keys and titles; sources and outputs only if they are released. Gold items are excluded.
        """
        listed = documents_with_outputs(self.project)
        start = (number - 1) * DOCUMENTS_ON_A_PAGE
        if not self.settings.shows_texts:
            rows = list(listed.values("key", "title")[start : start + DOCUMENTS_ON_A_PAGE + 1])
            return [dict(each) for each in rows[:DOCUMENTS_ON_A_PAGE]], len(rows) > DOCUMENTS_ON_A_PAGE
        documents = list(listed[start : start + DOCUMENTS_ON_A_PAGE + 1])
        shown = documents[:DOCUMENTS_ON_A_PAGE]
        outputs: dict[int, dict[str, str]] = {}
        items = Item.objects.filter(document__in=shown, kind=Item.Kind.OUTPUT, gold=None).order_by("pk")
        for document, system, text in items.values_list("document", "system__name", "text"):
            outputs.setdefault(document, {})[system] = text
        found = [
            {"key": each.key, "title": each.title, "parts": each.parts, "outputs": outputs.get(each.pk, {})}
            for each in shown
        ]
        return found, len(documents) > DOCUMENTS_ON_A_PAGE


def _drop_empty_addition_columns(table: Table) -> Table:
    """Return a table without the columns about additions if no system comes from one."""
    about = ("addition", SEVERITY)
    return table.select(
        [
            column.key
            for index, column in enumerate(table.columns)
            if column.key not in about or any(row[index].value is not None for row in table.rows)
        ]
    )


def _leave_out_effort(found: dict[str, Any]) -> None:
    for part in found["parts"]:
        for name in ("raters", "hours", "money"):
            del part[name]
    for board in found["boards"]:
        shown = [
            board["systems"],
            *(own for by_value in board["values"].values() for own in by_value.values()),
        ]
        for system in (each for systems in shown for each in systems):
            del system[SEVERITY]
