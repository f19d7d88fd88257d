"""Judgments of a unit, and redirects from earlier URLs of judges' statistics."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotate.core.access import project_for_reader
from annotate.core.page import Request
from judges.core.access import judge_in
from judges.core.models import OF_PROJECT, Judgment
from judges.core.page import render_judges


@login_required
@require_GET
def unit_judgments(request: Request, slug: str, item: int, key: str) -> HttpResponse:
    """Show the judgments of one unit with their reasons; a disagreement's page includes this part."""
    project = project_for_reader(request.user, slug)
    template = "judges/results/unit.html#said" if request.htmx else "judges/results/unit.html"
    given = Judgment.objects.filter(
        judge__project=project,
        # Without candidates of searches and drift checks: judgments have no manager that hides them.
        **OF_PROJECT,
        item=item,
        dimension__key=key,
        other__isnull=True,
        status=Judgment.Status.DONE,
    )
    judgments = list(given.select_related("judge", "dimension").order_by("judge__name", "judge", "sample"))
    return render_judges(request, project, template, {"judgments": judgments})


@login_required
@require_GET
def judge_figures(request: Request, slug: str, pk: int, **_parts: str) -> HttpResponse:
    """Redirect to the tables of a judge on the page of judges and people."""
    judge = judge_in(project_for_reader(request.user, slug), pk)
    table = "strengths" if judge.asks_pairs else "quality"
    return redirect(reverse("results_page", args=[slug, "judges"]) + f"?table={table}&judge={judge.pk}")
