"""Pages of a project's endpoints and judges."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import FormOutcome, MessageOutcome, Request, query_of, request_user
from annotate.core.password_again import give_password_again, password_again, password_is_due
from annotate.results.figures import show_figures
from annotate.results.registry import UnknownChoiceError, result_of
from judges.core.access import endpoint_in, judge_in, may_change_judges, model_price_in, project_for_judges
from judges.core.models import Endpoint, Judge, Judgment, Panel
from judges.core.page import render_judges
from judges.core.specification import JudgeSpec
from judges.endpoints.archiving import Archived, archive, delete_unused, kind_of_archived, unarchive
from judges.endpoints.commands import (
    add_endpoint,
    add_judge,
    add_judges,
    find_models,
    remove_key,
    remove_model_price,
    set_model_price,
    try_endpoint,
    update_endpoint,
    update_judge,
)
from judges.endpoints.forms.endpoints import EndpointForm, ModelPriceForm, TrialForm, initial_endpoint
from judges.endpoints.forms.judges import JudgeForm, initial_judge
from judges.endpoints.prices import model_prices_of
from judges.endpoints.queries import (
    endpoints_of,
    entered_key_of,
    judges_of,
    judgments_by_status,
    method_label,
    shipped_prompts_of,
    usual_trial,
)
from judges.methods import METHODS


def archive_or_restore(request: Request, kept: Archived) -> HttpResponse:
    """Archive an object, or unarchive it if it is archived, and redirect to its page."""
    by = request_user(request)
    with MessageOutcome(request):
        if kept.archived_at is None:
            archive(kept=kept, by=by)
            said = gettext("{name} is archived. Its data stays.")
        else:
            unarchive(kept=kept, by=by)
            said = gettext("{name} is offered again.")
        messages.success(request, said.format(name=kept.name))
    return redirect(kind_of_archived(kept), kept.project.slug, kept.pk)


def delete_and_show_list(request: Request, unused: Archived) -> HttpResponse:
    """Delete an unused object and redirect to the list, or report the object that refers to it."""
    # Read before the deletion, which clears the object's id.
    kind, slug, pk = kind_of_archived(unused), unused.project.slug, unused.pk
    with MessageOutcome(request):
        delete_unused(unused=unused, by=request_user(request))
        messages.success(request, gettext("{name} is deleted.").format(name=unused.name))
        return redirect(f"{kind}s", slug)
    return redirect(kind, slug, pk)


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


# An error report must contain neither the key nor the password.
@sensitive_post_parameters("key", "password")
@login_required
@require_http_methods(["GET", "POST"])
def endpoint_new(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    return _edit_endpoint(request, project, None, partial(add_endpoint, project=project))


@sensitive_post_parameters("key", "password")
@login_required
@require_http_methods(["GET", "POST"])
def endpoint(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    edited = endpoint_in(project, pk)
    return _edit_endpoint(request, project, edited, partial(update_endpoint, endpoint=edited))


@login_required
@require_POST
def endpoint_test(request: Request, slug: str, pk: int) -> HttpResponse:
    """Make one call and show the result, or list the server's models."""
    project = project_for_admin(request.user, slug)
    tried = endpoint_in(project, pk)
    lists_models = "list" in request.POST
    # The list of models needs no message, so the entered values stay without a check.
    form = TrialForm(initial=request.POST.dict()) if lists_models else TrialForm(request.POST)
    context: dict[str, Any] = {"trial_form": form, "endpoint": tried}
    if lists_models:
        context["models"], context["models_problem"] = find_models(endpoint=tried)
    elif form.is_valid():
        context["trial"] = try_endpoint(endpoint=tried, **form.cleaned_data)
    context = {**_context(request, tried), **context}
    template = "judges/endpoints/endpoint.html#trial" if request.htmx else "judges/endpoints/endpoint.html"
    return render_judges(request, project, template, context, status=422 if form.errors else 200)


@login_required
@require_POST
def endpoint_archive(request: Request, slug: str, pk: int) -> HttpResponse:
    return archive_or_restore(request, endpoint_in(project_for_admin(request.user, slug), pk))


@login_required
@require_POST
def endpoint_delete(request: Request, slug: str, pk: int) -> HttpResponse:
    return delete_and_show_list(request, endpoint_in(project_for_admin(request.user, slug), pk))


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
        "form": EndpointForm(initial=initial_endpoint(shown), password_is_due=password_is_due(request)),
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
def _edit_endpoint(
    request: Request, project: Project, edited: Endpoint | None, save: Callable[..., Endpoint]
) -> HttpResponse:
    entered = request.POST if request.method == "POST" else None
    form = EndpointForm(entered, initial=initial_endpoint(edited), password_is_due=password_is_due(request))
    with FormOutcome(request, form) as outcome:
        if form.is_valid() and _password_given(request, form):
            key, by = form.cleaned_data["key"], request_user(request)
            saved = save(spec=form.to_spec(), key=key, by=by)
            messages.success(
                request, gettext("{name} is saved. Test it before you use it.").format(name=saved.name)
            )
            return redirect("endpoint", project.slug, saved.pk)
    context = {**(_context(request, edited) if edited else {}), "form": form, "endpoint": edited}
    return render_judges(request, project, "judges/endpoints/endpoint.html", context, status=outcome.status)


@sensitive_variables()
def _password_given(request: Request, form: EndpointForm) -> bool:
    # Asked for on the form itself: a page in between would have to keep the key in the session.
    problem = give_password_again(request, form.cleaned_data["password"]) if form.needs_password else ""
    if problem:
        form.refuse_password(problem)
    return not problem


SELF_CONSISTENCY = "self-consistency"
"""The result that the page of a judge shows as a part."""


@login_required
@require_GET
def judges(request: Request, slug: str) -> HttpResponse:
    """List the judges, and the missing requirements for a first one."""
    project = project_for_judges(request.user, slug)
    archived = "archived" in request.GET
    context = {
        "judges": judges_of(project, archived=archived),
        "has_endpoints": endpoints_of(project).exists(),
        "archived": archived,
        "archived_count": Judge.objects.filter(project=project, archived_at__isnull=False).count(),
    }
    return render_judges(request, project, "judges/endpoints/judges.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def judge_new(request: Request, slug: str) -> HttpResponse:
    """Create a judge; `?like=` selects a shipped prompt, and the form starts with the settings of its
    source.
    """
    project = project_for_admin(request.user, slug)
    if not endpoints_of(project).exists():
        messages.error(request, gettext("Add an endpoint first: the server that answers for the model."))
        return redirect("endpoint_new", slug)
    by = request_user(request)
    return _edit_judge(request, project, None, lambda spec: add_judge(project=project, judge=spec, by=by))


@login_required
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def judge(request: Request, slug: str, pk: int) -> HttpResponse:
    # Researchers read the settings; only admins change them.
    reads = project_for_judges if request.method == "GET" else project_for_admin
    project = reads(request.user, slug)
    edited, by = judge_in(project, pk), request_user(request)
    if request.method == "GET" and request.GET.get("part") == SELF_CONSISTENCY:
        project_for_reader(request.user, slug)  # what people gave is a result
        return _show_self_consistency(request, project, edited)
    return _edit_judge(request, project, edited, lambda spec: update_judge(judge=edited, to=spec, by=by))


@login_required
@require_POST
def judge_archive(request: Request, slug: str, pk: int) -> HttpResponse:
    return archive_or_restore(request, judge_in(project_for_admin(request.user, slug), pk))


@login_required
@require_POST
def judge_delete(request: Request, slug: str, pk: int) -> HttpResponse:
    return delete_and_show_list(request, judge_in(project_for_admin(request.user, slug), pk))


def _show_self_consistency(request: Request, project: Project, judge: Judge) -> HttpResponse:
    # The page fixes the judge, whatever the query string has.
    asked = {**request.GET.dict(), "judge": str(judge.pk)}
    context = {"judge": judge, "fixed": "judge"}
    try:
        result = result_of(project, SELF_CONSISTENCY, asked)
        computes = reverse("results_page", args=[project.slug, SELF_CONSISTENCY])
        context |= {"page": result.page, "again": f"{computes}?{result.query}"}
        return show_figures(request, project, result, "judges/endpoints/judge.html", context)
    except UnknownChoiceError as error:
        raise Http404(error.message) from error
    except DomainError as error:
        context |= {"problem": error.message}
        return render_judges(request, project, "judges/endpoints/judge.html", context)


def _edit_judge(
    request: Request, project: Project, edited: Judge | None, save: Callable[[JudgeSpec], Judge]
) -> HttpResponse:
    counts = judgments_by_status(edited) if edited else []
    dimensions = list(project.dimensions.all())
    endpoint = None if edited else endpoints_of(project).first()
    form = JudgeForm(
        request.POST if request.method == "POST" else None,
        project=project,
        is_new=edited is None,
        # A judge with judgments cannot change, so its form is for reading only.
        reads=bool(counts) or not may_change_judges(request.user, project),
        may_be_pair=edited is None,
        initial=initial_judge(edited, dimensions, shipped=request.GET.get("like", ""), endpoint=endpoint),
    )
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            if pair := form.to_pair():
                made = add_judges(project=project, judges=pair, by=request_user(request))
                # Redirect to the plan of a run of these judges, which shows the cost before the run
                # starts.
                names = gettext(" and ").join(judge.name for judge in made)
                said = gettext("{names} are saved. Check the cost, then start their run.")
                messages.success(request, said.format(names=names))
                chosen = query_of({"judges": [judge.pk for judge in made]})
                return redirect(f"{reverse('run_plan', args=[project.slug])}?{chosen}")
            messages.success(request, gettext("{name} is saved.").format(name=save(form.to_spec()).name))
            return redirect("judges", project.slug)
    context: dict[str, Any] = {"form": form, "judge": edited, "counts": counts}
    rates_items = edited is not None and not (edited.asks_pairs or edited.asks_kinds)
    context |= {"has_samples": rates_items and str(Judgment.Status.DONE.label) in dict(counts)}
    context |= {"method": edited and method_label(edited)}
    context |= {"panel": Panel.objects.filter(judge=edited).first() if edited else None}
    with_settings = (key for key, method in METHODS.items() if method.usual_settings)
    context |= {"like": [prompt for key in with_settings for prompt in shipped_prompts_of(key)]}
    return render_judges(request, project, "judges/endpoints/judge.html", context, status=outcome.status)
