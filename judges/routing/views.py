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
from annotate.core.page import Request, request_user
from annotate.results.figures import load_figures
from annotate.results.latex import table_file
from annotate.results.queries.kept import KeptPage
from judges.core.access import calibration_in, may_change_judges, policy_in, project_for_routing
from judges.core.models import Calibration, RoutingPolicy
from judges.core.page import add_refusal, render_judges
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
    RoutingForm,
    form_of,
    unused_name,
    usual_calibration,
    usual_values,
)
from judges.routing.queries.calibration_plans import draw_plan
from judges.routing.queries.calibration_state import (
    asking_of,
    calibration_state,
    calibrations_of,
    certificates_tables,
)
from judges.routing.queries.preview import RoutingPlan, policy_lines, proposal_of, routing_plan
from judges.routing.queries.route_by_reliability import IndicatorsNotKeptError
from judges.routing.queries.state import has_judge_pair, policies_of, routing_state
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
    number = Calibration.objects.filter(project=project).count() + 1
    initial = usual_calibration(project, judges, number)
    form = CalibrationForm(_post_data(request), project=project, judges=judges, initial=initial)
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
            name = unused_name([policy.name for policy in policies_of(project)])
            spec = policy_from_certificates(calibration, name=name, raters=calibration.raters)
            return redirect("routing_policy", slug, make_policy(project=project, spec=spec, by=by).pk)
        else:
            raise Http404(gettext("There is no such step."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("certificate", slug, pk)


# Routing units to people: policies listed, made, looked at while r moves, followed, withdrawn.

AnyForm = RoutingForm | CertifiedRoutingForm
DRAFT = RoutingPolicy.Status.DRAFT


@login_required
@require_GET
def routing(request: Request, slug: str) -> HttpResponse:
    project = project_for_reader(request.user, slug)
    context = {"lines": policy_lines(project), "has_pair": has_judge_pair(project)}
    return render_judges(request, project, "judges/routing/policies.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def routing_new(request: Request, slug: str) -> HttpResponse:
    """Preview a new policy during input; a POST creates it, except with `show`."""
    project = project_for_routing(request.user, slug)
    names = [policy.name for policy in policies_of(project)]
    initial = usual_values(project, names)
    return _policies_enter(
        request, project, RoutingForm(_post_data(request), project=project, initial=initial), None
    )


@login_required
@require_http_methods(["GET", "POST"])
def routing_policy(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a policy: a draft with its effect, a routed one with its progress."""
    acting = request.method == "POST"
    project = project_for_routing(request.user, slug) if acting else project_for_reader(request.user, slug)
    policy = policy_in(project, pk)
    if policy.status == DRAFT and may_change_judges(request.user, project):
        return _policies_enter(request, project, form_of(policy, _post_data(request), project), policy)
    plan, computing = _plan_or_page(project, lambda _preview: policy)
    state = routing_state(policy, project)
    context: dict[str, Any] = {"policy": policy, "plan": plan, "state": state, "computing": computing}
    context |= _asking(project, policy, plan)
    context["verdict"] = state.verdict if state else plan and plan.verdict
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
            form = form_of(policy, request.POST, project)
            if policy.status == DRAFT and form.is_valid():
                policy = update_policy(policy=policy, to=_spec_of(project, form, policy))
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


def _asking(project: Project, policy: RoutingPolicy | None, plan: RoutingPlan | None) -> dict[str, Any]:
    if policy is None or plan is None:
        return {}
    ask_url = reverse("routing_step", args=[project.slug, policy.pk, "ask"])
    return {"asking": asking_of(project, plan.decided.to_ask), "ask_url": ask_url}


def _post_data(request: Request) -> Any:
    return request.POST if request.method == "POST" else None


def _policies_enter(
    request: Request, project: Project, form: AnyForm, policy: RoutingPolicy | None
) -> HttpResponse:
    """Show the form with the effect of its policy; store it except for a preview."""
    plan, computing, status = None, None, 200

    def draft(preview: bool) -> RoutingPolicy:
        return draft_policy(project, _spec_of(project, form, policy, preview=preview), policy=policy)

    if policy and not form.is_bound:
        plan, computing = _plan_or_page(project, lambda _preview: policy)
    elif form.is_bound and form.is_valid():
        try:
            if "show" not in request.POST:
                spec = _spec_of(project, form, policy)
                stored = (
                    update_policy(policy=policy, to=spec)
                    if policy
                    else make_policy(project=project, spec=spec, by=request_user(request))
                )
                saved = gettext("{value} is saved.").format(value=form.cleaned_data["name"])
                messages.success(request, saved)
                return redirect("routing_policy", project.slug, stored.pk)
            plan, computing = _plan_or_page(project, draft)
        except DomainError as error:
            status = add_refusal(form, error)
    context: dict[str, Any] = {"form": form, "policy": policy, "plan": plan, "computing": computing}
    context["curve"] = curve_of_advice(plan.policy, plan.advice) if plan else None
    context["has_pair"] = has_judge_pair(project)
    context["may_enter"] = context["has_pair"] or isinstance(form, CertifiedRoutingForm)
    context |= _asking(project, policy, plan)
    return _render_form(request, project, "policy_form", context, status)


def _render_form(
    request: Request, project: Project, name: str, context: dict[str, Any], status: int
) -> HttpResponse:
    """Render a form with the plan of its input, as a page or for htmx the plan alone."""
    status = 422 if context["form"].errors and status == 200 else status
    template = f"judges/routing/{name}.html{'#preview' if request.htmx else ''}"
    return render_judges(request, project, template, context, status=status)


def _spec_of(
    project: Project, form: AnyForm, policy: RoutingPolicy | None, *, preview: bool = False
) -> PolicySpec:
    budget = form.cleaned_data.get("budget")
    return fit_budget(project, form.spec(), budget, policy=policy, preview=preview)


def _plan_or_page(
    project: Project, policy_as: Callable[[bool], RoutingPolicy]
) -> tuple[RoutingPlan | None, KeptPage | None]:
    """Return the effect of a policy; if a worker must compute R of many units first, return its page.

    policy_as: returns the policy, in a preview from remembered values; raises IndicatorsNotKeptError there.
    """
    try:
        return routing_plan(policy_as(True), project, preview=True), None
    except IndicatorsNotKeptError as error:
        kept = load_figures(project, error.result)
    if not kept.is_current:
        return None, kept
    return routing_plan(policy_as(False), project), None
