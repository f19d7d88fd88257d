"""Versions of a benchmark: list and request."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input
from annotate.api.operations import ApiView, reads, writes
from annotate.core.access import project_for_admin, project_for_reader
from annotate.core.models import Version, VersionRequest
from annotate.core.page import request_user
from annotate.versions.commands import request_version
from annotate.versions.forms import VersionForm

VersionInput = form_input("VersionInput", VersionForm)


class VersionRow(serializers.ModelSerializer[Version]):
    """A version: its content, its content hash and the identifier of its export."""

    number = serializers.CharField(help_text="Such as 1.1.")
    additions = serializers.ListField(
        child=serializers.IntegerField(), help_text="Numbers of the additions that it contains."
    )
    leaderboard = serializers.DictField(help_text="The standings when it was made.")

    class Meta:
        model = Version
        fields = ("number", "changelog", "additions", "content_hash", "leaderboard", "export", "created_at")


class VersionRequestRow(serializers.ModelSerializer[VersionRequest]):
    """A version that a worker makes."""

    class Meta:
        model = VersionRequest
        fields = ("id", "changelog", "status", "message", "created_at")


class Versions(ApiView):
    """The versions of a benchmark."""

    about = "versions"

    @reads(VersionRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List versions, the newest first."""
        return self.page(project_for_reader(request.user, slug).versions.all(), VersionRow)

    @writes(VersionRequestRow, accepts=VersionInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Request the next version; a worker creates it once all rounds are closed."""
        project = project_for_admin(request.user, slug)
        asked = request_version(project=project, by=request_user(request), **self.check(VersionInput))
        return Response(VersionRequestRow(asked).data, status=201)
