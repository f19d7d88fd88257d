"""The registry of results: named pages of tables and plots, annotate's own and those added by other apps.

An arrangement decides what a page shows first: its answer, its chart and one table; others are behind tabs.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import Request
from annotate.core.version import VERSION
from annotate.results.table import Section, Table

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
    answer: Callable[[Tables], str] = lambda _tables: ""  # without one, the page shows its subject
    cards: Sequence[FrontQuestion] = ()


Chosen = Mapping[str, str]
"""A value for each of a page's parameters."""


class UnknownChoiceError(DomainError):
    code = "unknown_choice"
    status = 404


@dataclass(frozen=True)
class Parameter:
    """A choice on a page of results.

    choices: the values that a project has, each with its name for people; the first is the default. Without
    any the page does not have the parameter. Raises DomainError if there is nothing to choose from and so no
    page: the message describes the missing part. group: its heading on a page with many, next to the others
    of its group.
    """

    name: str
    label: str | Promise
    choices: Callable[[Project], Sequence[tuple[str, str]]]
    group: str | Promise = ""

    def read(self, asked: str, options: Sequence[tuple[str, str]]) -> str:
        """Return the requested value; raises UnknownChoiceError for an unknown one."""
        known = [key for key, _ in options]
        if asked not in known:
            says = gettext("There is no %(what)s “%(value)s” here; there are: %(known)s.")
            raise UnknownChoiceError(says % {"what": self.label, "value": asked, "known": ", ".join(known)})
        return asked


@dataclass(frozen=True)
class NumberParameter(Parameter):
    """A number that anyone may assume; an empty value, the first choice, means the number from the data.

    least, most: inclusive limits. Numbers are rounded to four digits, so that a page is not recomputed for
    invisible differences.
    """

    choices: Callable[[Project], Sequence[tuple[str, str]]] = lambda _: [("", gettext("as in the data"))]
    least: float = 0
    most: float = 1_000

    is_number = True

    def read(self, asked: str, options: Sequence[tuple[str, str]]) -> str:
        """Return the number in its shortest form, or nothing; raises UnknownChoiceError for another word."""
        if not asked.strip():
            return options[0][0]
        try:
            number = float(asked)
        except ValueError:
            # NaN is between no limits, so the next check rejects it.
            number = math.nan
        if not self.least <= number <= self.most:
            says = gettext("%(what)s is a number from %(least)s to %(most)s, not “%(asked)s”.")
            ends = {"least": f"{self.least:g}", "most": f"{self.most:g}"}
            raise UnknownChoiceError(says % {"what": self.label, "asked": asked, **ends})
        return f"{number:.4g}"


@dataclass(frozen=True)
class ResultsPage:
    """A results page of every project: all results about one question.

    name: the end of its URL. sections: computes the results; raises DomainError if there are none. version: a
    value that changes whenever a result can change, from few and fast queries. size: the number of values
    behind the results; with many, a worker computes the page. version_of_choice: the version of data that
    only some choices use. filled_by: the route, which takes the project's slug, of the step that an empty
    page links to. shown_on: the route of the page that shows a part, see `PARTS`. shown_at: computes the URL
    of the page that shows it, if it is another page. parts: the names of results that it shows behind tabs.
    is_listed: whether a project lists it. arrangement: the tables that come first. action: the HTML of a form
    above the results, for users with permission to send it.
    """

    name: str
    title: str | Promise
    says: str | Promise
    sections: Callable[[Project, Chosen], Sequence[Section]]
    version: Callable[[Project], Sequence[object]]
    size: Callable[[Project], int]
    parameters: Sequence[Parameter] = ()
    version_of_choice: Callable[[Project, Chosen], Sequence[object]] = lambda _project, _chosen: ()
    filled_by: str = "round_one"
    shown_on: str = ""
    shown_at: Callable[[str, Chosen], str] | None = None
    parts: Sequence[str] = ()
    is_listed: Callable[[Project], bool] = lambda _project: True
    arrangement: Arrangement = field(default_factory=Arrangement)
    action: Callable[[Request, Project], str] | None = None


@dataclass(frozen=True)
class Choice:
    """A parameter with its options in a project, and the chosen one."""

    parameter: Parameter
    options: Sequence[tuple[str, str]]
    value: str


@dataclass(frozen=True)
class Result:
    """A page with its choices: the unit of computing, storing and reading."""

    page: ResultsPage
    choices: Sequence[Choice] = ()

    @property
    def chosen(self) -> Chosen:
        return {each.parameter.name: each.value for each in self.choices}

    @property
    def query(self) -> str:
        """The query of its URL; missing numbers are omitted."""
        return urlencode({name: value for name, value in self.chosen.items() if value})

    @property
    def assumes(self) -> bool:
        """Whether it depends on numbers entered by a person, which are unlimited."""
        return any(isinstance(each.parameter, NumberParameter) and each.value for each in self.choices)

    @property
    def name(self) -> str:
        return f"{self.page.name}?{self.query}"


PAGES: dict[str, ResultsPage] = {}
PARTS: dict[str, ResultsPage] = {}
"""Results with separate pages and permissions: no list, file or API of results has them."""
UNIT_PARTS: dict[str, str] = {}
"""Routes, by app, of what else a unit's page loads. They take slug, item and dimension key."""


def result_of(project: Project, page: ResultsPage | str, asked: Mapping[str, str] | None = None) -> Result:
    """Return a page with the requested choices; others have their first option.

    Raises UnknownChoiceError for an unknown value, DomainError if there is nothing to choose.
    """
    page = (PAGES | PARTS)[page] if isinstance(page, str) else page
    choices = []
    for parameter in page.parameters:
        # Without options, the page of this project does not have the parameter.
        if options := parameter.choices(project):
            value = parameter.read((asked or {}).get(parameter.name, options[0][0]), options)
            choices.append(Choice(parameter, options, value))
    return Result(page, choices)


def result_called(project: Project, name: str) -> Result:
    page, _, query = name.partition("?")
    return result_of(project, page, dict(parse_qsl(query)))


def version_of(result: Result, project: Project) -> str:
    """Return a version string for the state of the data, and of Concord, on which the result depends."""
    page = result.page
    # With VERSION, because another version of Concord may compute other results from the same data.
    parts = repr([VERSION, *page.version(project), *page.version_of_choice(project, result.chosen)])
    return hashlib.blake2b(parts.encode(), digest_size=20).hexdigest()
