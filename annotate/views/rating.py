"""Rating in Round I: where to go on, one item, saving."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import access
from annotate.commands.assignments import renew_reservation, reserve_items
from annotate.commands.notes import save_note
from annotate.commands.ratings import PLACE_GONE, Answer, save_rating
from annotate.errors import (
    DomainError,
    InvalidValueError,
    NotFoundError,
    NotReadyError,
    PlaceGoneError,
    RoundClosedError,
    SignedOutError,
)
from annotate.forms.ratings import NOT_APPLICABLE, AnswerForm
from annotate.guideline import FrozenDimension
from annotate.keys import ACTIONS
from annotate.models import Assignment, Membership, Role
from annotate.preferences import key_map_of
from annotate.queries.assigned import asked_dimensions
from annotate.queries.flagged import flagged_items
from annotate.queries.guidelines import guideline_of
from annotate.queries.practice import must_practise
from annotate.queries.progress import progress
from annotate.queries.rounds import round_one
from annotate.queries.work import ItemPage, first_position, first_unfinished, item_page, with_next
from annotate.views.errors import error_as_json
from annotate.views.page import render_in_project, request_user
from annotate.views.rating_rows import rows_as_html
from annotate.views.senders import sender_read_at_once


@login_required
@require_GET
def rate(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on where this annotator left off, or say why there is nothing to do.

    Reserves items although it is a GET: it is the address that people keep, nothing but a click leads to it,
    and what is reserved in vain is given to others.
    """
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    if must_practise(place):
        return redirect("practice", slug)
    round = round_one(place.project)
    if round is not None and round.is_open:
        position = first_unfinished(round, place)
        if position is None and reserve_items(round=round, annotator=place):
            position = first_unfinished(round, place)
        if position is not None:
            return redirect("rate_item", slug, position)
    context = {
        "project": place.project,
        "round": round,
        "progress": progress(round, place) if round else None,
        "first": first_position(round, place) if round else None,
    }
    return render(request, "rating/nothing_to_rate.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def rate_item(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Show one item with the annotator's answers; a POST (without scripts) saves all of them and goes on."""
    assignment = access.assignment_for_annotator(request.user, slug, position)
    place = assignment.annotator
    assert place is not None
    if must_practise(place):
        return redirect("practice", slug)
    refusals: list[str] = []
    if request.method == "POST":
        if request.POST.get("assignment") != access.token_of(assignment):
            raise Http404(gettext(PLACE_GONE))
        refusals = _save_all(request, assignment)
        if not refusals:
            return _go_on(slug, item_page(assignment), back="back" in request.POST)
    renew_reservation(assignment=assignment, annotator=place)
    page = item_page(assignment)
    if page.next is None and _reserve_more(place):
        page = with_next(page)
    is_loaded_ahead = request.headers.get("Concord-Ahead") == "1"  # for a page that has its own counter
    context = {
        "layout": "rating/ahead.html" if is_loaded_ahead else "base.html",
        "project": place.project,
        "place": place,
        "round": assignment.round,
        "token": access.token_of(assignment),
        "page": page,
        "rows_html": rows_as_html(place.project, page),
        "progress": None if is_loaded_ahead else progress(assignment.round, place),
        "guideline": guideline_of(assignment.round),
        "refusals": refusals,
        "key_map": key_map_of(request.user),
        "key_actions": ACTIONS,
    }
    return render(request, "rating/item.html", context, status=422 if refusals else 200)


@login_required
@require_GET
def rate_flagged(request: HttpRequest, slug: str) -> HttpResponse:
    """List what the annotator flagged to come back to."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(place.project)
    items = flagged_items(round, place) if round else []
    return render_in_project(request, place.project, "rating/flagged.html", {"items": items})


@require_GET
def rate_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the annotator's counter anew; signed out there is none, and no sign-in page in its place."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    round = round_one(place.project)
    if round is None:
        raise Http404(gettext("Round I has not been opened."))
    context = {"project": place.project, "progress": progress(round, place)}
    return render(request, "rating/_progress.html", context)


def _reserve_more(place: Membership) -> bool:
    """Reserve what comes after the last item of the annotator's order, so that it can be loaded ahead."""
    round = round_one(place.project)
    try:
        return bool(round and round.is_open and reserve_items(round=round, annotator=place))
    except RoundClosedError:
        return False


@require_POST
@sender_read_at_once
def save(request: HttpRequest, slug: str, position: int, key: str) -> HttpResponse:
    """Save one answer; everything that can go wrong is told in JSON, so that the page can keep the answer."""
    try:
        assignment = _held(request, slug, position)
        if assignment.annotator and must_practise(assignment.annotator):
            raise NotReadyError(gettext("Pass practice before you rate; nothing was saved."))
        dimension = guideline_of(assignment.round).dimension(key)
        if dimension is None:
            raise InvalidValueError(gettext("This round has no such dimension."))
        return JsonResponse(_save(request, assignment, dimension))
    except Http404 as error:
        return error_as_json(NotFoundError(str(error)))
    except DomainError as error:
        return error_as_json(error)


@require_POST
@sender_read_at_once
def save_private_note(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """Save the annotator's private note about an item; it answers as `save` does, to the same queue."""
    try:
        save_note(assignment=_held(request, slug, position), text=request.POST.get("comment", ""))
        return JsonResponse({"revision": 0})
    except Http404 as error:
        return error_as_json(NotFoundError(str(error)))
    except DomainError as error:
        return error_as_json(error)


def _held(request: HttpRequest, slug: str, position: int) -> Assignment:
    """Return the assignment that the sending page was made for, if it is still this person's."""
    if not request.user.is_authenticated:
        raise SignedOutError(gettext("You are signed out. Sign in and your answers are sent again."))
    place = request.POST.get("annotator", "")
    assignment = access.assignment_for_annotator(request.user, slug, position, place=place)
    if request.POST.get("assignment") != access.token_of(assignment):
        raise PlaceGoneError(gettext(PLACE_GONE))
    return assignment


def _go_on(slug: str, page: ItemPage, *, back: bool) -> HttpResponse:
    position = page.previous if back else page.next
    return redirect("rate", slug) if position is None else redirect("rate_item", slug, position)


def _save(
    request: HttpRequest, assignment: Assignment, dimension: FrozenDimension, prefix: str | None = None
) -> dict[str, object]:
    form = AnswerForm(request.POST, prefix=prefix)
    if not form.is_valid():
        fields = {name: str(errors[0]) for name, errors in form.errors.items()}
        raise InvalidValueError(next(iter(fields.values())), fields=fields)
    if prefix and form.is_untouched:
        return {}
    saved = save_rating(
        assignment=assignment,
        dimension=dimension,
        answer=form.answer(),
        by=request_user(request),
        sent=form.sent(),
    )
    return {
        "revision": saved.revision,
        "replaced": _shown(saved.replaced),
        "overtaken": _shown(saved.overtaken),
        "complete": saved.assignment_complete,
    }


def _shown(answer: Answer | None) -> dict[str, object] | None:
    if answer is None:
        return None
    return {"value": NOT_APPLICABLE if answer.not_applicable else answer.value, "comment": answer.comment}


def _save_all(request: HttpRequest, assignment: Assignment) -> list[str]:
    refusals = []
    guideline = guideline_of(assignment.round)
    save_note(assignment=assignment, text=request.POST.get("note", ""))
    for dimension in asked_dimensions(assignment, guideline):
        try:
            _save(request, assignment, dimension, dimension.key)
        except DomainError as error:
            refusals.append(error.message)
    return list(dict.fromkeys(refusals))
