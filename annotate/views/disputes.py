"""Round II: the work list of disputes, one dispute, its answers, thread and adjudication."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from annotate import access
from annotate.commands.disputes import adjudicate, answer_dispute, leave_open, open_again, post_message
from annotate.errors import DomainError
from annotate.forms.disputes import AdjudicationForm, DisputeAnswerForm, PostForm
from annotate.models import Dispute, Membership, Project, Role
from annotate.queries.disputes import dispute_page, disputes_of_project, next_needing, work_list
from annotate.views.page import Request, render_in_project, request_user

PER_PAGE = 50


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Ask to sign in and lead back to the dispute's page, whatever was sent.

    htmx is told so in the fragment: the page stays, with what was typed.
    """

    @wraps(view)
    def checked(request: Request, slug: str, number: int) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, slug, number)
        page = reverse("dispute", args=[slug, number])
        if request.htmx:
            return render(request, "disputes/_signed_out.html", {"page": page}, status=422)
        return redirect_to_login(page)

    return checked


@dataclass(frozen=True)
class Reading:
    """One dispute and the person who looks at it: a rater with a place, an admin, or a researcher."""

    dispute: Dispute
    project: Project
    place: Membership | None
    is_admin: bool


@login_required
@require_GET
def disputes(request: Request, slug: str) -> HttpResponse:
    """List one's own disputes, or all of them for an admin or researcher who does not rate."""
    place = access.membership(request.user, slug, Role.ANNOTATOR, Role.ADMIN, Role.RESEARCHER)
    if place.role == Role.ANNOTATOR and "all" not in request.GET:
        own: dict[str, object] = {"work": work_list(place), "shown": None if "show" in request.GET else ":60"}
        return render_in_project(request, place.project, "disputes/work_list.html", own)
    project = access.project_for_reader(request.user, slug)
    status = request.GET.get("status", "")
    found = Paginator(disputes_of_project(project, status), PER_PAGE).get_page(request.GET.get("page"))
    context = {"disputes": found, "status": status, "statuses": Dispute.Status.choices}
    return render_in_project(request, project, "disputes/all.html", context)


@signed_in
@require_GET
@vary_on_headers("HX-Request")  # or going back in history shows the fragment, which has the same address
def dispute(request: Request, slug: str, number: int) -> HttpResponse:
    """Show one dispute; htmx gets the part that others change: values, reasons and thread."""
    return _page(request, _reading(request, slug, number))


@signed_in
@require_POST
def answer(request: Request, slug: str, number: int) -> HttpResponse:
    """Keep or change one's value and go on to the next dispute that waits."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(place, number)
    form = DisputeAnswerForm(request.POST)
    try:
        access.refuse_another(place, request.POST.get("rater", ""))
        if not form.is_valid():
            return _page(request, _reading(request, slug, number), refusal=_first_error(form))
        data = {name: form.cleaned_data[name] for name in ("value", "comment", "seen_revision")}
        answer_dispute(dispute=found, rater=place, **data)
    except DomainError as error:
        return _page(request, _reading(request, slug, number), refusal=error.message)
    following = next_needing(place, number)
    where = reverse("dispute", args=[slug, following]) if following else reverse("disputes", args=[slug])
    return _go_to(request, where)


@signed_in
@require_POST
def post(request: Request, slug: str, number: int) -> HttpResponse:
    """Add a message to the thread."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(place, number)
    form = PostForm(request.POST)
    try:
        access.refuse_another(place, request.POST.get("rater", ""))
        if not form.is_valid():
            return _page(request, _reading(request, slug, number), refusal=_first_error(form))
        post_message(dispute=found, author=place, text=form.cleaned_data["text"])
    except DomainError as error:
        return _page(request, _reading(request, slug, number), refusal=error.message)
    return redirect("dispute", slug, number)


@signed_in
@require_POST
def decide(request: Request, slug: str, number: int) -> HttpResponse:
    """Adjudicate a dispute, leave it open or open it again, as an admin."""
    found = access.dispute_in(access.project_for_admin(request.user, slug), number)
    form = AdjudicationForm(request.POST)
    try:
        if not form.is_valid():
            return _page(request, _reading(request, slug, number), refusal=_first_error(form))
        data = form.cleaned_data
        if data["open_again"]:
            open_again(dispute=found, note=data["note"], by=request_user(request))
        elif data["leave_open"]:
            leave_open(dispute=found, note=data["note"], by=request_user(request))
        else:
            adjudicate(dispute=found, value=data["value"], note=data["note"], by=request_user(request))
    except DomainError as error:
        return _page(request, _reading(request, slug, number), refusal=error.message)
    return _go_to(request, reverse("dispute", args=[slug, number]))


def _go_to(request: Request, url: str) -> HttpResponse:
    # htmx would follow a redirect and put the page into the fragment's place.
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def _reading(request: Request, slug: str, number: int) -> Reading:
    place = access.membership(request.user, slug, Role.ADMIN, Role.RESEARCHER, Role.ANNOTATOR)
    own = access.place_of_rater(request.user, slug, number)
    if place.role == Role.ANNOTATOR and own:
        return Reading(access.dispute_for_rater(own, number), place.project, own, is_admin=False)
    found = access.dispute_in(access.project_for_reader(request.user, slug), number)
    return Reading(found, place.project, own, is_admin=place.role == Role.ADMIN)


def _page(request: Request, reading: Reading, *, refusal: str = "") -> HttpResponse:
    context = {
        "project": reading.project,
        "page": dispute_page(reading.dispute, reader=reading.place),
        "is_admin": reading.is_admin,
        "refusal": refusal,
        "draft": request.POST,
    }
    template = "disputes/dispute.html#discussion" if request.htmx else "disputes/dispute.html"
    return render(request, template, context, status=422 if refusal else 200)


def _first_error(form: forms.Form) -> str:
    return str(next(iter(form.errors.values()))[0])
