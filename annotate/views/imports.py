"""Importing in the browser: upload, say what columns mean, see what will be made, import on the worker."""

import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from annotate.access import data_import_in, project_for_admin
from annotate.commands.uploads import receive_upload
from annotate.forms.imports import MappingForm, UploadForm
from annotate.importing.mapping_json import mapping_from_json, mapping_to_json
from annotate.importing.mappings import guess_mapping
from annotate.models import DataImport
from annotate.models.imports import MATERIAL
from annotate.queries.imports import Opening, Preview, imports_of, opening_of, preview_of, state_of
from annotate.queries.undoing import why_it_stays
from annotate.queries.workers import worker_health
from annotate.views.import_steps import start_on_worker
from annotate.views.page import Request, render_in_project, request_user


@login_required
@require_http_methods(["GET", "POST"])
def imports(request: Request, slug: str) -> HttpResponse:
    """List a project's imports; a POST uploads a file."""
    project = project_for_admin(request.user, slug)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        made = receive_upload(project=project, by=request_user(request), file=file, name=file.name)
        return redirect("data_import", slug, made.pk)
    context = {"form": form, "imports": imports_of(project), "workers": worker_health()}
    return render_in_project(
        request, project, "imports/list.html", context, status=422 if form.is_bound else 200
    )


@login_required
@require_http_methods(["GET", "POST"])
def data_import(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show where an import is, and before it is made how its file is read; a POST changes that."""
    project = project_for_admin(request.user, slug)
    upload = data_import_in(project, pk, MATERIAL)
    if upload.is_under_way or upload.status in (DataImport.Status.IMPORTED, DataImport.Status.UNDONE):
        return _progress(request, upload)
    if request.htmx and request.method == "GET":  # the progress that was polled has come to its end
        return HttpResponseClientRefresh()
    return _mapping(request, upload)


def _progress(request: Request, upload: DataImport) -> HttpResponse:
    template = "imports/import.html#state" if request.htmx else "imports/import.html"
    context: dict[str, Any] = {"state": state_of(upload)}
    if upload.status == DataImport.Status.IMPORTED:
        context["why_it_stays"] = why_it_stays(upload)
    return render_in_project(request, upload.project, template, context)


def _mapping(request: Request, upload: DataImport) -> HttpResponse:
    """Show how the file is read and what it makes; a POST imports it, unless it is only to `show` that."""
    opening = opening_of(upload)
    context: dict[str, Any] = {"state": state_of(upload), "opening": opening, "workers": worker_health()}
    if opening.problem:
        return render_in_project(request, upload.project, "imports/import.html", context)
    form = _mapping_form(request, upload, opening)
    if form.is_valid() and "show" not in request.POST:
        mapping = json.loads(mapping_to_json(form.cleaned_data["mapping"]))
        return start_on_worker(request, upload, mapping, form.cleaned_data["what"])
    context |= {"form": form, "preview": _preview(upload, opening, form)}
    template = "imports/import.html#preview" if request.htmx else "imports/import.html"
    status = 422 if form.is_bound and form.errors else 200
    return render_in_project(request, upload.project, template, context, status=status)


def _mapping_form(request: Request, upload: DataImport, opening: Opening) -> MappingForm:
    dimensions = list(upload.project.dimensions.values_list("name", flat=True))
    if upload.mapping:
        guess = mapping_from_json(json.dumps(upload.mapping))
    else:
        guess = guess_mapping(opening.records, dimensions)
    entered = request.POST if request.method == "POST" else None
    return MappingForm(
        entered,
        columns=opening.columns,
        examples=opening.examples,
        dimensions=dimensions,
        guess=guess,
        what=upload.what,
    )


def _preview(upload: DataImport, opening: Opening, form: MappingForm) -> Preview | None:
    """What the first records would make, None where the mapping does not say it."""
    if form.is_bound:
        mapping = form.cleaned_data.get("mapping") if form.is_valid() else None
        what = form.cleaned_data.get("what", "")
    else:
        mapping, what = form.guess, form.guessed_what
    if mapping is None or not (mapping.gives_items or mapping.gives_ratings):
        return None
    return preview_of(upload, opening, mapping, what)
