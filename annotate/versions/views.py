"""The page of versions, and starting a new edition."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate.core.access import project_for_admin, project_for_reader, roles_in
from annotate.core.errors import DomainError
from annotate.core.models import Role, VersionRequest
from annotate.core.page import FormOutcome, Request, render_in_project, request_user
from annotate.versions.commands import request_version, start_edition
from annotate.versions.forms import VersionForm
from annotate.versions.queries import (
    editions_of,
    next_version,
    request_under_way,
    version_without_change,
    versions_of,
)


@login_required
@require_http_methods(["GET", "POST"])
def versions(request: Request, slug: str) -> HttpResponse:
    is_post = request.method == "POST"
    project = (project_for_admin if is_post else project_for_reader)(request.user, slug)
    form = VersionForm(request.POST if is_post else None)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            request_version(project=project, by=request_user(request), **form.cleaned_data)
            return redirect("versions", slug)
    under_way = request_under_way(project)
    context = {
        "form": form,
        "is_admin": Role.ADMIN in roles_in(request.user, project),
        "versions": versions_of(project, request.user),
        "next": next_version(project),
        "under_way": under_way,
        "unchanged": version_without_change(project),
        "is_made": under_way is not None and under_way.status != VersionRequest.Status.STOPPED,
        "editions": editions_of(project, request.user),
    }
    return render_in_project(request, project, "versions/versions.html", context, status=outcome.status)


@login_required
@require_POST
def new_edition(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    try:
        made = start_edition(project=project, by=request_user(request))
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("versions", slug)
    messages.success(request, gettext("Change the guideline and invite raters. Then open Round I."))
    return redirect("project", made.project.slug)
