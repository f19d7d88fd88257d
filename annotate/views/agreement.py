"""Agreement: Round I reliability beside agreement after discussion, and the detail of a dimension."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate import access
from annotate.models import Project
from annotate.queries.agreement import (
    DimensionDetail,
    Drawn,
    agreement_table,
    dimension_details,
)
from annotate.queries.quality import left_out
from annotate.queries.results.agreement_tables import agreement_tables, dimension_tables
from annotate.queries.rounds import rounds_of
from annotate.views.page import render_in_project
from annotate.views.table_files import table_file


@login_required
@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the table of both rounds to admins and researchers."""
    project = access.project_for_reader(request.user, slug)
    table = agreement_table(project, drawn=_drawn(request))
    context = {"table": table, "tables": agreement_tables(table), "left_out": left_out(project)}
    return render_in_project(request, project, "agreement/agreement.html", context)


@login_required
@require_GET
def agreement_file(request: HttpRequest, slug: str, table: str, format: str) -> HttpResponse:
    """Give the table of both rounds as CSV, Markdown or LaTeX."""
    project = access.project_for_reader(request.user, slug)
    tables = agreement_tables(agreement_table(project, drawn=_drawn(request)))
    return table_file(tables, table, f"{project.slug}-agreement-{table}", format)


@login_required
@require_GET
def agreement_dimension(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show one dimension: other levels and coefficients, pairs of raters, distributions, in each round."""
    project = access.project_for_reader(request.user, slug)
    details = _details(request, project, key)
    context = {"details": details, "tables": dimension_tables(details), "drawn": _drawn(request)}
    return render_in_project(request, project, "agreement/dimension.html", context)


@login_required
@require_GET
def dimension_file(request: HttpRequest, slug: str, key: str, table: str, format: str) -> HttpResponse:
    """Give one table of a dimension as CSV, Markdown or LaTeX."""
    project = access.project_for_reader(request.user, slug)
    tables = dimension_tables(_details(request, project, key))
    return table_file(tables, table, f"{project.slug}-{key}-{table}", format)


def _details(request: HttpRequest, project: Project, key: str) -> list[DimensionDetail]:
    details = [
        detail
        for round in rounds_of(project).values()
        for detail in dimension_details(round, keys=frozenset({key}), drawn=_drawn(request))
    ]
    if not details:
        raise Http404(gettext("There is no such dimension, or Round I has not been opened."))
    return sorted(details, key=lambda detail: detail.round.number)


def _drawn(request: HttpRequest) -> Drawn:
    return "documents" if request.GET.get("drawn") == "documents" else "units"
