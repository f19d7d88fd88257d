from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.errors import DomainError
from annotate.core.models import Dimension, Project
from annotate.core.page import FormOutcome, Request, add_refusal, query_of, request_user
from judges.core.access import (
    drafting_in,
    panel_in,
    project_for_judges,
    project_for_routing,
    proposal_in,
    search_in,
)
from judges.core.models import Drafting, Judge, Judgment, Panel, PromptSearch, Proposal
from judges.core.page import render_judges
from judges.laboratory.commands.draftings import discard_drafting, plan_drafting, start_drafting
from judges.laboratory.commands.experiments import plan_of_experiment, start_experiment
from judges.laboratory.commands.panels import change_panel, make_panel
from judges.laboratory.commands.proposals import (
    accept_proposal,
    dismiss_proposal,
    draw_parts,
    propose_examples,
    propose_text,
    send_to_raters,
    undo_draw,
)
from judges.laboratory.commands.searches import cancel_search, plan_search, start_search
from judges.laboratory.forms import (
    AcceptForm,
    AlignForm,
    ExperimentForm,
    PanelForm,
    PartsForm,
    ProposeForm,
    SearchForm,
    SendForm,
    StartForm,
    TextForm,
)
from judges.laboratory.queries.cases import (
    DEVELOPMENT_ITEMS,
    DocumentParts,
    Part,
    errors_of,
    parts_of,
    proposals_of,
    triable_proposals,
    units_of,
)
from judges.laboratory.queries.panels import members_of, refusal_of_change
from judges.laboratory.queries.searches import draftings_of, searches_of, state_of_drafting, state_of_search

UNITS_ON_A_PAGE = 6


@login_required
@require_GET
def alignment(request: Request, slug: str) -> HttpResponse:
    """Show a judge's errors, its proposals and its versions. Reasons are results."""
    return _render(request, project_for_reader(request.user, slug))


@login_required
@require_GET
def pilot(request: Request, slug: str) -> HttpResponse:
    """Redirect from the URL of a page that became a part of another."""
    project_for_reader(request.user, slug)
    query = request.GET.urlencode()
    return redirect(reverse("alignment", args=[slug]) + (f"?{query}" if query else ""))


@login_required
@require_POST
def alignment_draw(request: Request, slug: str) -> HttpResponse:
    project = project_for_routing(request.user, slug)
    if "undo" in request.POST:
        try:
            undo_draw(project=project, by=request_user(request))
        except DomainError as error:
            messages.error(request, error.message)
        return redirect("alignment", slug=slug)
    form = PartsForm(request.POST)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            draw_parts(project=project, **form.cleaned_data, by=request_user(request))
            return redirect("alignment", slug=slug)
    return _render(request, project, status=outcome.status, draw=form)


@login_required
@require_POST
def alignment_propose(request: Request, slug: str) -> HttpResponse:
    """Propose examples, or plan a drafting; the plan's page shows its cost and starts it."""
    project = project_for_routing(request.user, slug)
    form = ProposeForm(request.POST, project=project)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            if form.proposes_examples:
                proposal = propose_examples(**form.examples(), by=request_user(request))
                return redirect(_address(project, proposal.judge, proposal.dimension))
            drafting = plan_drafting(**form.drafting(), by=request_user(request))
            return redirect("alignment_drafting", slug, drafting.pk)
    return _render(request, project, status=outcome.status, propose=form)


@login_required
@require_POST
def alignment_write(request: Request, slug: str) -> HttpResponse:
    project = project_for_routing(request.user, slug)
    form = TextForm(request.POST, project=project)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            proposal = propose_text(**form.cleaned_data, by=request_user(request))
            return redirect(f"{_address(project, proposal.judge, proposal.dimension)}#proposal-{proposal.pk}")
    return _render(request, project, status=outcome.status, write=form)


@login_required
@require_http_methods(["GET", "POST"])
def alignment_drafting(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a drafting with its progress and cost; a POST starts or discards it."""
    # Readers see the progress; only admins who do not rate may act on it.
    access = project_for_reader if request.method == "GET" else project_for_routing
    drafting = drafting_in(access(request.user, slug), pk)
    form = StartForm(request.POST if request.method == "POST" else None)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            if "discard" in request.POST:
                discard_drafting(drafting=drafting, by=request_user(request))
                return redirect(_address(drafting.judge.project, drafting.judge, drafting.dimension))
            budget = form.cleaned_data["budget"]
            start_drafting(drafting=drafting, budget=budget, by=request_user(request))
            return redirect("alignment_drafting", slug, pk)
    context = {"state": state_of_drafting(drafting), "form": form}
    return _render_state(request, drafting.judge.project, "drafting", context, outcome.status)


@login_required
@require_POST
def alignment_search_new(request: Request, slug: str) -> HttpResponse:
    """Plan a search over proposals; its page shows the calls and the cost and starts it."""
    project = project_for_routing(request.user, slug)
    form = SearchForm(request.POST, project=project)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            search = plan_search(**form.values(), by=request_user(request))
            return redirect("alignment_search", slug, search.pk)
    return _render(request, project, status=outcome.status, search=form)


@login_required
@require_http_methods(["GET", "POST"])
def alignment_search(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a search, its candidates and its cost; a POST starts, resumes, or ends it."""
    access = project_for_reader if request.method == "GET" else project_for_routing
    search = search_in(access(request.user, slug), pk)
    form = StartForm(request.POST if request.method == "POST" else None)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            if "cancel" in request.POST:
                cancel_search(search=search, by=request_user(request))
            else:
                budget = form.cleaned_data["budget"]
                start_search(search=search, budget=budget, by=request_user(request))
            return redirect("alignment_search", slug, pk)
    context = {"state": state_of_search(search), "form": form}
    return _render_state(request, search.judge.project, "search", context, outcome.status)


def _render_state(
    request: Request, project: Project, name: str, context: dict[str, Any], status: int
) -> HttpResponse:
    part = "#state" if request.htmx else ""
    return render_judges(request, project, f"judges/laboratory/{name}.html{part}", context, status=status)


@login_required
@require_POST
def alignment_decide(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Accept a proposal as edited, dismiss it, or send an accepted one to the raters."""
    project = project_for_routing(request.user, slug)
    proposal, by = proposal_in(project, pk), request_user(request)
    if step not in _FORMS:
        raise Http404
    form = _FORMS[step](request.POST)
    if not form.is_valid():
        return _render(request, project, status=422, decided=proposal, form=form)
    try:
        if step == "accept":
            judge = accept_proposal(proposal=proposal, text=form.cleaned_data["text"], by=by)
            messages.success(request, gettext("{name} is ready to run.").format(name=judge.name))
        elif step == "dismiss":
            dismiss_proposal(proposal=proposal, by=by)
        else:
            send_to_raters(proposal=proposal, note=form.cleaned_data["note"], by=by)
    except DomainError as error:
        # Show an error above the form if the form lacks its field.
        error.fields = {}
        return _render(request, project, status=add_refusal(form, error), decided=proposal, form=form)
    return redirect(_address(project, proposal.judge, proposal.dimension))


def _address(project: Project, judge: Judge, dimension: Dimension) -> str:
    query = query_of({"judge": judge.pk, "dimension": dimension.key})
    return f"{reverse('alignment', args=[project.slug])}?{query}"


# A form without fields is valid for any request, as a dismissal has no input.
_FORMS: dict[str, type[forms.Form]] = {"accept": AcceptForm, "dismiss": forms.Form, "send": SendForm}


def _render(
    request: Request,
    project: Project,
    *,
    status: int = 200,
    decided: Proposal | None = None,
    form: forms.Form | None = None,
    **entered: forms.Form,
) -> HttpResponse:
    # After a rejected form the page shows the judge and dimension of its input.
    whose = {**request.GET.dict(), **request.POST.dict()}
    if decided:
        whose = {"judge": str(decided.judge_id), "dimension": decided.dimension.key}
    parts, asked = parts_of(project), AlignForm(whose, project=project)
    context: dict[str, Any] = {"parts": parts, "asked": asked, "draw": PartsForm(), **entered}
    if parts.is_split and asked.has_judge and asked.is_valid():
        judge, dimension = asked.cleaned_data["judge"], asked.cleaned_data["dimension"]
        context |= _context_of(request, project, judge, dimension, parts)
        context |= {"decided": decided, "form": form, **entered}
    # An address with an unknown judge or dimension is an error of the reader; missing ones are not.
    elif request.method == "GET" and asked.errors and whose.keys() & {"judge", "dimension"}:
        status = 422
    return render_judges(request, project, "judges/laboratory/alignment.html", context, status=status)


def _context_of(
    request: Request, project: Project, judge: Judge, dimension: Dimension, parts: DocumentParts
) -> dict[str, Any]:
    errors = errors_of(judge, dimension, Part.SELECT if parts.select else Part.TEACH)
    page = Paginator(errors.cases, UNITS_ON_A_PAGE).get_page(request.GET.get("page"))
    of_both = {"judge": judge, "dimension": dimension}
    triable = triable_proposals(project).filter(**of_both)
    return {
        "errors": errors,
        "development": DEVELOPMENT_ITEMS,
        "page": page,
        "units": units_of(errors, list(page)),
        "chosen": query_of({"judge": judge.pk, "dimension": dimension.key}),
        "proposals": proposals_of(project)
        .filter(**of_both)
        .exclude(text=""),  # others: on their draft's page
        "propose": ProposeForm(None, project=project),
        "write": TextForm(None, project=project),
        "search": SearchForm(None, project=project, proposals=triable),
        "may_search": bool(parts.select) and triable.exists(),
        "draftings": [each for each in draftings_of(project) if _is_of(each.drafting, judge, dimension)],
        "searches": [each for each in searches_of(project) if _is_of(each.search, judge, dimension)],
        "send": SendForm(),
        "has_values": judge.judgments.filter(status=Judgment.Status.DONE).exists(),
    }


def _is_of(work: Drafting | PromptSearch, judge: Judge, dimension: Dimension) -> bool:
    return (work.judge_id, work.dimension_id) == (judge.pk, dimension.pk)


@login_required
@require_http_methods(["GET", "POST"])
def experiment_new(request: Request, slug: str) -> HttpResponse:
    """Start an experiment with its run, or only `show` its calls and cost; a GET redirects to its page."""
    if request.method == "GET":
        project_for_judges(request.user, slug)
        return redirect("results_page", slug, "experiments")
    project = project_for_admin(request.user, slug)
    form, plan = ExperimentForm(request.POST, project=project), None
    remarks = list[str]()
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            design, budget = form.design(), form.cleaned_data["budget"]
            if "show" not in request.POST:
                by = request_user(request)
                started = start_experiment(
                    project=project, design=design, budget=budget, by=by, **form.scope()
                )
                return redirect("run", slug, started.run_id)
            plan, outcome.status = plan_of_experiment(project, design, **form.scope()), 200
            remarks = plan.remarks(budget)
    template = "judges/runs/plan.html#plan" if request.htmx else "judges/laboratory/experiment.html"
    context = {"form": form, "plan": plan, "remarks": remarks}
    return render_judges(request, project, template, context, status=outcome.status)


@login_required
@require_http_methods(["GET", "POST"])
def panel_new(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    return _edit_panel(request, project, None, partial(make_panel, project=project))


@login_required
@require_http_methods(["GET", "POST"])
def panel(request: Request, slug: str, pk: int) -> HttpResponse:
    """Change an unused panel."""
    project = project_for_admin(request.user, slug)
    edited = panel_in(project, pk)
    return _edit_panel(request, project, edited, partial(change_panel, panel=edited))


def _edit_panel(
    request: Request, project: Project, edited: Panel | None, save: Callable[..., Panel]
) -> HttpResponse:
    form = PanelForm(
        request.POST if request.method == "POST" else None, project=project, initial=_initial_of(edited)
    )
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            saved = save(**form.values(), by=request_user(request))
            messages.success(request, gettext("{name} is computed.").format(name=saved.judge.name))
            return redirect("judge", project.slug, saved.judge_id)
    context = {"form": form, "panel": edited, "refusal": refusal_of_change(edited) if edited else ""}
    return render_judges(request, project, "judges/laboratory/panel.html", context, status=outcome.status)


def _initial_of(edited: Panel | None) -> dict[str, Any]:
    if edited is None:
        return {"rule": Panel.Rule.MEAN}
    share = edited.development_share
    return {
        "name": edited.judge.name,
        "members": members_of(edited),
        "rule": edited.rule,
        "development_percent": None if share is None else round(100 * share),
    }
