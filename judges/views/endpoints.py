"""A project's endpoints: listed, added, changed, tried."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.access import project_for_admin
from annotate.errors import DomainError
from annotate.models import Project
from annotate.views.page import Request
from judges.access import endpoint_in, project_for_judges
from judges.commands.endpoints import add_endpoint, try_endpoint, update_endpoint
from judges.forms.endpoints import EndpointForm, TrialForm, initial_of
from judges.models import Endpoint
from judges.queries.endpoints import endpoints_of, usual_trial
from judges.specification import EndpointSpec
from judges.views.page import add_refusal, render_judges


@login_required
@require_GET
def endpoints(request: Request, slug: str) -> HttpResponse:
    """List the servers that the project's judges ask."""
    project = project_for_judges(request.user, slug)
    return render_judges(request, project, "judges/endpoints.html", {"endpoints": endpoints_of(project)})


@login_required
@require_http_methods(["GET", "POST"])
def endpoint_new(request: Request, slug: str) -> HttpResponse:
    """Add an endpoint."""
    project = project_for_admin(request.user, slug)
    return _edit(request, project, None, lambda spec: add_endpoint(project=project, endpoint=spec))


@login_required
@require_http_methods(["GET", "POST"])
def endpoint(request: Request, slug: str, pk: int) -> HttpResponse:
    """Change an endpoint."""
    project = project_for_admin(request.user, slug)
    edited = endpoint_in(project, pk)
    return _edit(request, project, edited, lambda spec: update_endpoint(endpoint=edited, to=spec))


@login_required
@require_POST
def endpoint_test(request: Request, slug: str, pk: int) -> HttpResponse:
    """Make one call and show what came of it."""
    project = project_for_admin(request.user, slug)
    tried = endpoint_in(project, pk)
    form = TrialForm(request.POST)
    context: dict[str, Any] = {"trial_form": form, "endpoint": tried}
    if form.is_valid():
        context["trial"] = try_endpoint(endpoint=tried, **form.cleaned_data)
    context["form"] = EndpointForm(initial=initial_of(tried))
    template = "judges/endpoint.html#trial" if request.htmx else "judges/endpoint.html"
    return render_judges(request, project, template, context, status=422 if form.errors else 200)


def _edit(
    request: Request, project: Project, edited: Endpoint | None, save: Callable[[EndpointSpec], Endpoint]
) -> HttpResponse:
    form = EndpointForm(request.POST if request.method == "POST" else None, initial=initial_of(edited))
    status = 422 if form.is_bound else 200
    try:
        if form.is_valid():
            saved = save(form.to_spec())
            messages.success(
                request, gettext("{name} is saved. Test it before you use it.").format(name=saved.name)
            )
            return redirect("endpoint", project.slug, saved.pk)
    except DomainError as error:
        status = add_refusal(form, error)
    trial_form = TrialForm(initial=usual_trial(edited)) if edited else None
    context = {"form": form, "endpoint": edited, "trial_form": trial_form}
    return render_judges(request, project, "judges/endpoint.html", context, status=status)
