"""How a page shows its tables: the answer and the chart first, one table, the others behind tabs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise

from annotate.results.table import Table

Tables = Mapping[str, Table]
"""The tables of a page by their keys."""
Data = dict[str, Any]
"""A chart as plain values for JSON."""

LAST = ("gaps", "rated-units")
"""Tables about the data, which never come first."""


@dataclass(frozen=True)
class Chart:
    """The chart of a page.

    table: its key. columns: the keys of the columns to plot, all that have intervals if empty. lines: values
    to mark, such as .667 and .80 for alpha. band: the column whose interval is a band behind the points.
    title: instead of the table's. refine: changes the chart's points by what other tables show.
    """

    table: str
    columns: Sequence[str] = ()
    lines: Sequence[float] = ()
    band: str = ""
    title: str | Promise = ""
    refine: Callable[[Data, Tables], Data] | None = None


def no_answer(_tables: Tables) -> str:
    """Return an empty answer: the page shows its subject."""
    return ""


@dataclass(frozen=True)
class FrontQuestion:
    title: str | Promise
    chart: Chart
    answer: Callable[[Tables], str]


@dataclass(frozen=True)
class Arrangement:
    """The initial view of a page, and the parts that only its files contain.

    tabs: short names by table key, in tab order; other tables follow. Keys omit “round-1-” and “judge-7-”.
    charts: for each tab's key, the table in its chart. columns: for each tab's key, the visible columns;
    files have all. sorts: for each tab's key, the column that sorts the rows, with “-” for descending.
    in_files: key patterns of tables that only files and the API contain. columns_in_files: key patterns of
    columns that only files and the API contain, for each tab's key. in_words: tabs of messages and statuses,
    shown in full, and as cards on a phone. has_chart: whether the page shows a chart of a table without a
    plot. answer: computes the message that answers the page's question. cards: its cards on the front page of
    results.
    """

    tabs: Mapping[str, str | Promise] = field(default_factory=dict)
    chart: Chart | None = None
    charts: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sorts: Mapping[str, str] = field(default_factory=dict)
    in_files: Sequence[str] = ()
    columns_in_files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    in_words: Sequence[str] = ()
    has_chart: bool = True
    answer: Callable[[Tables], str] = no_answer
    cards: Sequence[FrontQuestion] = ()
