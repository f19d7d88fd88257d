"""Parts of a paper: sections with paragraphs, tables and plots. Apps add sections."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.results.commands import current_page
from annotate.results.latex import escape_latex
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import result_of
from annotate.results.table import Table


class Latex(str):
    """LaTeX source, which needs no escaping."""

    __slots__ = ()


def format_latex(template: str, **values: object) -> Latex:
    """Fill the braces of a LaTeX template. Escapes strings; numbers get separators of thousands."""
    return Latex(template.format(**{name: _set(value) for name, value in values.items()}))


def _set(value: object) -> str:
    # Escaped already.
    if isinstance(value, Latex):
        return value
    return f"{value:,}" if isinstance(value, int) else escape_latex(str(value))


def join_words(words: Iterable[str]) -> Latex:
    """Return words as one list: a, b and c."""
    *most, last = map(_set, words)
    return Latex(f"{', '.join(most)} and {last}" if most else last)


def count_words(number: int, noun: str) -> str:
    """Return a number with its noun: 1 unit, 2 units."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True)
class PaperTable:
    """A table with its caption, or its plot.

    page: the name of the results page; it is the start of the file's name.
    """

    page: str
    table: Table
    caption: Latex
    is_figure: bool = False

    @property
    def key(self) -> str:
        """The name of its file and its label."""
        return f"{self.page}-{self.table.key}"

    @property
    def named(self) -> Table:
        """The table with that key, so that labels are unique."""
        return replace(self.table, key=self.key)

    @property
    def reference(self) -> Latex:
        kind, prefix = ("Figure", "fig") if self.is_figure else ("Table", "tab")
        return Latex(rf"{kind}~\ref{{{prefix}:{self.key}}}")


@dataclass(frozen=True)
class PaperPart:
    """An app's contribution to a paper.

    methods, design: paragraphs and tables on the origin of its data. title, `text`, tables: its section of
    results. limitations: paragraphs. latest: the latest time in its data.
    """

    title: str
    methods: Sequence[Latex] = ()
    design: Sequence[PaperTable] = ()
    text: str = ""
    tables: Sequence[PaperTable] = ()
    limitations: Sequence[Latex] = ()
    latest: datetime | None = None


PaperSection = Callable[[Project], Sequence[PaperPart]]
PAPER_SECTIONS: dict[str, PaperSection] = {}
"""Other apps' sections, by the name of the app."""


@dataclass(frozen=True)
class PaperPage:
    """A current page of results; reason: the reason why it cannot be computed."""

    name: str
    kept: KeptPage | None = None
    reason: str = ""

    def table(self, key: str, *columns: str, title: str, level: str = "", name: str = "") -> list[PaperTable]:
        """Return a table with some of its columns, or an empty list if it has no rows.

        name: its key in the paper, for the second table from one.
        """
        if (table := self._find(key)) is None:
            return []
        chosen = replace(table.select(columns) if columns else table, key=name or key)
        return [PaperTable(self.name, chosen, write_caption(chosen, title, level))]

    def figure(self, key: str, *, title: str, level: str = "") -> list[PaperTable]:
        table = self._find(key)
        if table is None or not table.plot:
            return []
        return [PaperTable(self.name, table, write_caption(table, title, level), is_figure=True)]

    def _find(self, key: str) -> Table | None:
        table = self.kept.table(key) if self.kept else None
        return table if table and table.rows else None


def read_page(project: Project, name: str, **asked: str) -> PaperPage:
    """Return a current page of results; compute it if necessary."""
    try:
        return PaperPage(name, current_page(project=project, result=result_of(project, name, asked)))
    except DomainError as error:
        return PaperPage(name, reason=error.message)


# The words that name the source of a statistic, and the keys of the entries in the file.
SOURCES = {
    "Krippendorff 2011": "krippendorff2011",
    "Fleiss 1971": "fleiss1971",
    "Cohen 1968": "cohen1968",
    "Light 1971": "light1971",
    "Gwet 2008": "gwet2008",
    "2014, Handbook": "gwet2014",
    "McGraw and Wong 1996": "mcgraw1996",
    "Kendall and Gibbons 1990": "kendall1990",
    "Student 1908": "student1908",
    "Cochran 1977": "cochran1977",
    "Pearson 1895": "pearson1895",
    "Spearman 1904": "spearman1904",
    "Kendall 1945": "kendall1945",
    "Shen and others 2023": "shen2023",
    "Chatzi and others 2024": "chatzi2024",
    "Holm 1979": "holm1979",
}
_ENTRIES = Path(__file__).with_name("references.bib")
_INTERVAL = re.compile(r"([\d.]+ % interval: [^;]*)\.$")


def cite(*keys: str) -> Latex:
    return Latex(rf"\citep{{{','.join(keys)}}}") if keys else Latex()


def sources_of(table: Table) -> list[str]:
    """Return the keys of the entries on which the statistics of a table rest."""
    said = " ".join(table.how)
    return [key for words, key in SOURCES.items() if words in said]


def write_caption(table: Table, title: str, level: str = "") -> Latex:
    """Return a caption with title, level of measurement, kind of interval and sources."""
    found = [match[1] for how in table.how if (match := _INTERVAL.search(how))]
    # Most values of a table share a kind of interval, which is named once.
    intervals = list(dict.fromkeys(found))
    parts = [format_latex("{title}.", title=title)]
    parts += [format_latex("Level of measurement: {level}.", level=level)] if level else []
    parts += [format_latex("In brackets: {intervals}.", intervals="; ".join(intervals))] if intervals else []
    if keys := sources_of(table):
        parts.append(Latex(rf"After \citet{{{','.join(keys)}}}."))
    return Latex(" ".join(parts))


def read_entries() -> dict[str, str]:
    entries = re.split(r"\n(?=@)", _ENTRIES.read_text(encoding="utf-8"))
    return {entry.partition("{")[2].partition(",")[0]: entry.strip() for entry in entries}
