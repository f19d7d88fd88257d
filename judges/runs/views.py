"""Pages about runs."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import Request, request_user
from judges.core.access import project_for_judges, run_in
from judges.core.errors import RunRefusedError
from judges.core.models import Judgment, Run
from judges.core.page import add_refusal, render_judges
from judges.core.specification import Scope
from judges.endpoints.queries import usable_judges
from judges.runs.commands.budgets import change_budget
from judges.runs.commands.runs import cancel_run, pause_run, plan_run, retry_failed, start_run
from judges.runs.forms import BudgetForm, RunForm, budget_of
from judges.runs.queries.pages import listed_judgments, moves, run_lines, run_state
from judges.runs.queries.pairs import all_pairs, neighbouring_pairs
from judges.runs.queries.plans import NOTHING_MISSING, RunPlan, plan_of

# A project's runs: listed, followed, steered, and what they left without a value.

STEPS: dict[str, Callable[..., Run]] = {
    "start": start_run,
    "pause": pause_run,
    "cancel": cancel_run,
    "retry": retry_failed,
}
WITHOUT_VALUE = (Judgment.Status.UNREADABLE, Judgment.Status.FAILED)
ON_A_PAGE = 50


@login_required
@require_GET
def runs(request: Request, slug: str) -> HttpResponse:
    """List the runs, each a line with a bar."""
    project = project_for_judges(request.user, slug)
    lines = run_lines(project)
    template = "judges/runs/runs.html#lines" if request.htmx else "judges/runs/runs.html"
    context = {"lines": lines, "moves": any(moves(line.progress) for line in lines)}
    return render_judges(request, project, template, context)


@login_required
@require_GET
def run(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show how far a run is; the page looks again by itself as long as it goes on."""
    project = project_for_judges(request.user, slug)
    template = "judges/runs/run.html#state" if request.htmx else "judges/runs/run.html"
    state = run_state(run_in(project, pk))
    context = {"state": state, "budget_form": BudgetForm(initial=budget_of(state.run))}
    return render_judges(request, project, template, context)


@login_required
@require_POST
def run_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Start or resume, pause, cancel a run, or ask again what failed."""
    steered = run_in(project_for_admin(request.user, slug), pk)
    if step not in STEPS:
        raise Http404(gettext("There is no such step."))
    try:
        STEPS[step](run=steered)
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("run", slug, pk)


@login_required
@require_POST
def run_budget(request: Request, slug: str, pk: int) -> HttpResponse:
    """Give a run another budget."""
    changed = run_in(project_for_admin(request.user, slug), pk)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("This is no budget: {value}").format(value=form["budget"].errors[0]))
        return redirect("run", slug, pk)
    try:
        changed = change_budget(run=changed, **form.cleaned_data)
        goes_on = " Resume the run to go on." if changed.status == Run.Status.STOPPED else ""
        messages.success(request, gettext("The budget is changed.{goes_on}").format(goes_on=goes_on))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("run", slug, pk)


@login_required
@require_GET
def run_judgments(request: Request, slug: str, pk: int, status: str) -> HttpResponse:
    """List a run's unreadable or failed judgments with reply and reason."""
    project = project_for_reader(request.user, slug)
    listed = run_in(project, pk)
    return render_without_value(request, project, listed.judgments.all(), status, {"run": listed})


def render_without_value(
    request: Request, project: Project, judgments: QuerySet[Judgment], status: str, context: dict[str, Any]
) -> HttpResponse:
    """Render a list of unreadable or failed judgments; the context says whose they are."""
    if status not in WITHOUT_VALUE:
        raise Http404(gettext("There is no such list."))
    pages = Paginator(listed_judgments(judgments, status), ON_A_PAGE)
    listed = {"status": status, "judgments": pages.get_page(request.GET.get("page"))}
    return render_judges(request, project, "judges/runs/judgments.html", {**context, **listed})


# Planning a run: what it would ask, cost and take, before anything is written.


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
    template = "judges/runs/plan.html#plan" if request.htmx else "judges/runs/plan.html"
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


def _start(request: Request, project: Project, scope: Scope, form: RunForm, plan: RunPlan) -> HttpResponse:
    if plan.judgments and not plan.calls:
        raise RunRefusedError(NOTHING_MISSING)
    budget, via = form.cleaned_data["budget"], form.cleaned_data["via"]
    run = plan_run(project=project, scope=scope, by=request_user(request), budget=budget, via=via)
    start_run(run=run)
    return redirect("run", project.slug, run.pk)
