"""Judges side by side, beside people."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.access import project_for_reader
from annotate.models import Project
from annotate.views.page import Request
from annotate.views.table_files import table_file
from judges.access import judge_in
from judges.models import Judge
from judges.queries.comparison import Comparison, comparison, judgments_of_unit
from judges.queries.results.comparison import comparison_tables, judge_tables
from judges.views.page import render_judges


@login_required
@require_GET
def judge_comparison(request: Request, slug: str) -> HttpResponse:
    """Show one table of all judges: how they agree with people on each dimension."""
    project = project_for_reader(request.user, slug)
    found = _of_all(project)
    context = {"comparison": found, "tables": comparison_tables(found)}
    return render_judges(request, project, "judges/comparison.html", context)


@login_required
@require_GET
def judge_comparison_table(request: Request, slug: str, key: str, format: str) -> HttpResponse:
    """Give one table of all judges as CSV, Markdown or LaTeX."""
    project = project_for_reader(request.user, slug)
    return table_file(comparison_tables(_of_all(project)), key, f"{project.slug}-judges-{key}", format)


@login_required
@require_GET
def unit_judgments(request: Request, slug: str, item: int, key: str) -> HttpResponse:
    """Show what judges said about one unit, and why; the page of a disagreement has it as a part."""
    project = project_for_reader(request.user, slug)
    template = "judges/unit.html#said" if request.htmx else "judges/unit.html"
    return render_judges(request, project, template, {"judgments": judgments_of_unit(project, item, key)})


@login_required
@require_GET
def judge_figures(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show everything that one judge says beside people."""
    project = project_for_reader(request.user, slug)
    found = _of_one(project, pk)
    figures = found.judges[0]
    context = {"round": found.round, "figures": figures, "tables": judge_tables(figures)}
    return render_judges(request, project, "judges/figures.html", context)


@login_required
@require_GET
def judge_figures_table(request: Request, slug: str, pk: int, key: str, format: str) -> HttpResponse:
    """Give one table of a judge as CSV, Markdown or LaTeX."""
    project = project_for_reader(request.user, slug)
    tables = judge_tables(_of_one(project, pk).judges[0])
    return table_file(tables, key, f"{project.slug}-judge-{pk}-{key}", format)


def _of_all(project: Project) -> Comparison:
    judges = list(Judge.objects.filter(project=project).order_by("name"))
    return comparison(project, judges, seed=project.seed)


def _of_one(project: Project, pk: int) -> Comparison:
    return comparison(project, [judge_in(project, pk)], seed=project.seed)
