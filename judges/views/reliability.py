"""Where judges can be trusted, what follows for mean scores, and whether a judge may replace an annotator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate.access import project_for_reader
from annotate.models import Project
from annotate.results.table import Table
from annotate.views.page import Request
from annotate.views.table_files import table_file
from judges.errors import NoJudgesError
from judges.forms.reliability import MeasuredForm, PairForm, ReplacementForm
from judges.queries.estimates import EstimatesReport, estimates_report
from judges.queries.pairings import measured_judges
from judges.queries.reliability import ReliabilityReport, reliability_report
from judges.queries.replacement import ReplacementReport, replacement_report
from judges.queries.results.estimates import estimates_tables
from judges.queries.results.reliability import reliability_tables
from judges.queries.results.replacement import replacement_tables
from judges.views.page import render_judges

F = TypeVar("F", bound=forms.Form)
R = TypeVar("R")


@dataclass(frozen=True)
class MeasuredPage(Generic[F, R]):
    """A page about the judges that its form asks for: what is reported of them, and that as tables."""

    template: str
    form: Callable[..., F]
    report: Callable[[Project, F], R]
    tables: Callable[[R], Sequence[Table]]


def _reliability(project: Project, form: PairForm) -> ReliabilityReport:
    return reliability_report(
        project,
        form.pairing(),
        coefficient=form.cleaned_data["coefficient"],
        beside_people=form.beside(),
        fresh=form.cleaned_data["units"] == "fresh",
    )


def _estimates(project: Project, form: MeasuredForm) -> EstimatesReport:
    return estimates_report(project, form.chosen())


def _replacement(project: Project, form: ReplacementForm) -> ReplacementReport:
    return replacement_report(project, form.chosen(), epsilon=form.cleaned_data["epsilon"])


PAGES: Mapping[str, MeasuredPage[Any, Any]] = {
    "reliability": MeasuredPage("judges/reliability.html", PairForm, _reliability, reliability_tables),
    "estimates": MeasuredPage("judges/estimates.html", MeasuredForm, _estimates, estimates_tables),
    "replacement": MeasuredPage("judges/replacement.html", ReplacementForm, _replacement, replacement_tables),
}


@login_required
@require_GET
def measured(request: Request, slug: str, name: str) -> HttpResponse:
    """Show the report on the judges that were chosen, or the sentence why there is none."""
    project, page = project_for_reader(request.user, slug), PAGES[name]
    try:
        form = page.form(request.GET, judges=measured_judges(project))
    except NoJudgesError as error:
        return render_judges(request, project, page.template, {"problem": error.message})
    if not form.is_valid():
        return render_judges(request, project, page.template, {"form": form}, status=422)
    report = page.report(project, form)
    context = {"form": form, "report": report, "tables": page.tables(report)}
    return render_judges(request, project, page.template, context)


@login_required
@require_GET
def measured_table(request: Request, slug: str, name: str, key: str, format: str) -> HttpResponse:
    """Give one table of such a page as CSV, Markdown or LaTeX, for the judges that were chosen."""
    project, page = project_for_reader(request.user, slug), PAGES[name]
    try:
        form = page.form(request.GET, judges=measured_judges(project))
    except NoJudgesError as error:
        raise Http404(error.message) from error
    if not form.is_valid():
        raise Http404(gettext("No such judges, or nothing that can be asked of them."))
    tables = page.tables(page.report(project, form))
    return table_file(tables, key, f"{project.slug}-{name}-{key}", format)
