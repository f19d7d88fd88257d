"""Export: what there is to take away, and the streams themselves."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from annotate import access
from annotate.commands.exports import note_export
from annotate.exporting import FORMATS, export_everything, export_table
from annotate.queries.export import TABLES
from annotate.views.page import render_in_project

CONTENT_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}


@login_required
@require_GET
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    """List the tables that admins and researchers can take away."""
    project = access.project_for_reader(request.user, slug)
    context = {"tables": TABLES.values(), "formats": list(FORMATS)}
    return render_in_project(request, project, "exports/exports.html", context)


@login_required
@require_GET
def export_all(request: HttpRequest, slug: str, format: str) -> StreamingHttpResponse:
    """Stream all tables as one zip file."""
    project = access.project_for_reader(request.user, slug)
    if format not in FORMATS:
        raise Http404("There is no such format.")
    note_export(project=project, what="everything", format=format)
    return attachment(
        StreamingHttpResponse(export_everything(project, format), content_type="application/zip"),
        f"{project.slug}-{format}.zip",
    )


@login_required
@require_GET
def export_one(request: HttpRequest, slug: str, table: str, format: str) -> StreamingHttpResponse:
    """Stream one table."""
    project = access.project_for_reader(request.user, slug)
    if table not in TABLES or format not in FORMATS:
        raise Http404("There is no such table or format.")
    note_export(project=project, what=table, format=format)
    stream = export_table(project, TABLES[table], format)
    return attachment(
        StreamingHttpResponse(stream, content_type=CONTENT_TYPES[format]),
        f"{project.slug}-{table}.{format}",
    )


def attachment(response: StreamingHttpResponse, filename: str) -> StreamingHttpResponse:
    """Return the response as a file to be kept under this name."""
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
