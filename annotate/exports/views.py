"""Exports: snapshots that a worker writes, and immediate downloads of single tables."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core import access
from annotate.core.errors import DomainError
from annotate.core.jobs import worker_health
from annotate.core.models import Export, Push, Role
from annotate.core.page import FormOutcome, MessageOutcome, Request, render_in_project, request_user
from annotate.core.strings import is_for_spreadsheet
from annotate.exports.choice import Format
from annotate.exports.citation import Datasheet
from annotate.exports.commands import (
    delete_export,
    note_export,
    restart_export,
    save_datasheet,
    start_export,
    start_push,
)
from annotate.exports.files import download_table
from annotate.exports.formats.text import FORMATS
from annotate.exports.forms import EVERYTHING, DatasheetForm, ExportFileForm, ExportForm, PushForm
from annotate.exports.hub import hub_is_configured
from annotate.exports.queries import exports_of, pushes_of, state_of
from annotate.exports.registry import TABLES
from annotate.exports.restoring import restore_export
from annotate.exports.restoring.archive import ExportArchive, refuse_unfit_upload


@login_required
@require_http_methods(["GET", "POST"])
def exports(request: Request, slug: str) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    chosen = request.GET.get("format")  # links to this page may choose it
    initial = {**EVERYTHING, "format": chosen} if chosen in set(Format) else EVERYTHING
    form = ExportForm(request.POST) if request.method == "POST" else ExportForm(initial=initial)
    try:
        if form.is_valid():
            made = start_export(project=project, choice=form.choice, by=request_user(request))
            return redirect("export", slug, made.pk)
    except DomainError as error:
        form.add_error(None, error.message)
    context: dict[str, Any] = {
        "form": form,
        "states": [state_of(each) for each in exports_of(project)],
        "tables": TABLES.values(),
        "formats": list(FORMATS),
        "workers": worker_health(),
        "is_admin": Role.ADMIN in access.roles_in(request.user, project),
    }
    status = 422 if form.is_bound else 200
    return render_in_project(request, project, "exports/exports.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def project_from_export(request: HttpRequest) -> HttpResponse:
    """Restore the project of an export, with the user as its admin."""
    access.refuse_all_but_project_makers(request.user)
    form = ExportFileForm(request.POST or None, request.FILES or None)
    try:
        if form.is_valid():
            with NamedTemporaryFile(suffix=".zip") as file:
                file.writelines(form.cleaned_data["file"].chunks())
                # The archive opens the file by its name, so all of it must be on disk.
                file.flush()
                # Before it is opened: a small zip file may unpack to more than the memory.
                refuse_unfit_upload(Path(file.name))
                archive = ExportArchive(Path(file.name))
                project = restore_export(archive=archive, admin=request_user(request))
            messages.success(request, gettext("The export is imported. You are an admin of its project."))
            if archive.ignored:
                messages.warning(request, archive.ignored)
            return redirect("project", project.slug)
    except DomainError as error:
        form.add_error("file", error.message)
    status = 422 if form.is_bound else 200
    return render(request, "exports/from_export.html", {"form": form}, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def datasheet(request: Request, slug: str) -> HttpResponse:
    """Show the authors' description of the data set. Admins can edit it for future exports."""
    project = access.project_for_admin(request.user, slug)
    written = DatasheetForm.values_of(Datasheet.from_dict(project.datasheet))
    form = DatasheetForm(request.POST) if request.method == "POST" else DatasheetForm(initial=written)
    if form.is_valid():
        save_datasheet(project=project, datasheet=form.datasheet, by=request_user(request))
        messages.success(request, gettext("The datasheet is saved. Exports from now on have it."))
        return redirect("datasheet", slug)
    status = 422 if form.is_bound else 200
    return render_in_project(request, project, "exports/datasheet.html", {"form": form}, status=status)


@login_required
@require_GET
def export(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show the state of an export, and its file and content when it is ready."""
    project = access.project_for_reader(request.user, slug)
    found = access.export_in(project, pk)
    template = "exports/export.html#state" if request.htmx else "exports/export.html"
    return render_in_project(request, project, template, _context(request, found))


@login_required
@require_POST
def export_push(request: Request, slug: str, pk: int) -> HttpResponse:
    project = access.project_for_admin(request.user, slug)
    found = access.export_in(project, pk)
    form = PushForm(request.POST)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            start_push(export=found, by=request_user(request), **form.cleaned_data)
            return redirect("export", slug, pk)
    context = {**_context(request, found), "push_form": form}
    return render_in_project(request, project, "exports/export.html", context, status=outcome.status)


def _context(request: Request, export: Export) -> dict[str, Any]:
    is_admin = Role.ADMIN in access.roles_in(request.user, export.project)
    # Only such an export can be pushed.
    is_data_set = export.format == Format.HUGGING_FACE and export.status == Export.Status.READY
    pushes = list(pushes_of(export))
    return {
        "state": state_of(export),
        "pushes": pushes,
        "is_pushed": any(push.status in (Push.Status.WAITING, Push.Status.PUSHING) for push in pushes),
        "push_form": PushForm() if is_admin and is_data_set else None,
        "hub_is_configured": hub_is_configured(export.project.slug),
    }


@login_required
@require_GET
def export_file(request: HttpRequest, slug: str, pk: int) -> FileResponse:
    found = access.export_in(access.project_for_reader(request.user, slug), pk)
    if found.status != Export.Status.READY:
        raise Http404(gettext("This export is not ready."))
    return FileResponse(found.file.open("rb"), as_attachment=True, filename=state_of(found).file_name)


@login_required
@require_POST
def export_again(request: Request, slug: str, pk: int) -> HttpResponse:
    found = access.export_in(access.project_for_reader(request.user, slug), pk)
    with MessageOutcome(request):
        restart_export(export=found)
    return redirect("export", slug, pk)


@login_required
@require_POST
def export_delete(request: Request, slug: str, pk: int) -> HttpResponse:
    delete_export(export=access.export_in(access.project_for_reader(request.user, slug), pk))
    messages.success(request, gettext("The export and its file were deleted."))
    return redirect(reverse("exports", args=[slug]))


@login_required
@require_GET
def export_one(request: HttpRequest, slug: str, table: str, format: str) -> StreamingHttpResponse:
    """Stream one table in its current state."""
    project = access.project_for_reader(request.user, slug)
    if table not in TABLES or format not in FORMATS:
        raise Http404(gettext("There is no such table or format."))
    note_export(project=project, what=table, format=format)
    defuses = is_for_spreadsheet(request.GET)
    return download_table(project, TABLES[table], table, format, defuses_formulas=defuses)
