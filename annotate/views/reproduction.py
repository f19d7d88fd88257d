"""Reproduction: a paper's tables beside what its release gives here."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate import access
from annotate.queries.reproduction import paper_of, reproduction
from annotate.views.page import render_in_project


@login_required
@require_GET
def reproduction_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every published figure beside the project's to admins and researchers."""
    project = access.project_for_reader(request.user, slug)
    paper = paper_of(project)
    if paper is None:
        raise Http404(gettext("This project was not made to reproduce a paper."))
    context = {"found": reproduction(project, paper)}
    return render_in_project(request, project, "reproduction/reproduction.html", context)
