"""Exports: snapshots asked for, followed and taken away."""

from django.db import transaction
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import export_in, project_for_reader
from annotate.api.forms import form_input, valid
from annotate.api.operations import READ_ERRORS, ApiView, operation, reads, writes
from annotate.commands.exports import delete_export, start_export
from annotate.forms.exports import ExportForm
from annotate.models import Export
from annotate.queries.exports import exports_of, state_of
from annotate.tasks import run_export
from annotate.views.page import request_user

ExportInput = form_input("ExportInput", ExportForm)


class ExportRow(serializers.ModelSerializer[Export]):
    """An export: what goes out, where it is, and once it is ready what is in it."""

    left_out = serializers.ListField(child=serializers.CharField())
    tables = serializers.DictField(child=serializers.IntegerField(), help_text="Rows by table.")

    class Meta:
        model = Export
        fields = (
            *("id", "format", "left_out", "licence", "status", "message", "size", "content_hash"),
            *("concord_version", "state_at", "tables", "created_at"),
        )


class Exports(ApiView):
    """The exports of a project."""

    about = "exports"

    @reads(ExportRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List exports."""
        return self.page(exports_of(project_for_reader(request.user, slug)), ExportRow)

    @writes(ExportRow, accepts=ExportInput, status=201, scopes=("read", "write"))
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a snapshot, which a worker writes; `parts` are what goes out beside the values."""
        project = project_for_reader(request.user, slug)
        choice = valid(ExportForm(self.checked(ExportInput))).choice
        made = start_export(project=project, choice=choice, by=request_user(request))
        transaction.on_commit(lambda: run_export.delay(made.pk), robust=True)
        return Response(ExportRow(made).data, status=201)


class OneExport(ApiView):
    """An export."""

    about = "exports"

    @reads(ExportRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show where an export is."""
        return Response(ExportRow(export_in(project_for_reader(request.user, slug), pk)).data)

    @writes(None, status=204, scopes=("read", "write"))
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete an export with its file."""
        delete_export(export=export_in(project_for_reader(request.user, slug), pk))
        return Response(status=204)


class ExportFile(ApiView):
    """The file of an export."""

    about = "exports"

    @operation(
        {(200, "application/octet-stream"): OpenApiTypes.BINARY},
        READ_ERRORS,
        scopes=("read",),
        parameters=[],
        request=None,
    )
    def get(self, request: Request, slug: str, pk: int) -> FileResponse:
        """Send the file of an export that is ready."""
        found = export_in(project_for_reader(request.user, slug), pk)
        if found.status != Export.Status.READY:
            raise Http404("This export is not ready.")
        return FileResponse(found.file.open("rb"), as_attachment=True, filename=state_of(found).file_name)
