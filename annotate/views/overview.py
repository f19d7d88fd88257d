"""A project's first page, and opening and closing its rounds."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from annotate import access
from annotate.commands.rounds import close_round_one, close_round_two, open_round_one, open_round_two
from annotate.errors import DomainError
from annotate.models import Role, Round
from annotate.queries.overview import overview, own_work
from annotate.views.page import READERS, render_in_project, request_user

STEPS: dict[str, tuple[Callable[..., Round], str]] = {
    "open-1": (open_round_one, "Round I is open: annotators can rate."),
    "close-1": (close_round_one, "Round I is closed and its disputes are open."),
    "open-2": (open_round_two, "Round II is open: raters can discuss their disputes."),
    "close-2": (close_round_two, "Round II is closed."),
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
        context["overview"] = overview(place.project, with_labels=is_admin)
    return render_in_project(request, place.project, "projects/project.html", context)


@login_required
@require_POST
def step(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    """Open or close a round, as an admin."""
    project = access.project_for_admin(request.user, slug)
    command, done = STEPS[step]
    try:
        command(project=project, by=request_user(request))
        messages.success(request, done)
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("project", slug)
