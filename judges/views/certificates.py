"""Calibrations: listed, planned while they are entered, drawn, computed; and what their certificates say."""

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
from annotate.views.table_files import table_file
from judges.access import calibration_in, project_for_routing
from judges.commands.certificates import compute_certificates, draw_calibration, withdraw_calibration
from judges.commands.routing import make_policy
from judges.forms.certificates import CalibrationForm, usual_calibration
from judges.forms.routing import unused_name
from judges.models import Calibration, Judge, RoutingPolicy
from judges.queries.calibration_plans import draw_plan
from judges.queries.certificates import calibration_state, calibrations_of
from judges.queries.pairings import measured_judges
from judges.queries.policies import policies_of
from judges.queries.results.certificates import certificates_tables
from judges.specification import by_certificates
from judges.views.page import add_refusal, render_judges

NO_JUDGE = "No judge that gives scores has judgments yet; plan a run, or import judgments."


@login_required
@require_GET
def certificates(request: Request, slug: str) -> HttpResponse:
    """List the calibrations with what they found."""
    project = project_for_reader(request.user, slug)
    context = {"calibrations": calibrations_of(project), "has_judge": bool(measured_judges(project))}
    return render_judges(request, project, "judges/certificates.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def certificate_new(request: Request, slug: str) -> HttpResponse:
    """Show what a calibration would draw while it is entered; a POST with what was `shown` draws it."""
    project = project_for_routing(request.user, slug)
    judges = measured_judges(project)
    if not judges:
        return render_judges(request, project, "judges/certificate_form.html", {"problem": NO_JUDGE})
    return _enter(request, project, judges)


@login_required
@require_GET
def certificate(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a calibration: how far its sample is, then its certificates and what has changed since."""
    project = project_for_reader(request.user, slug)
    state = calibration_state(calibration_in(project, pk))
    context = {"state": state, "tables": certificates_tables(state)}
    return render_judges(request, project, "judges/certificate.html", context)


@login_required
@require_GET
def certificate_table(request: Request, slug: str, pk: int, key: str, format: str) -> HttpResponse:
    """Give one table of a calibration as CSV, Markdown or LaTeX."""
    project = project_for_reader(request.user, slug)
    tables = certificates_tables(calibration_state(calibration_in(project, pk)))
    return table_file(tables, key, f"{project.slug}-certificates-{pk}-{key}", format)


@login_required
@require_POST
def certificate_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Compute the certificates, withdraw the sample, or make a draft of a policy that follows them."""
    project = project_for_routing(request.user, slug)
    calibration, by = calibration_in(project, pk), request_user(request)
    try:
        if step == "compute":
            compute_certificates(calibration=calibration, by=by)
        elif step == "withdraw":
            withdraw_calibration(calibration=calibration, by=by)
        elif step == "route":
            return redirect("routing_policy", slug, _policy(request, project, calibration).pk)
        else:
            raise Http404(gettext("There is no such step."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("certificate", slug, pk)


def _enter(request: Request, project: Project, judges: list[Judge]) -> HttpResponse:
    """Show the form beside its plan, as a page or for htmx the plan alone; draw what was shown."""
    number = Calibration.objects.filter(project=project).count() + 1
    entered: Any = request.POST if request.method == "POST" else None
    initial = usual_calibration(project, judges, number)
    form = CalibrationForm(entered, project=project, judges=judges, initial=initial)
    plan, status = None, 200
    if form.is_bound and form.is_valid():
        try:
            if "shown" in request.POST:
                return _draw(request, project, form)
            plan = draw_plan(project, form.spec())
        except DomainError as error:
            status = add_refusal(form, error)
    status = 422 if form.errors and status == 200 else status
    template = "judges/certificate_form.html#preview" if request.htmx else "judges/certificate_form.html"
    return render_judges(request, project, template, {"form": form, "plan": plan}, status=status)


def _policy(request: Request, project: Project, calibration: Calibration) -> RoutingPolicy:
    name = unused_name([policy.name for policy in policies_of(project)])
    spec = by_certificates(calibration, name=name, raters=calibration.raters)
    return make_policy(project=project, spec=spec, by=request_user(request))


def _draw(request: Request, project: Project, form: CalibrationForm) -> HttpResponse:
    calibration = draw_calibration(
        project=project, spec=form.spec(), by=request_user(request), shown=request.POST["shown"]
    )
    messages.success(request, gettext("{calibration} is drawn.").format(calibration=calibration))
    return redirect("certificate", project.slug, calibration.pk)
