"""A project's runs: listed, followed, steered, and what they left without a value."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from annotate.access import project_for_admin, project_for_reader
from annotate.errors import DomainError
from annotate.models import Project
from annotate.views.page import Request
from judges.access import project_for_judges, run_in
from judges.commands.budgets import change_budget
from judges.commands.runs import cancel_run, pause_run, retry_failed, start_run
from judges.forms.runs import BudgetForm, budget_of
from judges.models import Judgment, Run
from judges.queries.run_pages import listed_judgments, moves, run_lines, run_state
from judges.views.page import render_judges

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
    template = "judges/runs.html#lines" if request.htmx else "judges/runs.html"
    context = {"lines": lines, "moves": any(moves(line.progress) for line in lines)}
    return render_judges(request, project, template, context)


@login_required
@require_GET
def run(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show how far a run is; the page looks again by itself as long as it goes on."""
    project = project_for_judges(request.user, slug)
    template = "judges/run.html#state" if request.htmx else "judges/run.html"
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
    return render_judges(request, project, "judges/judgments.html", {**context, **listed})
