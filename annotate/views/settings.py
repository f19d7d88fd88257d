"""A project's settings."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotate.access import project_for_admin
from annotate.commands.projects import update_project
from annotate.commands.wording import reword_guidelines
from annotate.errors import DomainError
from annotate.forms.projects import SettingsPageForm
from annotate.queries.projects import is_frozen
from annotate.views.page import Request, render_in_project, request_user


@login_required
@require_http_methods(["GET", "POST"])
def settings(request: Request, slug: str) -> HttpResponse:
    """Show and change what holds for the whole project; `show` renders the guidelines and saves nothing."""
    project = project_for_admin(request.user, slug)
    frozen = is_frozen(project)
    entered = request.POST if request.method == "POST" else None
    form = SettingsPageForm(entered, project=project, frozen=frozen)
    status = 200
    if request.method == "POST" and "show" not in request.POST:
        status = 422
        try:
            if form.is_valid():
                if frozen and form.reworded:
                    reword_guidelines(
                        project=project,
                        guidelines=form.cleaned_data["guidelines"],
                        note=form.cleaned_data["note"],
                        by=request_user(request),
                    )
                update_project(project=project, **form.settings)
                messages.success(request, gettext("The settings are saved."))
                return redirect("settings", slug)
        except DomainError as error:
            form.add_error(None, error.message)
            status = error.status
    template = "projects/settings.html#preview" if request.htmx else "projects/settings.html"
    return render_in_project(request, project, template, {"form": form, "frozen": frozen}, status=status)
