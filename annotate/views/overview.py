"""A project's first page, agreement so far, and opening, closing and timing its rounds."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from annotate import access
from annotate.commands.deadlines import set_deadline
from annotate.commands.rounds import close_round_one, close_round_two, open_round_one, open_round_two
from annotate.errors import DomainError
from annotate.forms.deadlines import DeadlineForm
from annotate.models import Role, Round
from annotate.queries.overview import overview, own_work
from annotate.queries.reproduction import paper_of
from annotate.queries.rounds import round_one
from annotate.queries.so_far import alphas_and_drift, alphas_so_far
from annotate.views.page import READERS, Request, refusal_told, render_in_project, request_user

STEPS: dict[str, tuple[Callable[..., Round], str]] = {
    "open-1": (open_round_one, gettext_noop("Round I is open: annotators can rate.")),
    "close-1": (close_round_one, gettext_noop("Round I is closed and its disputes are open.")),
    "open-2": (open_round_two, gettext_noop("Round II is open: raters can discuss their disputes.")),
    "close-2": (close_round_two, gettext_noop("Round II is closed.")),
}


@login_required
@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what needs this person now: the state of the rounds to admins, own work to annotators."""
    place = access.membership(request.user, slug)
    roles = access.roles_in(request.user, place.project)
    is_admin = Role.ADMIN in roles
    context: dict[str, object] = {"is_admin": is_admin}
    if Role.ANNOTATOR in roles:
        context["own"] = own_work(access.membership(request.user, slug, Role.ANNOTATOR))
    if roles & READERS:
        context["overview"] = overview(place.project, for_admin=is_admin)
        context["may_see_values"] = Role.ANNOTATOR not in roles or not access.rates_independently(
            request.user, place.project
        )
        context["paper"] = paper_of(place.project)
    return render_in_project(request, place.project, "projects/project.html", context)


@login_required
@require_POST
def step(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    """Open or close a round, as an admin."""
    project = access.project_for_admin(request.user, slug)
    command, done = STEPS[step]
    with refusal_told(request):
        command(project=project, by=request_user(request))
        messages.success(request, gettext(done))
    return redirect("project", slug)


@login_required
@require_GET
@vary_on_headers("HX-Request")
def so_far(request: Request, slug: str) -> HttpResponse:
    """Show Round I's agreement so far and its drift; htmx gets the agreement only, for the overview."""
    project = access.project_for_reader(request.user, slug)
    round = round_one(project)
    if request.htmx:
        part = {"round": round, "alphas": alphas_so_far(round) if round else []}
        return render_in_project(request, project, "projects/so_far.html#alphas", part)
    alphas, drifts = alphas_and_drift(round) if round else ([], [])
    context = {"round": round, "alphas": alphas, "drifts": drifts}
    return render_in_project(request, project, "projects/so_far.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def deadline(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Set, move or take away the day by which raters are asked to be done, as an admin."""
    project = access.project_for_admin(request.user, slug)
    round = access.round_in(project, number)
    form = DeadlineForm(request.POST or None, initial={"deadline": round.deadline})
    status = 422 if request.method == "POST" else 200
    try:
        if request.method == "POST" and form.is_valid():
            set_deadline(round=round, deadline=form.cleaned_data["deadline"], by=request_user(request))
            messages.success(request, gettext("The deadline is saved; raters see it with their work."))
            return redirect("project", slug)
    except DomainError as error:
        form.add_error(None, error.message)
        status = error.status
    return render_in_project(
        request, project, "projects/deadline.html", {"form": form, "round": round}, status=status
    )
