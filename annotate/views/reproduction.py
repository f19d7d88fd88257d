"""Reproduction: a paper's tables beside what its release gives here."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate import access
from annotate.models import Project
from annotate.queries.reproduction import Reproduction, paper_of, reproduction
from annotate.reproduction.table_form import as_result
from annotate.results.text import FORMATS
from annotate.views.page import render_in_project
from annotate.views.table_files import table_file


@login_required
@require_GET
def reproduction_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every published figure beside the project's to admins and researchers."""
    project, found = _found(request, slug)
    context = {"found": found, "formats": list(FORMATS)}
    return render_in_project(request, project, "reproduction/reproduction.html", context)


@login_required
@require_GET
def reproduction_table(request: HttpRequest, slug: str, name: str, format: str) -> HttpResponse:
    """Give one table as CSV, Markdown or LaTeX."""
    project, found = _found(request, slug)
    key = f"table-{name}"
    return table_file(map(as_result, found.tables), key, f"{project.slug}-{key}", format)


def _found(request: HttpRequest, slug: str) -> tuple[Project, Reproduction]:
    project = access.project_for_reader(request.user, slug)
    paper = paper_of(project)
    if paper is None:
        raise Http404(gettext("This project was not made to reproduce a paper."))
    return project, reproduction(project, paper)
