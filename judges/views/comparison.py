"""Judges side by side, beside people."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.access import project_for_reader
from annotate.views.page import Request
from judges.access import judge_in
from judges.models import Judge
from judges.queries.comparison import comparison, judgments_of_unit
from judges.views.page import render_judges


@login_required
@require_GET
def judge_comparison(request: Request, slug: str) -> HttpResponse:
    """Show one table of all judges: how they agree with people on each dimension."""
    project = project_for_reader(request.user, slug)
    judges = list(Judge.objects.filter(project=project).order_by("name"))
    context = {"comparison": comparison(project, judges, seed=project.seed)}
    return render_judges(request, project, "judges/comparison.html", context)


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
    found = comparison(project, [judge_in(project, pk)], seed=project.seed)
    context = {"round": found.round, "figures": found.judges[0]}
    return render_judges(request, project, "judges/figures.html", context)
