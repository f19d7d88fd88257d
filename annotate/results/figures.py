"""A result for a page or a program: the stored one, or a task for a worker to compute it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise

from annotate.core.database import write_if_possible
from annotate.core.errors import DomainError, UndefinedResultError
from annotate.core.models import ComputedResult, Project
from annotate.core.page import Request, render_in_project
from annotate.results.charts import chart_of
from annotate.results.commands import ask_for_page, compute_page, keep_plot
from annotate.results.plots import draw
from annotate.results.queries.kept import KeptPage, load_kept_page, load_kept_plot
from annotate.results.registry import PAGES, Data, Result, result_of, version_of
from annotate.results.shown import ShownPage
from annotate.results.table import Table

AT_ONCE = 500  # a page of as many values is computed while the reader waits: in less than 0.3 s


def load_figures(project: Project, result: Result) -> KeptPage:
    """Return a result: of a small project always the current one, of others as computed by a worker.

    Raises DomainError if nothing can be computed: for a large project after a worker has found that out.
    """
    kept = load_kept_page(project, result, version_of(result, project))
    if kept.is_current:
        return kept
    if result.page.size(project) <= AT_ONCE:
        return compute_page(project=project, result=result)
    if kept.is_undefined:
        raise UndefinedResultError(kept.row.problem)
    if kept.was_undefined:
        kept.row.problem = ""  # the data have changed since
    if not kept.row.problem:
        ask_worker(project, result)
    return kept


def has_current_figures(project: Project, result: Result) -> bool:
    """Return True if a pending page can show current results; else enqueue a worker task.

    Reads no results, which are megabytes: an open page polls repeatedly in a busy round.
    """
    if result.page.size(project) <= AT_ONCE:
        return True
    kept = (
        ComputedResult.objects.filter(project=project, name=result.name).values("version", "problem").first()
    )
    if kept and kept["version"] == version_of(result, project):
        return True
    if not kept or not kept["problem"]:
        ask_worker(project, result)
    return False


def show_figures(
    request: Request, project: Project, result: Result, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Render a page with a result, or the fragment for htmx: empty while a worker computes.

    Raises DomainError if nothing can be computed.
    """
    # htmx polls for the whole page until it is current; a request of the view filters what is there.
    waits = request.htmx and request.htmx.target != "view"
    if waits and not has_current_figures(project, result):
        return HttpResponse(status=204)
    kept = load_figures(project, result)
    if request.htmx and not kept.is_current:
        return HttpResponse(status=204)
    units = reverse("disagreements", args=[project.slug])
    shown = ShownPage(result, kept, request.GET, units)
    context |= {"result": result, "kept": kept, "shown": shown}
    if request.htmx:
        template = "results/_view.html" if request.htmx.target == "view" else "results/page.html#figures"
    return render_in_project(request, project, template, context)


def plot_of(project: Project, result: Result, kept: KeptPage, table: Table) -> str:
    """Return a table's plot as SVG: the stored one, else render and store it."""
    name = f"{result.name}&plot={table.key}"
    drawing = load_kept_plot(project, name, kept.row.version)
    if not drawing:
        drawing = draw(table, "svg").decode()
        keep_plot(project=project, name=name, version=kept.row.version, content=drawing)
    return drawing


def ask_worker(project: Project, result: Result) -> None:
    """Enqueue the computation of a result after the commit, unless it was enqueued just before."""
    # Where another process writes, the page asks again in a moment.
    write_if_possible(lambda: ask_for_page(project=project, result=result))


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
            # A current page without points has nothing to show on the front page.
            if kept.is_current and chart is None:
                continue
            answer = card.answer(tables) if tables else ""
            found.append(FrontCard(card.title, answer, result, kept, table, chart))
    return found
