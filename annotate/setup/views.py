from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import (
    dimension_in,
    image_in,
    membership,
    project_for_admin,
    refuse_all_but_project_makers,
    saved_template_of,
)
from annotate.core.configuration import is_frozen, refuse_frozen
from annotate.core.errors import DomainError
from annotate.core.files import image_type
from annotate.core.guideline import DimensionSpec, ProjectTemplate
from annotate.core.guidelines import current_guideline
from annotate.core.keys import ACTIONS
from annotate.core.models import Dimension, Project
from annotate.core.page import FormOutcome, MessageOutcome, Request, render_in_project, request_user
from annotate.core.preferences import key_map_of
from annotate.core.rounds import round_one
from annotate.core.strings import read_number
from annotate.rating.queries.plans import plan_of
from annotate.rating.queries.work import rows_as_html
from annotate.setup.commands import (
    add_dimension,
    add_image,
    ask_again,
    create_project,
    duplicate_dimension,
    import_template,
    move_dimension,
    remove_dimension,
    remove_image,
    remove_template,
    reword_dimension,
    reword_guidelines,
    save_template,
    update_dimension,
    update_project,
)
from annotate.setup.forms import DimensionForm, NewProjectForm, SettingsPageForm, initial_of
from annotate.setup.presets import TEMPLATES
from annotate.setup.queries import (
    earlier_questions,
    material_of_questions,
    own_templates,
    preview_page,
    setup_of,
    template_for,
    template_of,
    wording,
)
from annotate.setup.template_file import to_json, to_yaml

# A project's dimensions: listed, added, edited, put in order, removed.


@login_required
@require_GET
def dimensions(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    context = {
        "dimensions": list(project.dimensions.prefetch_related("points")),
        "frozen": is_frozen(project),
        "material": material_of_questions(project),
        "moved": request.GET.get("moved"),
        "way": request.GET.get("way"),
    }
    return render_in_project(request, project, "setup/dimensions.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def dimension_new(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    with MessageOutcome(request):
        refuse_frozen(project)
        return _edit(request, project, None, lambda spec: add_dimension(project=project, dimension=spec))
    return redirect("dimensions", slug)


@login_required
@require_http_methods(["GET", "POST"])
def dimension(request: Request, slug: str, key: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    edited = dimension_in(project, key)

    def save(spec: DimensionSpec) -> Dimension:
        if not is_frozen(project):
            return update_dimension(dimension=edited, to=spec)
        note, by = request.POST.get("note", ""), request_user(request)
        reword_dimension(dimension=edited, to=spec, note=note, by=by)
        return edited

    return _edit(request, project, edited, save)


@login_required
@require_POST
def dimension_move(request: Request, slug: str, key: str) -> HttpResponse:
    moved = dimension_in(project_for_admin(request.user, slug), key)
    way = "up" if "up" in request.POST else "down"
    with MessageOutcome(request):
        move_dimension(dimension=moved, up=way == "up")
    # The page focuses the same button again, so one key moves a dimension several steps.
    return redirect(f"{reverse('dimensions', args=[slug])}?moved={moved.key}&way={way}")


@login_required
@require_POST
def dimension_duplicate(request: Request, slug: str, key: str) -> HttpResponse:
    copied = dimension_in(project_for_admin(request.user, slug), key)
    with MessageOutcome(request):
        made = duplicate_dimension(dimension=copied)
        said = gettext("{name} was added below {name_2}. Give it its own name.")
        messages.success(request, said.format(name=made.name, name_2=copied.name))
        return redirect("dimension", slug, made.key)
    return redirect("dimensions", slug)


@login_required
@require_POST
def dimension_remove(request: Request, slug: str, key: str) -> HttpResponse:
    removed = dimension_in(project_for_admin(request.user, slug), key)
    with MessageOutcome(request):
        remove_dimension(dimension=removed)
        messages.success(request, gettext("{name} is removed.").format(name=removed.name))
    return redirect("dimensions", slug)


def _edit(
    request: Request,
    project: Project,
    edited: Dimension | None,
    save: Callable[[DimensionSpec], Dimension],
) -> HttpResponse:
    earlier = earlier_questions(project, edited)
    # These buttons change the form and save nothing.
    if request.POST.keys() & {"show", "usual", "more"}:
        return _page(request, project, edited, DimensionForm.from_entered(request.POST, earlier))
    entered = request.POST if request.method == "POST" else None
    form = DimensionForm(entered, initial=initial_of(edited), frozen=is_frozen(project), earlier=earlier)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            messages.success(request, gettext("{name} is saved.").format(name=save(form.to_spec()).name))
            return redirect("dimensions", project.slug)
    return _page(request, project, edited, form, status=outcome.status)


PARTS_OF_PAGE = {
    **{"points": "#scale", "schema": "#schema", "preview": "#preview"},
    **{"kind": "#question", "condition": "#condition"},
}


def _page(
    request: Request,
    project: Project,
    edited: Dimension | None,
    form: DimensionForm,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the page, or for htmx the part of it that `show` names."""
    part = PARTS_OF_PAGE.get(request.POST.get("show", ""), "")
    template = "setup/dimension.html" + (part if request.htmx else "")
    context = {"form": form, "dimension": edited}
    return render_in_project(request, project, template, context, status=status)


# Images of guidelines: uploaded and listed by admins, visible to everyone in the project.


class PictureForm(forms.Form):
    file = forms.FileField(
        label=_("Image"),
        help_text=_("PNG, JPEG, GIF or WebP, up to 2 MB. Only people in this project can open it."),
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg,image/gif,image/webp"}),
    )


@login_required
@require_http_methods(["GET", "POST"])
def images(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    form = PictureForm(request.POST, request.FILES) if request.method == "POST" else PictureForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            add_image(project=project, by=request_user(request), name=file.name, content=file.read())
            return redirect("images", slug)
        except DomainError as error:
            form.add_error("file", error.message)
    context = {"form": form, "images": list(project.images.all())}
    return render_in_project(
        request, project, "setup/images.html", context, status=422 if form.is_bound else 200
    )


@login_required
@require_GET
def image(request: Request, slug: str, key: str) -> HttpResponse:
    found = image_in(membership(request.user, slug).project, key)
    with found.file.open("rb") as file:
        response = HttpResponse(file.read(), content_type=image_type(found.key))
    response["Cache-Control"] = "private, max-age=31536000, immutable"  # its URL depends on its content
    # A browser that takes the file for a page must not run or load anything in it.
    response["Content-Security-Policy"] = "default-src 'none'"
    return response


@login_required
@require_POST
def image_remove(request: Request, slug: str, key: str) -> HttpResponse:
    found = image_in(project_for_admin(request.user, slug), key)
    with MessageOutcome(request):
        remove_image(image=found)
        messages.success(request, gettext("“{name}” is removed.").format(name=found.name))
    return redirect("images", slug)


# A person's projects, and beginning one.


@login_required
@require_http_methods(["GET", "POST"])
def project_new(request: HttpRequest) -> HttpResponse:
    refuse_all_but_project_makers(request.user)
    user = request_user(request)
    entered = request.POST if request.method == "POST" else None
    # The default is no key at all: an empty one would select “Nothing”.
    form = NewProjectForm(entered, own=own_templates(user), start=request.GET.get("template", "-"))
    if form.is_valid():
        template = template_for(user, form.cleaned_data["template"])
        project = create_project(user=user, name=form.cleaned_data["name"], template=template)
        return redirect("imports", project.slug)
    return render(request, "setup/new.html", {"form": form}, status=422 if form.is_bound else 200)


# A project's settings.


@login_required
@require_http_methods(["GET", "POST"])
def settings(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    frozen = is_frozen(project)
    entered = request.POST if request.method == "POST" else None
    form = SettingsPageForm(entered, project=project, frozen=frozen)
    with FormOutcome(request, form) as outcome:
        if "show" in request.POST:
            outcome.status = 200
        elif form.is_valid():
            # Guidelines of an open round change by a new version, which needs a note.
            if frozen and form.reworded:
                reword_guidelines(
                    project=project,
                    guidelines=form.cleaned_data["guidelines"],
                    note=form.cleaned_data["note"],
                    by=request_user(request),
                )
            update_project(project=project, **form.settings)
            messages.success(request, gettext("The settings are saved."))
            return redirect("review" if request.POST.get("then") == "review" else "settings", slug)
    template = "setup/settings.html#preview" if request.htmx else "setup/settings.html"
    shown = {"form": form, "frozen": frozen, "form_before_next": "settings-form"}
    return render_in_project(request, project, template, shown, status=outcome.status)


# The end of the set-up: everything at a glance, and the annotator's screen on a real item.


@login_required
@require_GET
def review(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    if setup_of(project) is None:
        return redirect("project", slug)
    context = {
        "guideline": current_guideline(project),
        "documents": project.documents.count(),
        "systems": list(
            project.systems.filter(compares=False).order_by("name").values_list("name", flat=True)
        ),
        "plan": plan_of(project),
        "members": list(
            project.memberships.filter(active=True).select_related("user").order_by("role", "label")
        ),
    }
    return render_in_project(request, project, "setup/review.html", context)


@login_required
@require_GET
# The review shows this page in a frame, which Django forbids by default.
@xframe_options_sameorigin
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    page, guideline = preview_page(project, read_number(request.GET.get("item", "")) or 1)
    context = {
        "project": project,
        "round": page.assignment.round,
        "page": page,
        "rows_html": rows_as_html(project, page),
        "guideline": guideline,
        "preview": True,
        "key_map": key_map_of(request.user),
        "key_actions": ACTIONS,
    }
    return render(request, "rating/item.html", context)


# Templates of projects: listed, saved, exported, imported, removed.


class TemplateFileForm(forms.Form):
    file = forms.FileField(
        label=_("Template"),
        help_text=_("A YAML or JSON file that a project or this page exported."),
        widget=forms.ClearableFileInput(
            attrs={"accept": "application/yaml,application/json,.yaml,.yml,.json"}
        ),
    )


@login_required
@require_http_methods(["GET", "POST"])
def templates(request: HttpRequest) -> HttpResponse:
    refuse_all_but_project_makers(request.user)
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
    return render(request, "setup/templates.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def template_file(request: HttpRequest, key: str, ending: str) -> HttpResponse:
    refuse_all_but_project_makers(request.user)
    found = template_for(request_user(request), key)
    if found is None:
        raise Http404(gettext("There is no such template."))
    return _download_file(found, ending)


@login_required
@require_POST
def template_remove(request: HttpRequest, pk: int) -> HttpResponse:
    template = saved_template_of(request.user, pk)
    remove_template(template=template)
    messages.success(request, gettext("“{name}” is removed.").format(name=template.name))
    return redirect("templates")


@login_required
@require_GET
def as_template(request: HttpRequest, slug: str) -> HttpResponse:
    return render_in_project(request, project_for_admin(request.user, slug), "setup/as_template.html")


@login_required
@require_http_methods(["GET", "POST"])
def project_template(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a project as a template, in YAML unless `format` is json; a POST saves it to the person's own
    templates.
    """
    project = project_for_admin(request.user, slug)
    if request.method == "GET":
        return _download_file(template_of(project), request.GET.get("format", "yaml"))
    made = save_template(owner=request_user(request), template=template_of(project))
    messages.success(request, gettext("“{name}” is one of your templates now.").format(name=made.name))
    return redirect("templates")


def _download_file(template: ProjectTemplate, ending: str) -> HttpResponse:
    # A slug is ASCII without quotes, so the header can contain it unchanged.
    name = slugify(template.name)[:60] or "template"
    if ending == "json":
        response = HttpResponse(to_json(template), content_type="application/json")
    else:
        ending = "yaml"
        response = HttpResponse(to_yaml(template), content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.concord-template.{ending}"'
    return response


# Versions of the guideline after a round was opened, and asking raters again.


@login_required
@require_GET
def versions(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    versions, to_ask = wording(project)
    context = {"versions": versions, "to_ask": to_ask}
    return render_in_project(request, project, "setup/guideline_versions.html", context)


@login_required
@require_POST
def ask(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    dimension, round = dimension_in(project, key), round_one(project)
    if round is None:
        raise Http404(gettext("Round I has not been opened."))
    with MessageOutcome(request):
        asked = ask_again(round=round, dimension=dimension)
        said = gettext("Raters review {asked:,} of their ratings of {name} now.")
        messages.success(request, said.format(asked=asked, name=dimension.name))
    return redirect("guideline_versions", slug)
