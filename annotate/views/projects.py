"""A person's projects, and beginning one."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.access import may_begin_projects
from annotate.commands.projects import create_project
from annotate.forms.projects import NewProjectForm
from annotate.queries.projects import project_cards
from annotate.queries.templates import own_templates, template_for
from annotate.views.page import request_user


@login_required
@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that this person has a place in."""
    context = {"cards": project_cards(request.user), "may_begin": may_begin_projects(request.user)}
    return render(request, "projects/list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def project_new(request: HttpRequest) -> HttpResponse:
    """Begin a project from a template or from nothing."""
    if not may_begin_projects(request.user):
        raise Http404(gettext("Only admins begin projects."))
    user = request_user(request)
    entered = request.POST if request.method == "POST" else None
    form = NewProjectForm(entered, own=own_templates(user), start=request.GET.get("template", "-"))
    if form.is_valid():
        template = template_for(user, form.cleaned_data["template"])
        project = create_project(user=user, name=form.cleaned_data["name"], template=template)
        return redirect("imports", project.slug)
    return render(request, "projects/new.html", {"form": form}, status=422 if form.is_bound else 200)
