"""Exports: snapshots requested, followed and downloaded."""

from django.http import FileResponse, Http404
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import READ_ERRORS, ApiView, operation, reads, writes
from annotate.api.values import Flag
from annotate.core.access import export_in, project_for_admin, project_for_reader
from annotate.core.models import Export, Push
from annotate.core.page import request_user
from annotate.exports.citation import Datasheet
from annotate.exports.commands import delete_export, save_datasheet, start_export, start_push
from annotate.exports.forms import EVERYTHING, DatasheetForm, ExportForm, PushForm
from annotate.exports.queries import exports_of, pushes_of, state_of

ExportInput = form_input("ExportInput", ExportForm, usual={"format": EVERYTHING["format"]})
DatasheetInput = form_input("DatasheetInput", DatasheetForm, all_optional=True)
PushInput = form_input(
    "PushInput",
    PushForm,
    private=Flag(required=False, default=True, help_text="Of a repository that is made for it."),
)


class ExportRow(serializers.ModelSerializer[Export]):
    """An export: its parts, its state, and its content once it is ready."""

    left_out = serializers.ListField(child=serializers.CharField())
    tables = serializers.DictField(child=serializers.IntegerField(), help_text="Rows by table.")

    class Meta:
        model = Export
        fields = (
            *("id", "format", "left_out", "licence", "status", "message", "size", "content_hash"),
            *("concord_version", "state_at", "tables", "created_at"),
        )


class PushRow(serializers.ModelSerializer[Push]):
    """A push to the Hub: its repository and its progress."""

    class Meta:
        model = Push
        fields = ("id", "repository", "private", "status", "message", "sent", "size", "url", "created_at")


class DatasheetRow(serializers.Serializer[Datasheet]):
    """The authors' description of a data set; empty fields have no content."""

    languages = serializers.ListField(child=serializers.CharField())
    task_categories = serializers.ListField(child=serializers.CharField())
    sections = serializers.DictField(child=serializers.CharField(), help_text="What is written, by section.")


class DatasheetOfProject(ApiView):
    """The authors' description of a data set."""

    about = "exports"

    @reads(DatasheetRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show the datasheet."""
        project = project_for_reader(request.user, slug)
        return Response(DatasheetRow(Datasheet.from_dict(project.datasheet)).data)

    @writes(DatasheetRow, accepts=DatasheetInput)
    def patch(self, request: Request, slug: str) -> Response:
        """Change the submitted fields, for future exports; lists have commas between their words."""
        project = project_for_admin(request.user, slug)
        # The form needs all fields, and a PATCH sends only the changed ones.
        standing = DatasheetForm.values_of(Datasheet.from_dict(project.datasheet))
        made = valid(DatasheetForm({**standing, **self.check(DatasheetInput)})).datasheet
        save_datasheet(project=project, datasheet=made, by=request_user(request))
        return Response(DatasheetRow(made).data)


class Exports(ApiView):
    """The exports of a project."""

    about = "exports"

    @reads(ExportRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List exports."""
        return self.page(exports_of(project_for_reader(request.user, slug)), ExportRow)

    @writes(ExportRow, accepts=ExportInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request a snapshot, which a worker writes; `parts` are the parts in addition to the values."""
        project = project_for_reader(request.user, slug)
        choice = valid(ExportForm(self.check(ExportInput))).choice
        made = start_export(project=project, choice=choice, by=request_user(request))
        return Response(ExportRow(made).data, status=201)


class ExportView(ApiView):
    """An export."""

    about = "exports"

    @reads(ExportRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show the state of an export."""
        return Response(ExportRow(export_in(project_for_reader(request.user, slug), pk)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete an export with its file."""
        delete_export(export=export_in(project_for_reader(request.user, slug), pk))
        return Response(status=204)


class Pushes(ApiView):
    """The pushes of an export."""

    about = "exports"

    @reads(PushRow, paged=True)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """List the repositories of the Hugging Face Hub to which an export was pushed, or will be."""
        return self.page(pushes_of(export_in(project_for_reader(request.user, slug), pk)), PushRow)

    @writes(PushRow, accepts=PushInput, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Push a Hugging Face data set that is ready, or push it again. A worker pushes it."""
        export = export_in(project_for_admin(request.user, slug), pk)
        sent = valid(PushForm(self.check(PushInput))).cleaned_data
        made = start_push(export=export, by=request_user(request), **sent)
        return Response(PushRow(made).data, status=201)


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
            raise Http404(gettext("This export is not ready."))
        return FileResponse(found.file.open("rb"), as_attachment=True, filename=state_of(found).file_name)
