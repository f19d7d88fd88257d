from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import project_for_admin, project_for_reader, rates_independently
from annotate.core.errors import DomainError
from annotate.core.models import Project, User
from annotate.core.page import FormOutcome, MessageOutcome, Request, add_refusal, request_user
from judges.core.access import (
    judge_in,
    judgment_in,
    may_change_judges,
    project_for_judges,
    project_for_routing,
    rereading_in,
    run_in,
)
from judges.core.errors import RunRefusedError
from judges.core.models import DriftWatch, Judgment, Rereading, Run
from judges.core.page import render_judges
from judges.runs.commands.corrections import (
    ANSWERED,
    ask_again,
    confirm_rereading,
    exclude,
    exclude_all,
    include,
    refuse_other_count,
    restart_rereading,
    set_value,
    start_rereading,
)
from judges.runs.commands.drift import begin_anew, start_check, start_watch, stop_watch
from judges.runs.commands.endings import change_budget
from judges.runs.commands.runs import cancel_run, pause_run, plan_run, retry_failed, start_run
from judges.runs.forms import (
    BudgetForm,
    CorrectionForm,
    RereadingForm,
    RunForm,
    SelectionForm,
    WatchForm,
    budget_of,
)
from judges.runs.queries.drift import (
    USUAL_ITEMS,
    answering_models,
    choose_units,
    describe_change,
    latest_watch,
    plan_of_check,
    state_of_watch,
)
from judges.runs.queries.judgments import (
    answers_of,
    is_silent,
    names_asked_together,
    parameters_of,
    plan_of_asking,
)
from judges.runs.queries.pages import load_related, moves, run_lines, run_state
from judges.runs.queries.plans import NOTHING_MISSING, plan_of

# A project's runs: lists, progress, steering, and judgments without a value.

STEPS: dict[str, Callable[..., Run]] = {
    "start": start_run,
    "pause": pause_run,
    "cancel": cancel_run,
    "retry": retry_failed,
}
WITHOUT_VALUE = (Judgment.Status.UNREADABLE, Judgment.Status.FAILED, Judgment.Status.EXCLUDED)
ON_A_PAGE = 15


@login_required
@require_GET
def runs(request: Request, slug: str) -> HttpResponse:
    project = project_for_judges(request.user, slug)
    lines = run_lines(project)
    template = "judges/runs/runs.html#lines" if request.htmx else "judges/runs/runs.html"
    may_read = not rates_independently(request.user, project)
    moving = any(moves(progress) for progress, _ in lines)
    context = {"lines": lines, "moves": moving, "may_read": may_read}
    return render_judges(request, project, template, context)


@login_required
@require_GET
def run(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a run; the page reloads automatically while it is running."""
    project = project_for_judges(request.user, slug)
    template = "judges/runs/run.html#state" if request.htmx else "judges/runs/run.html"
    state = run_state(run_in(project, pk))
    context = {"state": state, "budget_form": BudgetForm(initial=budget_of(state["run"]))}
    return render_judges(request, project, template, context)


@login_required
@require_POST
def run_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    steered = run_in(project_for_admin(request.user, slug), pk)
    if step not in STEPS:
        raise Http404(gettext("There is no such step."))
    with MessageOutcome(request):
        STEPS[step](run=steered)
    return redirect("run", slug, pk)


@login_required
@require_POST
def run_budget(request: Request, slug: str, pk: int) -> HttpResponse:
    changed = run_in(project_for_admin(request.user, slug), pk)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("This is no budget: {value}").format(value=form["budget"].errors[0]))
        return redirect("run", slug, pk)
    with MessageOutcome(request):
        changed = change_budget(run=changed, **form.cleaned_data)
        is_stopped = changed.status == Run.Status.STOPPED
        resume = gettext("The budget is changed. Resume the run to go on.")
        messages.success(request, resume if is_stopped else gettext("The budget is changed."))
    return redirect("run", slug, pk)


@login_required
@require_GET
def run_judgments(request: Request, slug: str, pk: int, status: str) -> HttpResponse:
    """List a run's unreadable or failed judgments with reply and reason."""
    project = project_for_reader(request.user, slug)
    listed = run_in(project, pk)
    return _render_without_value(request, project, listed.judgments.all(), status, {"run": listed})


@login_required
@require_GET
def judge_judgments(request: Request, slug: str, pk: int, status: str) -> HttpResponse:
    """List a judge's unreadable or failed judgments with reply and reason."""
    project = project_for_reader(request.user, slug)
    listed = judge_in(project, pk)
    return _render_without_value(request, project, listed.judgments.all(), status, {"judge": listed})


def _render_without_value(
    request: Request, project: Project, judgments: QuerySet[Judgment], status: str, context: dict[str, Any]
) -> HttpResponse:
    """Render a list of unreadable or failed judgments; the context identifies their run or judge."""
    if status not in WITHOUT_VALUE:
        raise Http404(gettext("There is no such list."))
    pages = Paginator(load_related(judgments.filter(status=status)), ON_A_PAGE)
    listed = {"status": status, "judgments": pages.get_page(request.GET.get("page"))}
    return render_judges(request, project, "judges/runs/judgments.html", {**context, **listed})


@login_required
@require_http_methods(["GET", "POST"])
def judgment(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show the details of a judgment; an admin who does not rate corrects it."""
    # Corrections change results, so a person who rates in the project makes none.
    if request.method == "POST":
        project_for_routing(request.user, slug)
    project = project_for_reader(request.user, slug)
    shown = judgment_in(project, pk)
    form = CorrectionForm(request.POST or None)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            data = form.cleaned_data
            why = {"judgment": shown, "note": data["note"], "by": request_user(request)}
            if data["exclude"]:
                exclude(**why)
            elif data["include"]:
                include(**why)
            else:
                set_value(value=data["value"], **why)
            messages.success(request, gettext("Saved. Results now use it."))
            return redirect("judgment", slug, pk)
    context = {
        "judgment": shown,
        "form": form,
        "parameters": parameters_of(shown),
        "together": names_asked_together(shown),
        "changes": shown.changes.select_related("actor").order_by("-pk"),
        "may_correct": may_change_judges(request.user, project) and shown.status in ANSWERED,
        "asking": plan_of_asking(Judgment.objects.filter(pk=shown.pk)),
    }
    return render_judges(request, project, "judges/runs/judgment.html", context, status=outcome.status)


@login_required
@require_POST
def judgment_ask(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_routing(request.user, slug)
    shown = judgment_in(project, pk)
    next_page = ("judgment", slug, pk)
    with MessageOutcome(request):
        asked = Judgment.objects.filter(pk=shown.pk)
        run = ask_again(project=project, judgments=asked, by=request_user(request))
        next_page = ("run", slug, run.pk)
    return redirect(*next_page)


# Judgments by filter, for reading, requesting again or excluding together.


@login_required
@require_http_methods(["GET", "POST"])
def find_judgments(request: Request, slug: str) -> HttpResponse:
    """List answers by judge, dimension and kind; an admin who does not rate acts on all of them."""
    if request.method == "POST":
        project_for_routing(request.user, slug)
    project = project_for_reader(request.user, slug)
    form = SelectionForm(request.POST if request.method == "POST" else request.GET, project=project)
    status, found = 200, Judgment.objects.none()
    try:
        if form.is_valid():
            found = answers_of(project, form.selection())
            if form.cleaned_data["act"] and request.method == "POST":
                by, data = request_user(request), form.cleaned_data
                # More answers may match by now than the person saw on the page.
                refuse_other_count(found.count(), data["shown"])
                if data["act"] == "ask":
                    return redirect(
                        "run", project.slug, ask_again(project=project, judgments=found, by=by).pk
                    )
                # Ids, because excluded judgments no longer match the filter.
                keys = list(found.values_list("pk", flat=True))
                count = exclude_all(project=project, judgments=keys, note=data["note"], by=by)
                messages.success(request, gettext("Judgments excluded: {count}.").format(count=count))
                return redirect(f"{reverse('find_judgments', args=[project.slug])}?{form.query()}")
        else:
            status = 422
    except DomainError as error:
        status = add_refusal(form, error)
    context = {
        "form": form,
        "judgments": Paginator(load_related(found), ON_A_PAGE).get_page(request.GET.get("page")),
        "query": f"{form.query()}&" if form.is_valid() and form.query() else "",
        "plan": plan_of_asking(found),
        "may_act": may_change_judges(request.user, project),
    }
    return render_judges(request, project, "judges/runs/select.html", context, status=status)


# Rereadings of stored replies by a worker.


@login_required
@require_http_methods(["GET", "POST"])
def rereadings(request: Request, slug: str) -> HttpResponse:
    """List rereadings of stored replies; a POST starts another preview by a worker."""
    project = project_for_routing(request.user, slug)
    form = RereadingForm(request.POST if request.method == "POST" else None, project=project)
    if form.is_valid():
        made = start_rereading(project=project, judge=form.cleaned_data["judge"], by=request_user(request))
        return redirect("rereading", slug, made.pk)
    found = Rereading.objects.filter(project=project).select_related("judge")[:ON_A_PAGE]
    status = 422 if form.errors else 200
    context = {"form": form, "rereadings": found}
    return render_judges(request, project, "judges/runs/rereadings.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def rereading(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show the changes; a POST confirms them, or lets another worker continue."""
    project = project_for_routing(request.user, slug)
    shown = rereading_in(project, pk)
    if request.method == "POST":
        with MessageOutcome(request):
            # The job has no worker or stopped, and continues from its last step.
            if "restart" in request.POST:
                restart_rereading(rereading=shown)
            else:
                confirm_rereading(rereading=shown, by=request_user(request))
        return redirect("rereading", slug, pk)
    template = "judges/runs/rereading.html#state" if request.htmx else "judges/runs/rereading.html"
    moving = shown.status in Rereading.UNDER_WAY
    context = {"rereading": shown, "is_silent": is_silent(shown), "moves": moving}
    return render_judges(request, project, template, context)


# Planning of a run: its calls, cost and duration, before any write.


@login_required
@require_http_methods(["GET", "POST"])
def run_plan(request: Request, slug: str) -> HttpResponse:
    """Preview a run; a POST starts it, except with `show`."""
    project = project_for_admin(request.user, slug)
    # The initial choices come from a URL such as ?judges=3&documents=20&items=tag%3Dhard.
    judges = [pk for pk in request.GET.getlist("judges") if pk.isdecimal()]
    documents = request.GET.get("documents", "")
    chosen: dict[str, Any] = {"judges": judges} if judges else {}
    if items := request.GET.get("items"):
        chosen["items"] = items
    choices_in = {**chosen, "documents": documents} if documents.isdecimal() else chosen
    form = RunForm(
        request.POST if request.method == "POST" else None, project=project, begins_with=choices_in
    )
    plan, remarks, status = None, list[str](), 200
    try:
        if form.is_valid():
            # The same plan for the preview and before the start, so no run starts without its cost.
            scope = form.scope()
            plan = plan_of(project, scope, form.cleaned_data["via"])
            remarks = plan.remarks(form.cleaned_data["budget"])
            if "show" not in request.POST:
                if plan.judgments and not plan.calls:
                    raise RunRefusedError(str(NOTHING_MISSING))
                run = plan_run(project=project, scope=scope, by=request_user(request), **form.how())
                start_run(run=run)
                return redirect("run", project.slug, run.pk)
    except DomainError as error:
        status = add_refusal(form, error)
    template = "judges/runs/plan.html#plan" if request.htmx else "judges/runs/plan.html"
    status = 422 if form.errors and status == 200 else status
    context = {"form": form, "plan": plan, "remarks": [] if form.errors else remarks}
    return render_judges(request, project, template, context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def judge_watch(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show drift of a judge's model; admins start a watch."""
    if request.method == "POST":
        project = project_for_routing(request.user, slug)
        # A form with `show` previews the cost of a check and starts nothing.
        form, status = WatchForm(request.POST), 422
        if form.is_valid() and "show" not in request.POST:
            try:
                start_watch(judge=judge_in(project, pk), **form.cleaned_data, by=request_user(request))
                return redirect("judge_watch", project.slug, pk)
            except DomainError as error:
                status = add_refusal(form, error)
        return _show_watch(request, project, pk, form, status=status if form.errors else 200)
    return _show_watch(request, project_for_reader(request.user, slug), pk, WatchForm())


@login_required
@require_POST
def watch_step(request: Request, slug: str, pk: int, step: str) -> HttpResponse:
    """Check now, end a watch, or confirm an alarm with or without a new watch."""
    project = project_for_routing(request.user, slug)
    watch = latest_watch(judge_in(project, pk))
    if watch is None or step not in WATCH_STEPS:
        raise Http404(gettext("There is no such step."))
    with MessageOutcome(request):
        WATCH_STEPS[step](watch, request_user(request))
    return redirect("judge_watch", slug, pk)


WATCH_STEPS: dict[str, Callable[[DriftWatch, User], object]] = {
    "check": lambda watch, _by: start_check(watch=watch, is_due=False),
    "stop": lambda watch, by: stop_watch(watch=watch, by=by),
    "anew": lambda watch, by: begin_anew(watch=watch, by=by),
    "confirm": lambda watch, by: begin_anew(watch=watch, by=by, starts=False),
}


def _show_watch(
    request: Request, project: Project, pk: int, form: WatchForm, *, status: int = 200
) -> HttpResponse:
    judge = judge_in(project, pk)
    models, watch = answering_models(judge), latest_watch(judge)
    items = form.cleaned_data.get("items", USUAL_ITEMS) if form.is_bound and form.is_valid() else USUAL_ITEMS
    is_watchable = judge.endpoint is not None and judge.template is not None and not judge.asks_pairs
    # An active watch has its units already, so there is no preview of others.
    units = choose_units(judge, items) if is_watchable and not (watch and watch.is_active) else {}
    context = {
        "judge": judge,
        "models": models,
        "change": describe_change(models),
        "state": state_of_watch(watch) if watch else None,
        "form": form,
        "plan": plan_of_check(judge, units) if units else None,
        "planned_items": len({item for each in units.values() for item in each}),
        "has_samples": is_watchable,
        "at_watch": True,
    }
    return render_judges(request, project, "judges/runs/watch.html", context, status=status)
