"""The visible part of a results page: one chart and one table, filtered and paged."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cached_property

from django.core.paginator import Page, Paginator
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext

from annotate.results.charts import chart_of
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import LAST, Arrangement, Chart, Data, Result, Tables
from annotate.results.table import Cell, Section, Table

ROWS = 12
ORPHANS = 4  # too few rows for a separate page
TABS = 5
WORDS_IN_VIEW = 45
"""Longer notes on a table open on demand."""
_VARIANT = re.compile(r"(round|judge)-(\d+)-(.+)")
_ROUND_IN_TITLE = re.compile(r" \((?:Round (?:I|II), [^)]*)\)$")


@dataclass(frozen=True)
class Link:
    """A choice that is a link: a tab, a round, a page."""

    name: str | Promise
    url: str
    is_current: bool = False


@dataclass(frozen=True)
class Filter:
    """A choice of a list: its name in URLs, its label, and the options with their names."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    value: str


@dataclass(frozen=True)
class Rows:
    table: Table
    page: "Page[Sequence[Cell]]"


class ShownPage:
    """One chart and one table of a page, selected by its URL; unknown values mean the first choice."""

    def __init__(self, result: Result, kept: KeptPage, given: QueryDict, units: str = "") -> None:
        self._kept, self._given, self._units = kept, given, units
        self._result = result
        self.arrangement: Arrangement = result.page.arrangement

    @cached_property
    def tables(self) -> Tables:
        return {table.key: table for table in self._kept.tables}

    @cached_property
    def answer(self) -> str:
        """The message that answers the page's question, else the page's subject."""
        return self.arrangement.answer(self.tables) or str(self._result.page.says)

    @cached_property
    def _variants(self) -> Mapping[str, Mapping[str, Table]]:
        """Tables by the key of their tab, then by their prefix, such as “round-1”."""
        found: dict[str, dict[str, Table]] = {}
        for key, table in self.tables.items():
            if any(fnmatch(key, pattern) for pattern in self.arrangement.in_files):
                continue
            found.setdefault(_tab_of(key), {})[_prefix_of(key)] = table
        return found

    @cached_property
    def _order(self) -> Sequence[str]:
        ranks = {key: index for index, key in enumerate(self.arrangement.tabs)}
        listed = list(self._variants)
        last = len(ranks) + len(listed)

        # Tabs in their order, then other tables in the page's order, and tables about the data last.
        def rank(key: str) -> int:
            return last if key in LAST else ranks.get(key, len(ranks) + listed.index(key))

        return sorted(listed, key=rank)

    @cached_property
    def tab(self) -> str:
        """The key of the tab that is open; empty if the page has no table."""
        asked = self._given.get("table", "")
        tab = _tab_of(asked)
        return tab if tab in self._variants else (self._order[0] if self._order else "")

    @cached_property
    def variant(self) -> str:
        """The prefix of the table that is open, such as “round-1”."""
        prefixes = list(self._variants.get(self.tab, {}))
        kinds = {prefix.partition("-")[0] for prefix in prefixes if prefix}
        chosen = (f"{kind}-{self._given[kind]}" for kind in kinds if kind in self._given)
        asked = _prefix_of(self._given.get("table", "")) or next(chosen, "")
        return asked if asked in prefixes else (prefixes[0] if prefixes else "")

    @cached_property
    def table(self) -> Table | None:
        return self._variants[self.tab][self.variant] if self.tab else None

    @cached_property
    def section(self) -> Section | None:
        table = self.table
        return next((each for each in self._kept.sections if table in each.tables), None) if table else None

    @property
    def notes(self) -> list[Section]:
        """The sections without tables: missing measurements, and the method of the page."""
        return [each for each in self._kept.sections if each.says and not each.tables]

    @property
    def says_at_length(self) -> bool:
        return self.section is not None and len(self.section.says.split()) > WORDS_IN_VIEW

    @cached_property
    def tabs(self) -> list[Link]:
        links = list(self._links())
        # One tab beyond the limit is shown, because it would be alone in the menu.
        return links[:TABS] if len(links) > TABS + 1 else links

    @cached_property
    def more_tabs(self) -> list[Link]:
        return list(self._links())[len(self.tabs) :]

    def _links(self) -> Iterator[Link]:
        for key in self._order:
            title = next(iter(self._variants[key].values())).title
            name = self.arrangement.tabs.get(key) or _ROUND_IN_TITLE.sub("", title)
            yield Link(name, self.url(table=key, page=""), key == self.tab)

    @property
    def open_tab_is_in_menu(self) -> bool:
        return any(each.is_current for each in self.more_tabs)

    @cached_property
    def filters(self) -> list[Filter]:
        """The filters of the open table: its dimension, and the judge it is about."""
        found = []
        titles = {section.anchor: section.title for section in self._kept.sections}
        prefixes = [each for each in self._variants.get(self.tab, {}) if each.startswith("judge-")]
        if judges := [(each.partition("-")[2], titles.get(each, each)) for each in prefixes]:
            current = self.variant.partition("-")[2]
            found.append(Filter("judge", gettext("Judge"), judges, current))
        if len(self._dimensions) > 1:
            options = [("", gettext("All dimensions")), *self._dimensions.items()]
            found.append(Filter("dimension", gettext("Dimension"), options, self.dimension))
        return found

    @cached_property
    def _dimensions(self) -> Mapping[str, str]:
        if self.table is None or any(each.name == "dimension" for each in self._result.page.parameters):
            return {}
        index = _dimension_index(self.table)
        if index is not None:
            return {_key(row[index]): str(row[index].value) for row in self.table.rows}
        # Columns may be dimensions: those that the rows of other tables name. Their first rows tell enough.
        dimensions: set[str] = set()
        for table in self.tables.values():
            index = _dimension_index(table)
            if index is not None:
                dimensions |= {_key(row[index]) for row in table.rows[: ROWS * 5]}
        columns = self.table.columns[self.table.heads :]
        return {each.key: each.name for each in columns if each.key in dimensions}

    @cached_property
    def dimension(self) -> str:
        """The key of the dimension that is chosen, empty for all."""
        asked = self._given.get("dimension", "")
        # A link from another tab may name a dimension that this table does not have.
        return asked if asked in self._dimensions else ""

    @cached_property
    def rows(self) -> Rows | None:
        if self.table is None:
            return None
        table = self._select_columns(self._filter(self.table))
        sort = self.arrangement.sorts.get(self.tab)
        ordered = _sort(table, sort) if sort else table.rows
        # Rows are sorted before they are paged, so the first page has the first rows of the whole table.
        page = Paginator(ordered, ROWS, orphans=ORPHANS).get_page(self._given.get("page"))
        return Rows(replace(table, rows=list(page.object_list)), page)

    def _select_columns(self, table: Table) -> Table:
        keys = self.arrangement.columns.get(self.tab)
        left_out = self.arrangement.columns_in_files.get(self.tab, ())
        if not keys and not left_out:
            return table
        wanted = keys or [column.key for column in table.columns]
        return table.select([key for key in wanted if not any(fnmatch(key, each) for each in left_out)])

    def _filter(self, table: Table) -> Table:
        if not self.dimension:
            return table
        index = _dimension_index(table)
        if index is not None:
            return replace(table, rows=[row for row in table.rows if _key(row[index]) == self.dimension])
        # Without a column of dimensions, the columns of other dimensions are removed.
        shown = [
            index
            for index, column in enumerate(table.columns)
            if index < table.heads or column.key == self.dimension or column.key not in self._dimensions
        ]
        rows = [[row[index] for index in shown] for row in table.rows]
        return replace(table, columns=[table.columns[index] for index in shown], rows=rows)

    @cached_property
    def chart(self) -> Data | None:
        wanted = self.arrangement.chart
        # The chart that the page asks for belongs to the first tab; other tabs plot their own table.
        if self.table is not None and (not wanted or self.tab != self._order[0]):
            own = self._find_table(self.arrangement.charts.get(self.tab, "")) or self.table
            if own.plot and (found := chart_of(self._filter(own), None, self._units)):
                return found
        if not self.arrangement.has_chart:
            return None
        table = self._find_table(wanted.table) if wanted else None
        found = chart_of(table, wanted, self._units, self.tables) if table else None
        return found or self._first_chart()

    @property
    def is_in_words(self) -> bool:
        return self.tab in self.arrangement.in_words

    def _find_table(self, key: str) -> Table | None:
        return self.tables.get(f"{self.variant}-{key}") or self.tables.get(key)

    def _first_chart(self) -> Data | None:
        tables = [next(iter(self._variants[key].values())) for key in self._order if key not in LAST]
        for table in [*(each for each in tables if each.plot), *tables]:
            if table.rows and (found := chart_of(table, Chart(table.key), self._units)):
                return found
        return None

    @property
    def plotted(self) -> Table | None:
        return self.tables.get(self.chart["key"]) if self.chart else None

    def url(self, **changes: str) -> str:
        """Return the URL of this page with other choices; an empty word removes one."""
        query = self._given.copy()
        for name, value in changes.items():
            query.pop(name, None)
            if value:
                query[name] = value
        return f"?{query.urlencode()}"

    @property
    def hidden_fields(self) -> list[tuple[str, str]]:
        """Hidden fields with the URL's query, for forms of filters."""
        # The form itself has the filters, and another filter leads to the first page.
        names = {each.name for each in self.filters} | {"page"}
        fields = [(name, self._given[name]) for name in self._given if name not in names]
        return [(name, self.tab if name == "table" else str(value)) for name, value in fields]

    @property
    def page_query(self) -> str:
        """The query without the page, for links that page through the rows."""
        query = self._given.copy()
        query.pop("page", None)
        return query.urlencode()


def _tab_of(key: str) -> str:
    found = _VARIANT.fullmatch(key)
    return found[3] if found else key


def _prefix_of(key: str) -> str:
    found = _VARIANT.fullmatch(key)
    return f"{found[1]}-{found[2]}" if found else ""


def _dimension_index(table: Table) -> int | None:
    heads = table.columns[: table.heads or 1]
    return next((index for index, each in enumerate(heads) if each.key == "dimension"), None)


def _key(cell: Cell) -> str:
    return cell.key or str(cell.value)


def _sort(table: Table, by: str) -> Sequence[Sequence[Cell]]:
    """Return the rows by a column, ascending or with “-” descending; rows without a value come last."""
    key = by.removeprefix("-")
    index = next((index for index, each in enumerate(table.columns) if each.key == key), None)
    if index is None:
        return table.rows
    known = [row for row in table.rows if isinstance(row[index].value, int | float)]
    unknown = [row for row in table.rows if not isinstance(row[index].value, int | float)]
    known.sort(key=lambda row: float(row[index].value or 0), reverse=by.startswith("-"))
    return [*known, *unknown]
