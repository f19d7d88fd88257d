"""A project's prompts: listed, written, changed, shown on real items, given and taken as files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core.access import project_for_admin
from annotate.core.errors import DomainError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.page import Request, request_user
from judges.core.access import may_change_judges, project_for_judges, template_in
from judges.core.models import PromptTemplate
from judges.core.page import add_refusal, render_judges
from judges.endpoints.commands import create_template, edit_template
from judges.endpoints.forms.templates import ShownOnForm, TemplateForm
from judges.endpoints.queries import preview_of, templates_of, tried_replies, versions_of, was_asked
from judges.methods import METHODS, Method
from judges.methods.reading.pattern import problem_of_pattern


@login_required
@require_GET
def templates(request: Request, slug: str) -> HttpResponse:
    """List the prompts with their versions."""
    project = project_for_judges(request.user, slug)
    context = {"templates": templates_of(project), "methods": METHODS.values()}
    return render_judges(request, project, "judges/endpoints/templates.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def template_new(request: Request, slug: str, method: str) -> HttpResponse:
    """Write a prompt, beginning with the method's own text."""
    project = project_for_admin(request.user, slug)
    chosen = _method(method)
    entered = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = TemplateForm(*entered, method=method, initial={"text": chosen.default_template})
    if "show" in request.POST:
        return _preview(request, project, chosen, form)
    status = 422 if form.is_bound else 200
    try:
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in ("name", "text", "pattern")}
            made = create_template(project=project, method=method, by=request_user(request), **values)
            messages.success(request, gettext("{made} is saved.").format(made=made))
            return redirect("template", slug, made.pk)
    except DomainError as error:
        status = add_refusal(form, error)
    return _page(request, project, chosen, form, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def template(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a version of a prompt; admins change it, or make the next one once it was asked with."""
    project = project_for_judges(request.user, slug)
    edited = template_in(project, pk)
    method, reads = _method(edited.method), not may_change_judges(request.user, project)
    entered = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    initial = {"text": edited.text, "pattern": edited.pattern}
    form = TemplateForm(*entered, method=edited.method, named=True, reads=reads, initial=initial)
    if "show" in request.POST:
        return _preview(request, project, method, form, edited)
    if request.method == "GET":
        return _page(request, project, method, form, edited)
    return _save(request, project_for_admin(request.user, slug), edited, form)


@login_required
@require_GET
def template_text(request: Request, slug: str, pk: int) -> HttpResponse:
    """Give a version's text as a file, to be changed elsewhere and uploaded again."""
    given = template_in(project_for_judges(request.user, slug), pk)
    name = f"{given.method}-{given.pk}.txt"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(given.text, content_type="text/plain; charset=utf-8", headers=headers)


def _save(request: Request, project: Project, edited: PromptTemplate, form: TemplateForm) -> HttpResponse:
    status = 422
    try:
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in ("text", "pattern")}
            saved = edit_template(template=edited, by=request_user(request), **values)
            messages.success(request, gettext("{saved} is saved.").format(saved=saved))
            return redirect("template", project.slug, saved.pk)
    except DomainError as error:
        status = add_refusal(form, error)
    return _page(request, project, _method(edited.method), form, edited, status=status)


def _preview(
    request: Request,
    project: Project,
    method: Method,
    form: TemplateForm,
    edited: PromptTemplate | None = None,
) -> HttpResponse:
    """Show the text as typed so far, which is not saved and may not be right yet."""
    if request.htmx:
        return _page(request, project, method, form, edited, part="#preview")
    names = ("text", "name", "pattern", "replies")
    typed = {**form.initial, **{name: request.POST.get(name, "") for name in names}}
    unsaved = TemplateForm(method=method.key, named=edited is not None, initial=typed)
    return _page(request, project, method, unsaved, edited)


def _page(
    request: Request,
    project: Project,
    method: Method,
    form: TemplateForm,
    edited: PromptTemplate | None = None,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    dimensions = list(project.dimensions.values_list("key", "name"))
    shown_on = ShownOnForm(request.POST or None, dimensions=dimensions)
    preview = preview_of(project, method.key, form["text"].value() or "", **shown_on.chosen())
    context: dict[str, Any] = {"form": form, "method": method, "preview": preview, "shown_on": shown_on}
    if request.POST.get("replies") and preview.dimension and not part:
        context |= _tried(method, request, preview.dimension)
    if edited and not part:
        context |= {"versions": versions_of(edited), "was_asked": was_asked(edited)}
    context["edited"] = edited
    return render_judges(request, project, f"judges/endpoints/template.html{part}", context, status=status)


def _tried(method: Method, request: Request, dimension: FrozenDimension) -> dict[str, Any]:
    """Return what is read in pasted replies, or why the pattern cannot be used."""
    pattern = request.POST.get("pattern", "").strip()
    if problem := problem_of_pattern(pattern):
        return {"pattern_problem": problem}
    return {"tried": tried_replies(method, pattern, request.POST["replies"], dimension)}


def _method(key: str) -> Method:
    if key not in METHODS:
        raise Http404(gettext("There is no such method."))
    return METHODS[key]
