from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import project_for_reader
from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import Request, add_refusal, request_user
from annotate.results.figures import load_figures
from annotate.results.latex import table_file
from judges.core.access import calibration_in, may_change_judges, policy_in, project_for_routing
from judges.core.models import RoutingPolicy
from judges.core.page import render_judges
from judges.core.specification import PolicySpec, policy_from_certificates
from judges.results.queries.pairings import measured_judges
from judges.routing.commands.certificates import (
    ask_waiting_judges,
    compute_certificates,
    draw_calibration,
    withdraw_calibration,
)
from judges.routing.commands.policies import (
    draft_policy,
    fit_budget,
    follow_proposal,
    make_policy,
    route,
    update_policy,
    withdraw_policy,
)
from judges.routing.forms import (
    CalibrationForm,
    CertifiedRoutingForm,
    policy_form,
    usual_calibration,
    usual_policy_name,
)
from judges.routing.queries.calibration_plans import draw_plan
from judges.routing.queries.calibration_state import (
    asking_of,
    calibration_state,
    calibrations_of,
    certificates_tables,
)
from judges.routing.queries.preview import RoutingPlan, proposal_of, routing_plan, verdicts_of_policies
from judges.routing.queries.route_by_reliability import IndicatorsNotKeptError
from judges.routing.queries.state import has_judge_pair, routing_state
from judges.routing.queries.verdicts import curve_of_advice

# Calibrations: list, plan during input, sample, compute; and the meaning of their certificates.

NO_JUDGE = gettext_lazy("No judge that gives scores has judgments yet; plan a run, or import judgments.")


@login_required
@require_GET
def certificates(request: Request, slug: str) -> HttpResponse:
    project = project_for_reader(request.user, slug)
    context = {"calibrations": calibrations_of(project), "has_judge": bool(measured_judges(project))}
    return render_judges(request, project, "judges/routing/certificates.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def certificate_new(request: Request, slug: str) -> HttpResponse:
    """Preview the sample of a calibration during input; a POST with the digest `shown` creates it."""
    project = project_for_routing(request.user, slug)
    judges = measured_judges(project)
    if not judges:
        return render_judges(
            request, project, "judges/routing/certificate_form.html", {"problem": str(NO_JUDGE)}
        )
    initial = usual_calibration(project, judges)
    entered = request.POST if request.method == "POST" else None
    form = CalibrationForm(entered, project=project, judges=judges, initial=initial)
    plan, status = None, 200
    if form.is_bound and form.is_valid():
        try:
            if "shown" in request.POST:
                calibration = draw_calibration(
                    project=project, spec=form.spec(), by=request_user(request), shown=request.POST["shown"]
                )
                messages.success(
                    request, gettext("The sample of {calibration} is ready.").format(calibration=calibration)
                )
                return redirect("certificate", slug, calibration.pk)
            plan = draw_plan(project, form.spec())
        except DomainError as error:
            status = add_refusal(form, error)
    return _render_form(request, project, "certificate_form", {"form": form, "plan": plan}, status)


@login_required
@require_GET
def certificate(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a calibration: the progress of its sample, then its certificates and the changes since."""
    project = project_for_reader(request.user, slug)
    state = calibration_state(calibration_in(project, pk))
    context = {
        "state": state,
        "tables": certificates_tables(state),
        "asking": asking_of(project, state.to_ask),
        "ask_url": reverse("certificate_step", args=[slug, pk, "ask"]),
    }
    return render_judges(request, project, "judges/routing/certificate.html", context)


@login_required
@require_GET
def certificate_table(request: Request, slug: str, pk: int, key: str, format: str) -> HttpResponse:
    project = project_for_reader(request.user, slug)
    tables = certificates_tables(calibration_state(calibration_in(project, pk)))
    name = f"{project.slug}-certificates-{pk}-{key}"
    return table_file(project, tables, key, name, format, request.GET)


@login_required
@require_POST
def certificate_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Run later judges, compute, withdraw the sample, or create a draft of a policy that follows it."""
    project = project_for_routing(request.user, slug)
    calibration, by = calibration_in(project, pk), request_user(request)
    try:
        if step == "ask":
            waiting = calibration_state(calibration).to_ask
            run = ask_waiting_judges(project=project, waiting=waiting, by=by)
            return redirect("run", slug, run.pk)
        if step == "compute":
            compute_certificates(calibration=calibration, by=by)
        elif step == "withdraw":
            withdraw_calibration(calibration=calibration, by=by)
        elif step == "route":
            name = usual_policy_name(project)
            spec = policy_from_certificates(calibration, name=name, raters=calibration.raters)
            return redirect("routing_policy", slug, make_policy(project=project, spec=spec, by=by).pk)
        else:
            raise Http404(gettext("There is no such step."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("certificate", slug, pk)


# Routing units to people: policies listed, made, looked at while r moves, followed, withdrawn.

DRAFT = RoutingPolicy.Status.DRAFT


@login_required
@require_GET
def routing(request: Request, slug: str) -> HttpResponse:
    project = project_for_reader(request.user, slug)
    context = {"policies": verdicts_of_policies(project), "has_pair": has_judge_pair(project)}
    return render_judges(request, project, "judges/routing/policies.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def routing_new(request: Request, slug: str) -> HttpResponse:
    """Preview a new policy during input; a POST creates it, except with `show`."""
    return _edit_policy(request, project_for_routing(request.user, slug), None)


@login_required
@require_http_methods(["GET", "POST"])
def routing_policy(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a policy: a draft with its effect, a routed one with its progress."""
    acting = request.method == "POST"
    project = project_for_routing(request.user, slug) if acting else project_for_reader(request.user, slug)
    policy = policy_in(project, pk)
    # A researcher sees the effect of a draft without its form.
    if policy.status == DRAFT and may_change_judges(request.user, project):
        return _edit_policy(request, project, policy)
    context = _effect_context(project, policy, lambda _preview: policy)
    plan: RoutingPlan | None = context["plan"]
    state = routing_state(policy, project)
    context |= {
        "policy": policy,
        "state": state,
        "verdict": state.verdict if state else plan and plan.verdict,
    }
    # A closed round takes no more assignments, so there is nothing to propose.
    if plan and state and plan.round and plan.round.is_open and not plan.refusal:
        context["proposal"] = proposal_of(policy, plan, state.verdict)
    return render_judges(request, project, "judges/routing/policy.html", context)


@login_required
@require_POST
def routing_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Run the next judges, route a draft as the page shows it, follow a proposal, or withdraw."""
    project = project_for_routing(request.user, slug)
    policy, by, shown = policy_in(project, pk), request_user(request), request.POST.get("shown", "")
    try:
        if step == "ask":
            waiting = routing_plan(policy, project).decided.to_ask
            return redirect("run", slug, ask_waiting_judges(project=project, waiting=waiting, by=by).pk)
        if step == "route":
            form = policy_form(project, policy, request.POST)
            # The page sends its settings along, because the digest is about the plan of these.
            if policy.status == DRAFT and form.is_valid():
                budget = form.cleaned_data.get("budget")
                spec = fit_budget(project, form.spec(), budget, policy=policy)
                policy = update_policy(policy=policy, to=spec)
            route(policy=policy, by=by, shown=shown)
        elif step == "follow":
            follow_proposal(policy=policy, by=by, shown=shown)
        elif step == "withdraw":
            withdraw_policy(policy=policy, by=by)
        else:
            raise Http404(gettext("There is no such step."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("routing_policy", slug, pk)


def _edit_policy(request: Request, project: Project, policy: RoutingPolicy | None) -> HttpResponse:
    """Show a new policy (None) or a draft with its effect; a POST stores it, except with `show`."""
    entered = request.POST if request.method == "POST" else None
    form, status = policy_form(project, policy, entered), 200
    context: dict[str, Any] = {"plan": None}

    def spec(preview: bool = False) -> PolicySpec:
        budget = form.cleaned_data.get("budget")
        return fit_budget(project, form.spec(), budget, policy=policy, preview=preview)

    # A stored draft has its effect as it is; input is previewed, or stored without `show`.
    if policy and not form.is_bound:
        context = _effect_context(project, policy, lambda _preview: policy)
    elif form.is_valid():
        try:
            if "show" not in request.POST:
                stored = (
                    update_policy(policy=policy, to=spec())
                    if policy
                    else make_policy(project=project, spec=spec(), by=request_user(request))
                )
                saved = gettext("{value} is saved.").format(value=form.cleaned_data["name"])
                messages.success(request, saved)
                return redirect("routing_policy", project.slug, stored.pk)
            context = _effect_context(
                project, policy, lambda preview: draft_policy(project, spec(preview), policy=policy)
            )
        except DomainError as error:
            status = add_refusal(form, error)
    plan, has_pair = context["plan"], has_judge_pair(project)
    context |= {"form": form, "policy": policy, "has_pair": has_pair}
    context["may_enter"] = has_pair or isinstance(form, CertifiedRoutingForm)
    context["curve"] = curve_of_advice(plan.policy, plan.advice) if plan else None
    return _render_form(request, project, "policy_form", context, status)


def _effect_context(
    project: Project, policy: RoutingPolicy | None, policy_as: Callable[[bool], RoutingPolicy]
) -> dict[str, Any]:
    """Return the plan of a policy; if a worker must compute R of many units first, its page as `computing`.

    policy: the stored one, whose judges can be run. policy_as: returns the policy to show, in a preview from
    remembered values; raises IndicatorsNotKeptError there.
    """
    try:
        plan = routing_plan(policy_as(True), project, preview=True)
    except IndicatorsNotKeptError as error:
        kept = load_figures(project, error.result)
        if not kept.is_current:
            return {"plan": None, "computing": kept}
        # The stored page is current, so no worker would compute it again: R is computed here.
        plan = routing_plan(policy_as(False), project)
    if policy is None:
        return {"plan": plan}
    ask_url = reverse("routing_step", args=[project.slug, policy.pk, "ask"])
    return {"plan": plan, "asking": asking_of(project, plan.decided.to_ask), "ask_url": ask_url}


def _render_form(
    request: Request, project: Project, name: str, context: dict[str, Any], status: int
) -> HttpResponse:
    """Render a form with the plan of its input, as a page or for htmx the plan alone."""
    # An error of a command already has a status.
    status = 422 if context["form"].errors and status == 200 else status
    template = f"judges/routing/{name}.html{'#preview' if request.htmx else ''}"
    return render_judges(request, project, template, context, status=status)
