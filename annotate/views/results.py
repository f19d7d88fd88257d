"""Results: pages of tables and plots from what is kept, computed again when the data are others."""

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate import access, tasks
from annotate.commands.results import ask_for_page, compute_page, keep_plot
from annotate.models import Project
from annotate.queries.agreement import Drawn
from annotate.queries.quality import left_out
from annotate.queries.results.kept import KeptPage, kept_page, kept_plot
from annotate.results.plots import CONTENT_TYPES, draw, for_page
from annotate.results.table import Table
from annotate.results.text import FORMATS
from annotate.results_pages import PAGES, ResultsPage, name_of, version_of
from annotate.views.page import Request, render_in_project
from annotate.views.table_files import table_file

AT_ONCE = 2_000  # a page of as many values is computed while the reader waits


@login_required
@require_GET
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """List the pages of results."""
    project = access.project_for_reader(request.user, slug)
    return render_in_project(request, project, "results/results.html", {"pages": PAGES.values()})


@login_required
@require_http_methods(["GET", "POST"])
def results_page(request: Request, slug: str, name: str) -> HttpResponse:
    """Show a page of results, or that it is being computed; a POST has it computed again after an error."""
    project, page, drawn = _asked(request, slug, name)
    if request.method == "POST":
        _tell_worker(project, page, drawn)
        return redirect(request.get_full_path())
    kept = _kept(project, page, drawn)
    if request.htmx and not kept.is_current:
        return HttpResponse(status=204)
    template = "results/page.html#figures" if request.htmx else "results/page.html"
    context = {"page": page, "kept": kept, "drawn": drawn, "left_out": left_out(project)}
    return render_in_project(request, project, template, context)


@login_required
@require_GET
def result(request: HttpRequest, slug: str, name: str, key: str) -> HttpResponse:
    """Show one table whole, with its plot."""
    project, page, drawn = _asked(request, slug, name)
    kept, table = _table(project, page, drawn, key)
    context = {"page": page, "kept": kept, "table": table, "drawn": drawn}
    return render_in_project(request, project, "results/result.html", context)


@login_required
@require_GET
def result_file(request: Request, slug: str, name: str, key: str, format: str) -> HttpResponse:
    """Give a table as CSV, Markdown or LaTeX, or its plot as SVG, PDF or PNG.

    A page puts the SVG into itself, with its own colours.
    """
    project, page, drawn = _asked(request, slug, name)
    kept, table = _table(project, page, drawn, key)
    file_name = f"{project.slug}-{name}-{key}"
    if format in FORMATS:
        return table_file([table], key, file_name, format)
    if format not in CONTENT_TYPES or not (table.plot and table.rows):
        raise Http404(gettext("There is no such file of this result."))
    if format == "svg":
        drawing = _svg(project, page, drawn, kept, table)
        if request.htmx:
            return HttpResponse(for_page(drawing))
        response = HttpResponse(drawing, content_type=CONTENT_TYPES["svg"])
    else:
        response = HttpResponse(draw(table, format), content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{file_name}.{format}"'
    return response


def _asked(request: HttpRequest, slug: str, name: str) -> tuple[Project, ResultsPage, Drawn]:
    project = access.project_for_reader(request.user, slug)
    if name not in PAGES:
        raise Http404(gettext("There is no such page of results."))
    return project, PAGES[name], "documents" if request.GET.get("drawn") == "documents" else "units"


def _kept(project: Project, page: ResultsPage, drawn: Drawn) -> KeptPage:
    """Return the page's figures: of a small project always those of now, of others a worker makes them."""
    kept = kept_page(project, page, drawn, version_of(page, project))
    if kept.is_current:
        return kept
    if page.size(project) <= AT_ONCE:
        compute_page(project=project, page=page, drawn=drawn)
        return kept_page(project, page, drawn, kept.version)
    if not kept.row.problem:
        _tell_worker(project, page, drawn)
    return kept


def _table(project: Project, page: ResultsPage, drawn: Drawn, key: str) -> tuple[KeptPage, Table]:
    kept = _kept(project, page, drawn)
    table = kept.table(key)
    if table is None:
        raise Http404(gettext("There is no such table, or it is still being computed."))
    return kept, table


def _svg(project: Project, page: ResultsPage, drawn: Drawn, kept: KeptPage, table: Table) -> str:
    name = f"{name_of(page, drawn)}&plot={table.key}"
    drawing = kept_plot(project, name, kept.row.version)
    if not drawing:
        drawing = draw(table, "svg").decode()
        keep_plot(project=project, name=name, version=kept.row.version, content=drawing)
    return drawing


def _tell_worker(project: Project, page: ResultsPage, drawn: Drawn) -> None:
    asked = ask_for_page(project=project, page=page, drawn=drawn)
    if asked is not None:
        # Robust: without a broker the page waits, and tells that no worker has taken it.
        transaction.on_commit(lambda: tasks.compute_result.delay(asked), robust=True)
