"""The administrative acts in a project."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import ApiView, reads
from annotate.core.access import project_of_watching_admin
from annotate.core.models import AuditEntry


class AuditRow(serializers.ModelSerializer[AuditEntry]):
    """An act: who did what to what, with before and after."""

    actor = serializers.CharField(source="actor.email", default=None, allow_null=True)
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "act", "subject", "before", "after", "note")


class Audit(ApiView):
    """The audit log of a project."""

    about = "audit"

    @reads(AuditRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List administrative acts, for admins; what was rated is in `ratings/history/`."""
        project = project_of_watching_admin(request.user, slug)
        return self.page(AuditEntry.objects.filter(project=project).select_related("actor"), AuditRow)
