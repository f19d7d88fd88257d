"""Pages about rating."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from annotate.core import access
from annotate.core.access import ASSIGNMENT_GONE, OWN_ASSIGNMENTS, SIGNED_OUT, project_for_admin
from annotate.core.database import is_busy, little_patience
from annotate.core.errors import (
    AssignmentGoneError,
    DomainError,
    InvalidValueError,
    NotReadyError,
    RoundClosedError,
    SignedOutError,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import changes_of_wording, guideline_at, guideline_of
from annotate.core.keys import ACTIONS
from annotate.core.models import Assignment, AssignmentPlan, Membership, Role
from annotate.core.page import FormOutcome, Request, render_in_project, request_user
from annotate.core.preferences import PERSON, key_map_of
from annotate.core.responses import error_content, refusals_as_json
from annotate.core.rounds import round_one, rounds_of
from annotate.core.strings import read_number
from annotate.fastpath.sessions import Question, prefetch_request
from annotate.rating.commands.assignments import (
    LOADED_AHEAD,
    acknowledge_wording,
    complete_study,
    renew_reservation,
    renew_reservations,
    reserve_items,
)
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import (
    Answer,
    SaveOutcome,
    SubmittedAnswer,
    save_note,
    save_rating,
    save_ratings,
)
from annotate.rating.forms import NOT_APPLICABLE, AnswerForm, OwnWorkForm, PlanForm, sent_answers
from annotate.rating.planning import CannotBeMetError
from annotate.rating.queries.assignments import asked_dimensions
from annotate.rating.queries.own_items import (
    TIMED_ITEMS,
    load_with_answers,
    own_checks,
    own_documents,
    own_items,
    own_rows,
    own_spreads,
    progress,
    seconds_for_an_item,
)
from annotate.rating.queries.plans import (
    plan_of,
    planned_annotators,
    planned_work,
    severity_by_plan,
    shared_out,
)
from annotate.rating.queries.work import (
    ItemPage,
    add_next,
    first_position,
    first_unfinished,
    has_guidelines_to_read,
    item_page,
    new_wording,
    rows_as_html,
)

# Rating in Round I: where to go on, one item, saving.

ITEMS_PER_PAGE = 50


@login_required
@require_GET
def rate(request: HttpRequest, slug: str) -> HttpResponse:
    """Continue at this annotator's last position, or explain why there is nothing to do.

    Reserves items although it is a GET: it is the URL that people bookmark, and only a click leads to it.
    Unrated items go to other annotators after some time.
    """
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(membership.project)
    has_work = membership.must_practise or (round is not None and round.is_open)
    # Guidelines come first, because practice tests their content.
    if has_work and has_guidelines_to_read(membership, guideline_at(membership.project, round)):
        return redirect(f"{reverse('guideline', args=[slug])}?start=1")
    if membership.must_practise:
        return redirect("practice", slug)
    if membership.project.calibrates_id and rounds_of(membership.project).get(2):
        # Redirect a rater in a calibration session once the session's answers are revealed.
        url = reverse("disputes", args=[slug])
        # htmx would follow a redirect and insert the whole page into this one.
        return HttpResponseClientRedirect(url) if request.headers.get("HX-Request") else redirect(url)
    if round is not None and round.is_open:
        # Items that the annotator has already come first; only then new ones are reserved.
        position = first_unfinished(round, membership)
        if position is None and reserve_items(round=round, annotator=membership):
            position = first_unfinished(round, membership)
        if position is not None:
            return redirect("rate_item", slug, position)
    if round is not None and complete_study(membership=membership):
        return redirect("outside_end", slug)
    context = {
        "project": membership.project,
        "round": round,
        # Only the page of an open round shows the time spent.
        "progress": progress(round, membership, with_time=round.is_open) if round else None,
        "first": first_position(round, membership) if round else None,
    }
    return render(request, "rating/nothing_to_rate.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def rate_item(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Show one item with the annotator's answers; without scripts, a POST saves all and continues."""
    assignment = access.assignment_for_annotator(request.user, slug, position)
    membership = assignment.annotator
    assert membership is not None
    if membership.must_practise:
        return redirect("practice", slug)
    refusals: list[str] = []
    if request.method == "POST":
        # Another item may have got this position after the page loaded.
        if request.POST.get("assignment") != access.token_of(assignment):
            raise Http404(gettext(ASSIGNMENT_GONE))
        refusals = _save_all(request, assignment)
        if not refusals:
            page = item_page(assignment)
            next_position = page.previous if "back" in request.POST else page.next
            if next_position is None:
                return redirect("rate", slug)
            return redirect("rate_item", slug, next_position)
    ahead = read_number(request.headers.get("Concord-Ahead", "")) or 0
    # The page's script asks for items only, to load them ahead.
    if how_many := min(ahead, LOADED_AHEAD):
        return HttpResponse("".join(_items_ahead(request, assignment, how_many)))
    context = _item_context(request, assignment) | {
        "layout": "base.html",
        "progress": progress(assignment.round, membership),
        "refusals": refusals,
    }
    return render(request, "rating/item.html", context, status=422 if refusals else 200)


def _items_ahead(request: HttpRequest, first: Assignment, how_many: int) -> Iterator[str]:
    """Yield an item and those after it without the rest of their pages.

    Each leaves out what the page has: the dialog, if its guidelines are of this version, and the parts of the
    document, if the item before is of the same document.
    """
    assignment: Assignment | None = first
    before: ItemPage | None = None
    while assignment is not None:
        context = _item_context(request, assignment)
        page: ItemPage = context["page"]
        version = str(assignment.round.guideline.version)
        context |= {
            "layout": "rating/ahead.html",
            "progress": None,
            "has_dialog": request.headers.get("Concord-Guideline") == version,
            "parts_as_before": before is not None and before.document == page.document,
        }
        yield render_to_string("rating/item.html", context, request)
        before, how_many = page, how_many - 1
        assignment = _assignment_after(request, page) if how_many else None


def _assignment_after(request: HttpRequest, page: ItemPage) -> Assignment | None:
    """Return the annotator's next assignment; None without one, or if another rater has just received it."""
    membership = page.assignment.annotator
    if page.next is None or membership is None:
        return None
    try:
        return access.assignment_for_annotator(request.user, membership.project.slug, page.next)
    except Http404:
        return None


def _item_context(request: HttpRequest, assignment: Assignment) -> dict[str, Any]:
    membership = assignment.annotator
    assert membership is not None
    renew_reservation(assignment=assignment, annotator=membership)
    page = item_page(assignment)
    # At the end of the order the next items are reserved ahead, so that rating continues offline.
    if page.next is None and _reserve_more(membership):
        page = add_next(page)
    return {
        "project": membership.project,
        "membership": membership,
        "round": assignment.round,
        "token": access.token_of(assignment),
        "page": page,
        "rows_html": rows_as_html(membership.project, page),
        "guideline": guideline_of(assignment.round),
        "new_wording": new_wording(
            assignment.round, membership, shown=request.headers.get("Concord-Guideline", "")
        ),
        "key_map": key_map_of(request.user),
        "key_actions": ACTIONS,
    }


@login_required
@require_GET
def my_work(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(membership.project)
    if round is None:
        return render_in_project(request, membership.project, "rating/my_work.html")
    dimensions = guideline_of(round).dimensions
    form = OwnWorkForm(request.GET, dimensions=dimensions, documents=own_documents(round, membership))
    # Keys only: one page of items is read in full by `load_with_answers`.
    keys = own_items(round, membership, form.chosen).values_list("pk", flat=True)
    shown = Paginator(keys, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    done = progress(round, membership)
    context = {
        "round": round,
        "form": form,
        "items": shown,
        "rows": own_rows(load_with_answers(list(shown)), dimensions),
        "dimensions": dimensions,
        "progress": done,
        "seconds": seconds_for_an_item(membership, round),
        "timed_items": TIMED_ITEMS if done.done > TIMED_ITEMS else None,
        "checks": own_checks(round, membership, left=done.left),
    }
    return render_in_project(request, membership.project, "rating/my_work.html", context)


@login_required
@vary_on_headers("HX-Request")
@require_GET
def my_values(request: Request, slug: str) -> HttpResponse:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(membership.project)
    if round is None:
        raise Http404(gettext("Round I has not been opened."))
    template = "rating/my_values.html" + ("#spreads" if request.htmx else "")
    context = {"spreads": own_spreads(round, membership)}
    return render_in_project(request, membership.project, template, context)


@login_required
@require_GET
def how_rating_works(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    return render_in_project(request, membership.project, "rating/how_rating_works.html")


@login_required
@require_GET
def guideline(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.membership(request.user, slug)
    project = membership.project
    rounds = rounds_of(project)
    first, second = rounds.get(1), rounds.get(2)
    # Between the rounds the page shows the guideline that Round II would freeze, with its changes.
    comes_next = not second and first is not None and not first.is_open
    latest = None if comes_next else second or first
    found = guideline_at(project, latest)
    changes = list(changes_of_wording(guideline_of(first), found)) if first and comes_next else []
    starts = "start" in request.GET and membership.role == Role.ANNOTATOR
    context = {
        "round": latest,
        "comes_next": comes_next,
        "guideline": found,
        "changes": changes,
        "starting": membership if starts and has_guidelines_to_read(membership, found) else None,
    }
    return render_in_project(request, project, "rating/guideline.html", context)


@require_GET
def rate_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the annotator's counter again; without a session return no counter, and no sign-in page either."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(membership.project)
    if round is None:
        raise Http404(gettext("Round I has not been opened."))
    context = {"project": membership.project, "progress": progress(round, membership)}
    return render(request, "rating/_progress.html", context)


def _reserve_more(membership: Membership) -> bool:
    """Reserve the items after the last one of the annotator's order, so that they can be loaded ahead.

    Without it, for example if another process writes to SQLite, the request for the next item reserves it.
    """
    round = round_one(membership.project)
    try:
        with little_patience():
            return bool(round and round.is_open and reserve_items(round=round, annotator=membership))
    # The present page stays valid; only nothing more comes after its item.
    except RoundClosedError:
        return False
    except OperationalError as error:
        if not is_busy(error):
            raise
        return False


def _sender(holder: int, *, slug: str, position: int, **_rest: str) -> tuple[Question, ...]:
    """The first queries of every save: the person, and the assignment of the answers."""
    return (PERSON, (holder,)), (OWN_ASSIGNMENTS, (holder, slug, position))


@require_POST
@prefetch_request(_sender)
@refusals_as_json
def save(request: HttpRequest, slug: str, position: int, key: str) -> HttpResponse:
    assignment = _rateable(request, slug, position)
    saved = _save(request, assignment, _dimension(assignment, key))
    return JsonResponse(saved | {"guideline": assignment.round.guideline.version})


@require_POST
@prefetch_request(_sender)
@refusals_as_json
def save_answers(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Save the queued answers of an item, in one transaction; the reply has an outcome for each answer.

    An outcome is the reply of `save`, or the code, message and fields of its error.
    """
    assignment = _rateable(request, slug, position)
    # Unreadable answers keep their position among the outcomes, and do not block the others.
    forms = [_read_answer(assignment, sent) for sent in sent_answers(request.POST.get("answers", ""))]
    given = [each for each in forms if isinstance(each, SubmittedAnswer)]
    became = iter(save_ratings(assignment=assignment, given=given, by=request_user(request)))
    results = [next(became) if isinstance(each, SubmittedAnswer) else each for each in forms]
    answers = [_reply(each) if isinstance(each, SaveOutcome) else error_content(each) for each in results]
    return JsonResponse({"answers": answers, "guideline": assignment.round.guideline.version})


@require_POST
@prefetch_request(_sender)
@refusals_as_json
def save_private_note(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    save_note(assignment=_assignment_at(request, slug, position), text=request.POST.get("comment", ""))
    return JsonResponse({"revision": 0})


@require_POST
@refusals_as_json
def hold_items(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Renew the reservations of a page in use, and list the items, by position, that still belong to it."""
    assignment = _assignment_at(request, slug, position)
    assert assignment.annotator
    items = renew_reservations(assignment=assignment, annotator=assignment.annotator)
    # By the token the page sees whether another item has a position that it has loaded.
    held = {each.position: access.token_of(each) for each in items}
    return JsonResponse({"held": held, "guideline": assignment.round.guideline.version})


@require_POST
@refusals_as_json
def acknowledge(request: HttpRequest, slug: str) -> HttpResponse:
    """Record that the annotator has read a version of the guideline; without scripts, continue."""
    membership = access.sending_annotator(request.user, slug, request.POST.get("annotator", ""))
    version = read_number(request.POST.get("version", "")) or 0
    acknowledge_wording(annotator=membership, version=version, by=request_user(request))
    if "start" in request.POST:
        return redirect("rate", slug)
    # No URL of an item has more digits.
    position = read_number(request.POST.get("position", ""), digits=10)
    return JsonResponse({"revision": 0}) if position is None else redirect("rate_item", slug, position)


def _rateable(request: HttpRequest, slug: str, position: int) -> Assignment:
    assignment = _assignment_at(request, slug, position)
    if assignment.annotator and assignment.annotator.must_practise:
        raise NotReadyError(gettext("Pass practice before you rate; nothing was saved."))
    return assignment


def _dimension(assignment: Assignment, key: str) -> FrozenDimension:
    dimension = guideline_of(assignment.round).dimension(key)
    if dimension is None:
        raise InvalidValueError(gettext("This round has no such dimension."))
    return dimension


def _read_answer(assignment: Assignment, sent: dict[str, object]) -> SubmittedAnswer | InvalidValueError:
    try:
        dimension = _dimension(assignment, str(sent.get("key", "")))
        form = _valid(AnswerForm(sent))
    except InvalidValueError as error:
        return error
    return SubmittedAnswer(dimension, form.answer(), form.to_sent())


def _assignment_at(request: HttpRequest, slug: str, position: int) -> Assignment:
    # An error and no redirect: a script sends this request, keeps the answers, and shows the reason.
    if not request.user.is_authenticated:
        raise SignedOutError(gettext(SIGNED_OUT))
    # Someone else may have signed in on this machine since the page was loaded.
    membership_key = request.POST.get("annotator", "")
    assignment = access.assignment_for_annotator(request.user, slug, position, membership_key=membership_key)
    if request.POST.get("assignment") != access.token_of(assignment):
        raise AssignmentGoneError(gettext(ASSIGNMENT_GONE))
    return assignment


def _save(
    request: HttpRequest, assignment: Assignment, dimension: FrozenDimension, prefix: str | None = None
) -> dict[str, object]:
    form = _valid(AnswerForm(request.POST, prefix=prefix))
    # The page without scripts sends every dimension: empty ones are no answers.
    if prefix and form.is_untouched:
        return {}
    saved = save_rating(
        assignment=assignment,
        dimension=dimension,
        answer=form.answer(),
        by=request_user(request),
        sent=form.to_sent(),
    )
    return _reply(saved)


def _valid(form: AnswerForm) -> AnswerForm:
    if not form.is_valid():
        fields = {name: str(errors[0]) for name, errors in form.errors.items()}
        raise InvalidValueError(next(iter(fields.values())), fields=fields)
    return form


def _reply(saved: SaveOutcome) -> dict[str, object]:
    return {
        "revision": saved.revision,
        "replaced": _answer_as_dict(saved.replaced),
        "overtaken": _answer_as_dict(saved.overtaken),
        "complete": saved.assignment_complete,
    }


def _answer_as_dict(answer: Answer | None) -> dict[str, object] | None:
    if answer is None:
        return None
    value = NOT_APPLICABLE if answer.not_applicable else answer.value
    return {"value": value, "data": answer.data, "comment": answer.comment}


def _save_all(request: HttpRequest, assignment: Assignment) -> list[str]:
    refusals = []
    guideline = guideline_of(assignment.round)
    try:
        save_note(assignment=assignment, text=request.POST.get("note", ""))
    except DomainError as error:
        refusals.append(error.message)
    for dimension in asked_dimensions(assignment, guideline):
        try:
            _save(request, assignment, dimension, dimension.key)
        except DomainError as error:
            refusals.append(error.message)
    # A closed round rejects every answer with the same message, so the page shows it once.
    return list(dict.fromkeys(refusals))


# Assignment plan of Round I: chosen and previewed before it opens, read-only afterwards.


@login_required
@require_http_methods(["GET", "POST"])
def plan(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    round, choice = round_one(project), plan_of(project)
    form = PlanForm(request.POST or None, request.FILES or None, choice=choice)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in (*AssignmentPlan.SETTINGS, "pairs")}
            # A preview shows the plan without saving it.
            if "show" not in request.POST:
                choose_plan(project=project, **values)
                messages.success(request, gettext("The plan is saved; opening Round I follows it."))
                return redirect("plan", slug)
            choice, outcome.status = AssignmentPlan(project=project, **values), 200
    context: dict[str, Any] = {"form": form, "round": round, "choice": choice}
    try:
        context["work"] = shared_out(round) if round else planned_work(choice)
    except CannotBeMetError as error:
        context["problem"] = str(error)
    if not round:
        context["severities"] = severity_by_plan(choice)
        context["annotators"] = len(planned_annotators(project))
    template = "rating/plan.html#preview" if request.htmx else "rating/plan.html"
    return render_in_project(request, project, template, context, status=outcome.status)
