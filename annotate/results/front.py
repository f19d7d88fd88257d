"""The front page of results: a chart and a message for each of the first questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.results.arrangement import Data
from annotate.results.charts import chart_of
from annotate.results.figures import load_figures
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import PAGES, Result, result_of
from annotate.results.table import Table


@dataclass(frozen=True)
class FrontCard:
    """A question's message and chart; without a table, its statistics are not computed yet."""

    title: str | Promise
    answer: str
    result: Result
    kept: KeptPage
    table: Table | None
    chart: Data | None

    @property
    def is_waiting(self) -> bool:
        return not self.kept.is_current and not self.kept.row.problem


def front_cards(project: Project, units: str) -> Sequence[FrontCard]:
    """Return the cards of all pages that have some; pages that cannot be computed have none.

    units: the URL of the list of units, which points lead to.
    """
    found = []
    for page in PAGES.values():
        if not page.arrangement.cards:
            continue
        try:
            result = result_of(project, page)
            kept = load_figures(project, result)
        except DomainError:
            continue  # its own page shows the reason
        tables = {table.key: table for table in kept.tables}
        for card in page.arrangement.cards:
            table = tables.get(card.chart.table)
            chart = chart_of(table, card.chart, units, tables) if table else None
            if kept.is_current and chart is None:
                continue
            answer = card.answer(tables) if tables else ""
            found.append(FrontCard(card.title, answer, result, kept, table, chart))
    return found
