"""Routing units to people: policies listed, made, looked at while r moves, followed, withdrawn."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.access import project_for_reader
from annotate.errors import DomainError
from annotate.models import Project
from annotate.views.page import Request, request_user
from judges.access import may_change_judges, policy_in, project_for_routing
from judges.commands.routing import (
    draft_policy,
    follow_proposal,
    make_policy,
    route,
    update_policy,
    withdraw_policy,
)
from judges.forms.routing import CertifiedRoutingForm, RoutingForm, form_of, usual_values
from judges.models import RoutingPolicy
from judges.queries.policies import has_judge_pair, policies_of
from judges.queries.routing import RoutingPlan, routing_plan
from judges.queries.routing_proposals import proposal_of
from judges.queries.routing_state import routing_state
from judges.views.page import add_refusal, render_judges

AnyForm = RoutingForm | CertifiedRoutingForm
DRAFT, ROUTED = RoutingPolicy.Status.DRAFT, RoutingPolicy.Status.ROUTED


@login_required
@require_GET
def routing(request: Request, slug: str) -> HttpResponse:
    """List the policies."""
    project = project_for_reader(request.user, slug)
    context = {"policies": policies_of(project), "has_pair": has_judge_pair(project)}
    return render_judges(request, project, "judges/routing.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def routing_new(request: Request, slug: str) -> HttpResponse:
    """Show what a new policy would do while it is entered; a POST makes it, unless it only is to `show`."""
    project = project_for_routing(request.user, slug)
    names = [policy.name for policy in policies_of(project)]
    initial = usual_values(project, names)
    return _enter(request, project, RoutingForm(_posted(request), project=project, initial=initial), None)


@login_required
@require_http_methods(["GET", "POST"])
def routing_policy(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a policy: a draft with what it would do, a routed one with what became of it."""
    acting = request.method == "POST"
    project = project_for_routing(request.user, slug) if acting else project_for_reader(request.user, slug)
    policy = policy_in(project, pk)
    if policy.status == DRAFT and may_change_judges(request.user, project):
        return _enter(request, project, form_of(policy, _posted(request), project), policy)
    plan = routing_plan(policy, project)
    context: dict[str, Any] = {"policy": policy, "plan": plan, "state": routing_state(policy, project)}
    if policy.status == ROUTED and plan.round and plan.round.is_open and not plan.refusal:
        context["proposal"] = proposal_of(policy, plan)
    return render_judges(request, project, "judges/routing_policy.html", context)


@login_required
@require_POST
def routing_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Route a draft as it stands on the page, follow a proposal, or withdraw."""
    project = project_for_routing(request.user, slug)
    policy, by, shown = policy_in(project, pk), request_user(request), request.POST.get("shown", "")
    try:
        if step == "route":
            _route_as_shown(request, project, policy)
        elif step == "follow":
            follow_proposal(policy=policy, by=by, shown=shown)
        elif step == "withdraw":
            withdraw_policy(policy=policy, by=by)
        else:
            raise Http404(gettext("There is no such step."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("routing_policy", slug, pk)


def _route_as_shown(request: Request, project: Project, policy: RoutingPolicy) -> None:
    form = form_of(policy, request.POST, project)
    if policy.status == DRAFT and form.is_valid():
        policy = update_policy(policy=policy, to=form.spec())
    route(policy=policy, by=request_user(request), shown=request.POST.get("shown", ""))


def _posted(request: Request) -> Any:
    return request.POST if request.method == "POST" else None


def _enter(request: Request, project: Project, form: AnyForm, policy: RoutingPolicy | None) -> HttpResponse:
    """Show the form beside what the policy in it would do; store it unless it is only to be shown."""
    plan, status = None, 200
    if policy and not form.is_bound:
        plan = routing_plan(policy, project, preview=True)
    elif form.is_bound and form.is_valid():
        try:
            if "show" not in request.POST:
                return _store(request, project, form, policy)
            plan = _plan_of(project, form, policy)
        except DomainError as error:
            status = add_refusal(form, error)
    status = 422 if form.errors and status == 200 else status
    template = "judges/routing_form.html#preview" if request.htmx else "judges/routing_form.html"
    context = {"form": form, "policy": policy, "plan": plan, "has_pair": has_judge_pair(project)}
    context["may_enter"] = context["has_pair"] or isinstance(form, CertifiedRoutingForm)
    return render_judges(request, project, template, context, status=status)


def _store(request: Request, project: Project, form: AnyForm, policy: RoutingPolicy | None) -> HttpResponse:
    if policy:
        update_policy(policy=policy, to=form.spec())
    else:
        policy = make_policy(project=project, spec=form.spec(), by=request_user(request))
    messages.success(request, gettext("{value} is saved.").format(value=form.cleaned_data["name"]))
    return redirect("routing_policy", project.slug, policy.pk)


def _plan_of(project: Project, form: AnyForm, policy: RoutingPolicy | None) -> RoutingPlan:
    draft = draft_policy(project, form.spec())
    if policy:
        draft.pk, draft.seed = policy.pk, policy.seed
    return routing_plan(draft, project, preview=True)
