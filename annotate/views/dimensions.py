"""A project's dimensions: listed, added, edited, put in order, removed."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.access import dimension_in, project_for_admin
from annotate.commands.configuration import refuse_frozen
from annotate.commands.dimensions import (
    add_dimension,
    duplicate_dimension,
    move_dimension,
    remove_dimension,
    update_dimension,
)
from annotate.commands.wording import reword_dimension
from annotate.errors import DomainError
from annotate.forms.dimensions import DimensionForm, initial_of
from annotate.models import Dimension, Project
from annotate.queries.projects import is_frozen
from annotate.specification import DimensionSpec
from annotate.views.page import Request, refusal_told, render_in_project, request_user


@login_required
@require_GET
def dimensions(request: Request, slug: str) -> HttpResponse:
    """List the dimensions in the order that annotators see."""
    project = project_for_admin(request.user, slug)
    context = {
        "dimensions": list(project.dimensions.prefetch_related("points")),
        "frozen": is_frozen(project),
        "moved": request.GET.get("moved"),
        "way": request.GET.get("way"),
    }
    return render_in_project(request, project, "dimensions/list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def dimension_new(request: Request, slug: str) -> HttpResponse:
    """Add a dimension."""
    project = project_for_admin(request.user, slug)
    try:
        refuse_frozen(project)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("dimensions", slug)
    return _edit(request, project, None, lambda spec: add_dimension(project=project, dimension=spec))


@login_required
@require_http_methods(["GET", "POST"])
def dimension(request: Request, slug: str, key: str) -> HttpResponse:
    """Edit a dimension; once it is frozen, its wording."""
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
    """Move a dimension up or down."""
    moved = dimension_in(project_for_admin(request.user, slug), key)
    way = "up" if "up" in request.POST else "down"
    with refusal_told(request):
        move_dimension(dimension=moved, up=way == "up")
    return redirect(f"{reverse('dimensions', args=[slug])}?moved={moved.key}&way={way}")


@login_required
@require_POST
def dimension_duplicate(request: Request, slug: str, key: str) -> HttpResponse:
    """Copy a dimension and open the copy."""
    copied = dimension_in(project_for_admin(request.user, slug), key)
    try:
        made = duplicate_dimension(dimension=copied)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("dimensions", slug)
    messages.success(
        request,
        gettext("{name} stands below {name_2}. Give it a name of its own.").format(
            name=made.name, name_2=copied.name
        ),
    )
    return redirect("dimension", slug, made.key)


@login_required
@require_POST
def dimension_remove(request: Request, slug: str, key: str) -> HttpResponse:
    """Remove a dimension."""
    removed = dimension_in(project_for_admin(request.user, slug), key)
    with refusal_told(request):
        remove_dimension(dimension=removed)
        messages.success(request, gettext("{name} is removed.").format(name=removed.name))
    return redirect("dimensions", slug)


def _edit(
    request: Request,
    project: Project,
    edited: Dimension | None,
    save: Callable[[DimensionSpec], Dimension],
) -> HttpResponse:
    if request.POST.keys() & {"show", "usual", "more"}:
        return _page(request, project, edited, DimensionForm.as_entered(request.POST))
    entered = request.POST if request.method == "POST" else None
    form = DimensionForm(entered, initial=initial_of(edited), frozen=is_frozen(project))
    status = 200 if entered is None else 422
    try:
        if form.is_valid():
            messages.success(request, gettext("{name} is saved.").format(name=save(form.to_spec()).name))
            return redirect("dimensions", project.slug)
    except DomainError as error:
        form.add_error(None, error.message)
        status = error.status
    return _page(request, project, edited, form, status=status)


def _page(
    request: Request,
    project: Project,
    edited: Dimension | None,
    form: DimensionForm,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the page, or for htmx the part of it that `show` names."""
    part = {"points": "#scale", "schema": "#schema", "preview": "#preview"}.get(
        request.POST.get("show", ""), ""
    )
    template = "dimensions/edit.html" + (part if request.htmx else "")
    context = {"form": form, "dimension": edited}
    return render_in_project(request, project, template, context, status=status)
