"""Pages of a project's prompts, with previews on real items, downloads and uploads."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core.access import project_for_admin
from annotate.core.jobs import is_silent
from annotate.core.models import Dimension, Project
from annotate.core.page import FormOutcome, MessageOutcome, Request, request_user
from judges.core.access import dimension_in, may_change_judges, project_for_judges, template_in
from judges.core.models import PromptTemplate, StepsWriting
from judges.core.page import render_judges
from judges.endpoints.commands import create_template, edit_template, edit_wording
from judges.endpoints.evaluation_steps import (
    has_written_part,
    latest_steps_writing,
    start_steps_writing,
    writes_schema,
)
from judges.endpoints.forms.judges import ShownOnForm, StepsForm, TemplateForm
from judges.endpoints.queries import (
    keys_of_dimensions,
    preview_of,
    shipped_prompt,
    shipped_prompts_of,
    templates_of,
    tried_replies,
    usable_judges,
    versions_of,
    was_asked,
    wordings_of,
)
from judges.methods import METHODS, Method
from judges.methods.reading.reader import problem_of_pattern


@login_required
@require_GET
def templates(request: Request, slug: str) -> HttpResponse:
    project = project_for_judges(request.user, slug)
    shipped = [(method, shipped_prompts_of(key)) for key, method in METHODS.items()]
    context = {"templates": templates_of(project), "shipped": shipped}
    return render_judges(request, project, "judges/endpoints/templates.html", context)


@dataclass(frozen=True)
class Written:
    """The content edited on a page: a method's new prompt, a version, or one dimension's wording of it.

    begins_with: the initial content of a new prompt.
    """

    method: Method
    version: PromptTemplate | None = None
    dimension: Dimension | None = None
    begins_with: str = ""

    def form(self, *entered: Any, **kwargs: Any) -> TemplateForm:
        kind = {"named": self.version is not None, "of_dimension": self.dimension is not None}
        return TemplateForm(*entered, method=self.method.key, **kind, **kwargs)

    @property
    def text(self) -> str:
        if self.version is None:
            return self.begins_with
        return self.version.text_about(self.dimension.pk) if self.dimension else self.version.text

    @property
    def other_wordings(self) -> dict[str, str]:
        """Wordings that replace the common one, by the dimension's id."""
        return self.version.wordings if self.version and not self.dimension else {}


@login_required
@require_http_methods(["GET", "POST"])
def template_new(request: Request, slug: str, key: str) -> HttpResponse:
    """Write a prompt, starting from a shipped one."""
    project = project_for_admin(request.user, slug)
    try:
        shipped = shipped_prompt(key)
    except KeyError:
        raise Http404(gettext("There is no such method.")) from None
    written = Written(METHODS[shipped.method], begins_with=shipped.text)
    form = written.form(*_entered_data(request), initial={"text": written.text})
    # A preview reads the unsaved input and writes nothing.
    if "show" in request.POST:
        return _preview(request, project, written, form)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            values = {name: form.cleaned_data.get(name, "") for name in ("name", "text", "pattern")}
            made = create_template(project=project, method=shipped.method, by=request_user(request), **values)
            return _to_saved(request, project, made)
    return _page(request, project, written, form, status=outcome.status)


@login_required
@require_http_methods(["GET", "POST"])
def template(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show a version of a prompt; admins change it, or create the next one once judgments used it.

    `dimension` in the URL: the dimension to show, which may have its own wording.
    """
    project = project_for_judges(request.user, slug)
    edited, dimension = template_in(project, pk), _dimension(request, project)
    written = Written(_method(edited.method), edited, dimension)
    reads, initial = not may_change_judges(request.user, project), {"pattern": edited.pattern}
    form = written.form(*_entered_data(request), reads=reads, initial={"text": written.text, **initial})
    if "show" in request.POST:
        return _preview(request, project, written, form)
    if request.method == "GET":
        return _page(request, project, written, form)
    # Researchers may read and preview a prompt, and only admins change it.
    project_for_admin(request.user, slug)
    by, saves_common = request_user(request), dimension is not None and "common" in request.POST
    with FormOutcome(request, form) as outcome:
        if saves_common or form.is_valid():
            if dimension is None:
                values = {name: form.cleaned_data.get(name, "") for name in ("text", "pattern")}
                return _to_saved(request, project, edit_template(template=edited, by=by, **values))
            # With `common`, the common wording replaces the dimension's own.
            text = edited.text if saves_common else form.cleaned_data["text"]
            saved = edit_wording(template=edited, dimension=dimension, text=text, by=by)
            return _to_saved(request, project, saved, f"?dimension={dimension.key}")
    return _page(request, project, written, form, status=outcome.status)


@login_required
@require_GET
def template_text(request: Request, slug: str, pk: int) -> HttpResponse:
    """Return a version as a file, for editing elsewhere and uploading again."""
    project = project_for_judges(request.user, slug)
    given, dimension = template_in(project, pk), _dimension(request, project)
    name = "-".join([given.method, str(given.pk), *([dimension.key] if dimension else [])])
    headers = {"Content-Disposition": f'attachment; filename="{name}.txt"'}
    text = Written(_method(given.method), given, dimension).text
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


@login_required
@require_http_methods(["GET", "POST"])
def template_steps(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a prompt's evaluation steps; a POST requests them."""
    project = project_for_judges(request.user, slug)
    edited = template_in(project, pk)
    if request.method == "POST":
        # Readers see the progress; only admins let a model write steps.
        project_for_admin(request.user, slug)
        form = StepsForm(request.POST, judges=usable_judges(project))
        with MessageOutcome(request):
            if form.is_valid():
                by = request_user(request)
                start_steps_writing(template=edited, judge=form.cleaned_data["judge"], by=by)
        return redirect(reverse("template", args=[slug, pk]) + "#steps")
    if not request.htmx:
        return redirect("template", slug, pk)
    context = {"edited": edited, "steps": _steps_of(request, project, edited)}
    return render_judges(request, project, "judges/endpoints/_steps.html", context)


def _steps_of(request: Request, project: Project, edited: PromptTemplate) -> dict[str, Any] | None:
    """Return the steps for the page, None for a prompt without steps.

    form: None if no judge can be called or the reader lacks the permission. calls: the number of dimensions
    without a wording. is_schema: True if the model writes a schema instead, in one call. moves: True if a
    worker runs it, or should.
    """
    if not has_written_part(edited):
        return None
    judges, latest = usable_judges(project), latest_steps_writing(edited)
    may_ask = may_change_judges(request.user, project) and judges.exists()
    keys = set(keys_of_dimensions(project.pk))
    is_schema = writes_schema(edited)
    # A dimension with its own wording has its steps, which no model replaces.
    calls = 1 if is_schema else len(keys - {int(pk) for pk in edited.wordings})
    moves = latest is not None and latest.status in StepsWriting.UNDER_WAY
    return {
        "latest": latest,
        "form": StepsForm(None, judges=judges) if may_ask and calls else None,
        "calls": calls,
        "is_schema": is_schema,
        "moves": moves,
        "waits_for_worker": moves and is_silent(latest),
    }


def _entered_data(request: Request) -> tuple[Any, Any]:
    return (request.POST, request.FILES) if request.method == "POST" else (None, None)


def _dimension(request: Request, project: Project) -> Dimension | None:
    key = request.GET.get("dimension", "").replace("\0", "")  # PostgreSQL takes no NUL
    return dimension_in(project, key) if key else None


def _to_saved(
    request: Request, project: Project, saved: PromptTemplate, query: str = ""
) -> HttpResponseRedirect:
    messages.success(request, gettext("{saved} is saved.").format(saved=saved))
    return redirect(reverse("template", args=[project.slug, saved.pk]) + query)


def _preview(request: Request, project: Project, written: Written, form: TemplateForm) -> HttpResponse:
    """Show the unsaved input, which may be invalid."""
    if request.htmx:
        return _page(request, project, written, form, part="#preview")
    # The input becomes the initial values of a fresh form, which shows no errors yet.
    names = ("text", "name", "pattern", "replies")
    typed = {**form.initial, **{name: request.POST.get(name, "") for name in names}}
    return _page(request, project, written, written.form(initial=typed))


def _page(
    request: Request,
    project: Project,
    written: Written,
    form: TemplateForm,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    method, edited, dimension = written.method, written.version, written.dimension
    lines = wordings_of(project, edited)
    shown_on = ShownOnForm(request.POST or None, dimensions=[(key, name) for key, name, _ in lines])
    shown = shown_on.preview_choice(dimension.key if dimension else "")
    text: str = form["text"].value() or ""
    preview = preview_of(project, method.key, text, **shown, wordings=written.other_wordings)
    context: dict[str, Any] = {"form": form, "method": method, "preview": preview, "shown_on": shown_on}
    own = {key for key, _, is_own in lines if is_own}
    has_own = dimension is not None and dimension.key in own
    context |= {"edited": edited, "dimension": dimension, "wordings": lines, "has_own": has_own}
    # Pasted replies are read as in a run, with the pattern as it is on the page.
    if request.POST.get("replies") and preview.dimension and not part:
        pattern = request.POST.get("pattern", "").strip()
        if problem := problem_of_pattern(pattern):
            context["pattern_problem"] = problem
        else:
            pasted = request.POST["replies"]
            context["tried"] = tried_replies(project, method, pattern, pasted, preview.dimension)
    if edited and not part:
        context |= {"versions": versions_of(edited), "was_asked": was_asked(edited)}
        context["steps"] = _steps_of(request, project, edited)
    return render_judges(request, project, f"judges/endpoints/template.html{part}", context, status=status)


def _method(key: str) -> Method:
    if key not in METHODS:
        raise Http404(gettext("There is no such method."))
    return METHODS[key]
