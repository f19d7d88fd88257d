"""How Round I is shared out: chosen and previewed before it opens, shown as it is afterwards."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotate.access import project_for_admin
from annotate.commands.plans import choose_plan
from annotate.errors import DomainError
from annotate.forms.plans import KEPT, PlanForm
from annotate.models import AssignmentPlan
from annotate.planning import CannotBeMetError
from annotate.queries.plans import plan_of, planned_annotators, planned_work, shared_out
from annotate.queries.rounds import round_one
from annotate.views.page import Request, render_in_project


@login_required
@require_http_methods(["GET", "POST"])
def plan(request: Request, slug: str) -> HttpResponse:
    """Show and choose the plan; `show` previews what was chosen and saves nothing."""
    project = project_for_admin(request.user, slug)
    round, choice, status = round_one(project), plan_of(project), 200
    form = PlanForm(request.POST or None, request.FILES or None, choice=choice)
    if request.method == "POST":
        status = 422
        try:
            if form.is_valid():
                values = {name: form.cleaned_data[name] for name in (*KEPT, "pairs")}
                if "show" not in request.POST:
                    choose_plan(project=project, **values)
                    messages.success(request, gettext("The plan is saved; opening Round I follows it."))
                    return redirect("plan", slug)
                choice, status = AssignmentPlan(project=project, **values), 200
        except DomainError as error:
            form.add_error(None, error.message)
            status = error.status
    context: dict[str, Any] = {"form": form, "round": round, "choice": choice}
    try:
        context["work"] = shared_out(round) if round else planned_work(choice)
    except CannotBeMetError as error:
        context["problem"] = str(error)
    if not round:
        context["annotators"] = len(planned_annotators(project))
    template = "plans/plan.html#preview" if request.htmx else "plans/plan.html"
    return render_in_project(request, project, template, context, status=status)
