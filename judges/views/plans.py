"""Planning a run: what it would ask, cost and take, before anything is written."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.access import project_for_admin
from annotate.errors import DomainError
from annotate.models import Project
from annotate.views.page import Request, request_user
from judges.commands.runs import plan_run, start_run
from judges.errors import RunRefusedError
from judges.forms.runs import RunForm
from judges.queries.judges import usable_judges
from judges.queries.pairs import all_pairs, neighbouring_pairs
from judges.queries.plans import NOTHING_MISSING, Plan, plan_of
from judges.specification import Scope
from judges.views.page import add_refusal, render_judges


@login_required
@require_http_methods(["GET", "POST"])
def run_plan(request: Request, slug: str) -> HttpResponse:
    """Show what a run would be; a POST starts it, unless it is only to `show` that."""
    project = project_for_admin(request.user, slug)
    form = run_form(project, request.POST if request.method == "POST" else None)
    plan, remarks, status = None, list[str](), 200
    try:
        if form.is_valid():
            scope = scope_of(project, form)
            plan = plan_of(project, scope, form.cleaned_data["via"])
            remarks = plan.remarks(form.cleaned_data["budget"])
            if "show" not in request.POST:
                return _start(request, project, scope, form, plan)
    except DomainError as error:
        status = add_refusal(form, error)
    template = "judges/plan.html#plan" if request.htmx else "judges/plan.html"
    status = 422 if form.errors and status == 200 else status
    context = {"form": form, "plan": plan, "remarks": [] if form.errors else remarks}
    return render_judges(request, project, template, context, status=status)


def run_form(project: Project, entered: Mapping[str, Any] | None) -> RunForm:
    """Return the form of a run with what the project can choose from."""
    return RunForm(
        entered,
        judges=usable_judges(project),
        dimensions=list(project.dimensions.values_list("key", "name")),
        pairs=all_pairs(project),
    )


def scope_of(project: Project, form: RunForm) -> Scope:
    """Return what a form that was filled in without mistakes asks for. Raises RunRefusedError."""
    data = form.cleaned_data
    pairs = form.all_pairs() if data["pairs"] == "all" else []
    if data["pairs"] == "neighbours":
        pairs = [each.pair for each in neighbouring_pairs(project)]
    elif data["pairs"] == "chosen":
        pairs = form.chosen()
    return Scope(list(data["judges"]), data["dimensions"], pairs)


def _start(request: Request, project: Project, scope: Scope, form: RunForm, plan: Plan) -> HttpResponse:
    if plan.judgments and not plan.calls:
        raise RunRefusedError(NOTHING_MISSING)
    budget, via = form.cleaned_data["budget"], form.cleaned_data["via"]
    run = plan_run(project=project, scope=scope, by=request_user(request), budget=budget, via=via)
    start_run(run=run)
    return redirect("run", project.slug, run.pk)
