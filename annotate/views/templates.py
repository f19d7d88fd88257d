"""Templates of projects: listed, saved, exported, imported, removed."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.access import may_begin_projects, project_for_admin, saved_template_of
from annotate.commands.templates import import_template, remove_template, save_template
from annotate.errors import DomainError
from annotate.presets import TEMPLATES
from annotate.queries.templates import own_templates, template_for, template_of
from annotate.specification import ProjectTemplate
from annotate.template_file import to_json
from annotate.views.page import request_user


class TemplateFileForm(forms.Form):
    """A template that was exported."""

    file = forms.FileField(
        label=_("Template"),
        help_text=_("A JSON file that a project or this page exported."),
        widget=forms.ClearableFileInput(attrs={"accept": "application/json,.json"}),
    )


@login_required
@require_http_methods(["GET", "POST"])
def templates(request: HttpRequest) -> HttpResponse:
    """List the templates that this person can begin from; a POST imports one."""
    if not may_begin_projects(request.user):
        raise Http404(gettext("Only admins begin projects."))
    user = request_user(request)
    form = TemplateFileForm(request.POST, request.FILES) if request.method == "POST" else TemplateFileForm()
    if form.is_valid():
        try:
            made = import_template(owner=user, text=form.cleaned_data["file"].read())
            messages.success(
                request, gettext("“{name}” is one of your templates now.").format(name=made.name)
            )
            return redirect("templates")
        except DomainError as error:
            form.add_error("file", error.message.split("\n"))
    context = {"form": form, "presets": TEMPLATES.values(), "own": own_templates(user)}
    return render(request, "templates/list.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def template_file(request: HttpRequest, key: str) -> HttpResponse:
    """Send a template as a file."""
    found = template_for(request_user(request), key) if may_begin_projects(request.user) else None
    if found is None:
        raise Http404(gettext("There is no such template."))
    return _as_file(found)


@login_required
@require_POST
def template_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove one's own template."""
    template = saved_template_of(request.user, pk)
    remove_template(template=template)
    messages.success(request, gettext("“{name}” is removed.").format(name=template.name))
    return redirect("templates")


@login_required
@require_http_methods(["GET", "POST"])
def project_template(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a project as a template; a POST saves it among one's own."""
    project = project_for_admin(request.user, slug)
    if request.method == "GET":
        return _as_file(template_of(project))
    made = save_template(owner=request_user(request), template=template_of(project))
    messages.success(request, gettext("“{name}” is one of your templates now.").format(name=made.name))
    return redirect("templates")


def _as_file(template: ProjectTemplate) -> HttpResponse:
    name = slugify(template.name)[:60] or "template"
    response = HttpResponse(to_json(template), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}.concord-template.json"'
    return response
