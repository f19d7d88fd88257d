"""A project's people: their places, the links that invite to one, and the page behind such a link."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotate.access import invitation_in, place_in, project_for_admin
from annotate.accounts import INVITATION_IN_SESSION
from annotate.commands.people import (
    accept_invitation,
    deactivate_member,
    invite,
    reactivate_member,
    withdraw_invitation,
)
from annotate.errors import DomainError, InvitationUnusableError
from annotate.forms.people import InvitationForm
from annotate.invitations import usable_invitation
from annotate.models import Invitation, Role
from annotate.queries.people import people_of
from annotate.views.page import render_in_project, request_user


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List a project's people and links; a POST makes a link."""
    project = project_for_admin(request.user, slug)
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        role, email = Role(form.cleaned_data["role"]), form.cleaned_data["email"]
        made = invite(project=project, by=request_user(request), role=role, email=email)
        return _to_link(slug, made)
    context = {"form": form, "people": people_of(project)}
    return render_in_project(
        request, project, "people/list.html", context, status=422 if form.is_bound else 200
    )


@login_required
@require_POST
def place_invite(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a link that fills an empty place."""
    place = place_in(project_for_admin(request.user, slug), pk)
    try:
        made = invite(project=place.project, by=request_user(request), role=Role(place.role), place=place)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("people", slug)
    return _to_link(slug, made)


@login_required
@require_POST
def place_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Close a place, or open it again."""
    place = place_in(project_for_admin(request.user, slug), pk)
    try:
        if "reactivate" in request.POST:
            reactivate_member(place=place)
        else:
            deactivate_member(place=place)
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("people", slug)


@login_required
@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a link unusable."""
    withdraw_invitation(invitation=invitation_in(project_for_admin(request.user, slug), pk))
    messages.success(request, "The invitation is withdrawn; its link no longer works.")
    return redirect("people", slug)


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Say what a link offers; a signed-in person accepts it, others first sign in or make an account."""
    try:
        if request.method == "POST" and request.user.is_authenticated:
            place = accept_invitation(token=token, user=request_user(request))
            return redirect("project", place.project.slug)
        offer = usable_invitation(token)
    except InvitationUnusableError as error:
        return render(request, "people/invitation_unusable.html", {"error": error}, status=error.status)
    if not request.user.is_authenticated:
        request.session[INVITATION_IN_SESSION] = token
    return render(request, "people/invitation.html", {"invitation": offer, "token": token})


def _to_link(slug: str, made: Invitation) -> HttpResponse:
    return redirect(f"{reverse('people', args=[slug])}#invitation-{made.pk}")
