"""Pages of a project's endpoints."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import project_for_admin
from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import Request, request_user
from annotate.core.password_again import give_password_again, password_again, password_is_due
from judges.core.access import endpoint_in, model_price_in, project_for_judges
from judges.core.models import Endpoint
from judges.core.page import add_refusal, render_judges
from judges.endpoints.commands import (
    add_endpoint,
    find_models,
    remove_key,
    remove_model_price,
    set_model_price,
    try_endpoint,
    update_endpoint,
)
from judges.endpoints.forms.endpoints import EndpointForm, ModelPriceForm, TrialForm, initial_of
from judges.endpoints.prices import model_prices_of
from judges.endpoints.queries import endpoints_of, entered_key_of, usual_trial
from judges.endpoints.views.archiving import archive_or_restore, delete_and_lead_to


@login_required
@require_GET
def endpoints(request: Request, slug: str) -> HttpResponse:
    project = project_for_judges(request.user, slug)
    archived = "archived" in request.GET
    context = {
        "endpoints": endpoints_of(project, archived=archived),
        "archived": archived,
        "archived_count": endpoints_of(project, archived=True).count(),
    }
    return render_judges(request, project, "judges/endpoints/endpoints.html", context)


@sensitive_post_parameters("key", "password")
@login_required
@require_http_methods(["GET", "POST"])
def endpoint_new(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    return _edit(request, project, None, partial(add_endpoint, project=project))


@sensitive_post_parameters("key", "password")
@login_required
@require_http_methods(["GET", "POST"])
def endpoint(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    edited = endpoint_in(project, pk)
    return _edit(request, project, edited, partial(update_endpoint, endpoint=edited))


@login_required
@require_POST
def endpoint_test(request: Request, slug: str, pk: int) -> HttpResponse:
    """Make one call and show the result, or list the server's models."""
    project = project_for_admin(request.user, slug)
    tried = endpoint_in(project, pk)
    lists_models = "list" in request.POST
    form = TrialForm(initial=request.POST.dict()) if lists_models else TrialForm(request.POST)
    context: dict[str, Any] = {"trial_form": form, "endpoint": tried}
    if lists_models:
        context["found"] = find_models(endpoint=tried)
    elif form.is_valid():
        context["trial"] = try_endpoint(endpoint=tried, **form.cleaned_data)
    context = {**_context(request, tried), **context}
    template = "judges/endpoints/endpoint.html#trial" if request.htmx else "judges/endpoints/endpoint.html"
    return render_judges(request, project, template, context, status=422 if form.errors else 200)


@login_required
@require_POST
def endpoint_archive(request: Request, slug: str, pk: int) -> HttpResponse:
    kept = endpoint_in(project_for_admin(request.user, slug), pk)
    return archive_or_restore(request, kept, to=("endpoint", slug, pk))


@login_required
@require_POST
def endpoint_delete(request: Request, slug: str, pk: int) -> HttpResponse:
    unused = endpoint_in(project_for_admin(request.user, slug), pk)
    return delete_and_lead_to(request, unused, to=("endpoints", slug), back=("endpoint", slug, pk))


@login_required
@require_POST
def endpoint_price(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    priced = endpoint_in(project, pk)
    form = ModelPriceForm(request.POST)
    if form.is_valid():
        spec = form.to_spec()
        set_model_price(endpoint=priced, spec=spec)
        messages.success(request, gettext("The prices of {model} are saved.").format(model=spec.model))
        return redirect(f"{reverse('endpoint', args=[slug, pk])}#prices")
    context = {**_context(request, priced), "price_form": form, "endpoint": priced}
    return render_judges(request, project, "judges/endpoints/endpoint.html", context, status=422)


@login_required
@require_POST
def endpoint_price_remove(request: Request, slug: str, pk: int, price: int) -> HttpResponse:
    remove_model_price(price=model_price_in(project_for_admin(request.user, slug), pk, price))
    messages.success(request, gettext("The prices are removed."))
    return redirect(f"{reverse('endpoint', args=[slug, pk])}#prices")


def _context(request: Request, shown: Endpoint) -> dict[str, Any]:
    """Return the context of an endpoint's page, except for the submitted form."""
    return {
        "form": EndpointForm(initial=initial_of(shown), password_is_due=password_is_due(request)),
        "trial_form": TrialForm(initial=usual_trial(shown)),
        "entered": entered_key_of(shown),
        "prices": model_prices_of(shown),
        "price_form": ModelPriceForm(),
    }


@login_required
@require_POST
def endpoint_key_remove(request: Request, slug: str, pk: int) -> HttpResponse:
    # Check access first: users without access to the endpoint must not get the password prompt.
    return _remove_key(request, endpoint_in(project_for_admin(request.user, slug), pk))


@password_again
def _remove_key(request: Request, keyed: Endpoint) -> HttpResponse:
    remove_key(endpoint=keyed, by=request_user(request))
    messages.success(
        request, gettext("The key is removed. Revoke it at the provider too if it may be known.")
    )
    return redirect("endpoint", keyed.project.slug, keyed.pk)


@sensitive_variables()
def _edit(
    request: Request, project: Project, edited: Endpoint | None, save: Callable[..., Endpoint]
) -> HttpResponse:
    entered = request.POST if request.method == "POST" else None
    form = EndpointForm(entered, initial=initial_of(edited), password_is_due=password_is_due(request))
    status = 422 if form.is_bound else 200
    try:
        if form.is_valid() and _password_given(request, form):
            key, by = form.cleaned_data["key"], request_user(request)
            saved = save(spec=form.to_spec(), key=key, by=by)
            messages.success(
                request, gettext("{name} is saved. Test it before you use it.").format(name=saved.name)
            )
            return redirect("endpoint", project.slug, saved.pk)
    except DomainError as error:
        status = add_refusal(form, error)
    context = {**(_context(request, edited) if edited else {}), "form": form, "endpoint": edited}
    return render_judges(request, project, "judges/endpoints/endpoint.html", context, status=status)


@sensitive_variables()
def _password_given(request: Request, form: EndpointForm) -> bool:
    # Asked for on the form itself: a page in between would have to keep the key in the session.
    problem = give_password_again(request, form.cleaned_data["password"]) if form.needs_password else ""
    if problem:
        form.refuse_password(problem)
    return not problem
