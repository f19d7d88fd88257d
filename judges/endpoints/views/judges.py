from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.page import Request, query_of, request_user
from annotate.results.figures import show_figures
from annotate.results.registry import UnknownChoiceError, result_of
from judges.core.access import judge_in, may_change_judges, project_for_judges
from judges.core.models import Judge, Judgment, Panel
from judges.core.page import add_refusal, render_judges
from judges.core.specification import JudgeSpec
from judges.endpoints.commands import add_judge, add_judges, update_judge
from judges.endpoints.forms.judges import JudgeForm, initial_of
from judges.endpoints.queries import endpoints_of, judges_of, judgments_by_status, method_label, templates_of
from judges.endpoints.shipped import shipped_prompts_of
from judges.endpoints.views.archiving import archive_or_restore, delete_and_lead_to
from judges.methods import METHODS

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
    return _edit(request, project, None, lambda spec: add_judge(project=project, judge=spec, by=by))


@login_required
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def judge(request: Request, slug: str, pk: int) -> HttpResponse:
    reads = project_for_judges if request.method == "GET" else project_for_admin
    project = reads(request.user, slug)
    edited, by = judge_in(project, pk), request_user(request)
    if request.method == "GET" and request.GET.get("part") == SELF_CONSISTENCY:
        project_for_reader(request.user, slug)  # what people gave is a result
        return _show_self_consistency(request, project, edited)
    return _edit(request, project, edited, lambda spec: update_judge(judge=edited, to=spec, by=by))


@login_required
@require_POST
def judge_archive(request: Request, slug: str, pk: int) -> HttpResponse:
    kept = judge_in(project_for_admin(request.user, slug), pk)
    return archive_or_restore(request, kept, to=("judge", slug, pk))


@login_required
@require_POST
def judge_delete(request: Request, slug: str, pk: int) -> HttpResponse:
    unused = judge_in(project_for_admin(request.user, slug), pk)
    return delete_and_lead_to(request, unused, to=("judges", slug), back=("judge", slug, pk))


def _show_self_consistency(request: Request, project: Project, judge: Judge) -> HttpResponse:
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


def _edit(
    request: Request, project: Project, edited: Judge | None, save: Callable[[JudgeSpec], Judge]
) -> HttpResponse:
    counts = judgments_by_status(edited) if edited else []
    dimensions = list(project.dimensions.all())
    endpoints = endpoints_of(project, archived=None if edited else False)
    form = JudgeForm(
        request.POST if request.method == "POST" else None,
        endpoints=endpoints,
        templates=templates_of(project),
        dimensions=dimensions,
        systems=list(project.systems.order_by("name")),
        reads=bool(counts) or not may_change_judges(request.user, project),
        may_be_pair=edited is None,
        initial=initial_of(
            edited, dimensions, shipped=request.GET.get("like", ""), endpoint=endpoints.first()
        ),
    )
    status = 422 if form.is_bound else 200
    try:
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
    except DomainError as error:
        status = add_refusal(form, error)
    context: dict[str, Any] = {"form": form, "judge": edited, "counts": counts}
    rates_items = edited is not None and not (edited.asks_pairs or edited.asks_kinds)
    context |= {"has_samples": rates_items and str(Judgment.Status.DONE.label) in dict(counts)}
    context |= {"method": edited and method_label(edited)}
    context |= {"panel": Panel.objects.filter(judge=edited).first() if edited else None}
    with_settings = (key for key, method in METHODS.items() if method.usual_settings)
    context |= {"like": [prompt for key in with_settings for prompt in shipped_prompts_of(key)]}
    return render_judges(request, project, "judges/endpoints/judge.html", context, status=status)
