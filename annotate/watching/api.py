"""The administrative acts in a project."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import ApiView, reads
from annotate.core.access import project_of_watching_admin
from annotate.core.models import AuditEntry


class AuditRow(serializers.ModelSerializer[AuditEntry]):
    """An act: actor, action and object, with before and after."""

    actor = serializers.SerializerMethodField()
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)

    @staticmethod
    def get_actor(entry: AuditEntry) -> str | None:
        """Return the actor's e-mail at that time, None if no user was signed in."""
        return entry.actor_email or None

    class Meta:
        model = AuditEntry
        fields = ("id", "at", "actor", "actor_name", "act", "subject", "before", "after", "note")


class Audit(ApiView):
    """The audit log of a project."""

    about = "audit"

    @reads(AuditRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List administrative acts, for admins; `ratings/history/` lists ratings."""
        project = project_of_watching_admin(request.user, slug)
        return self.page(AuditEntry.objects.filter(project=project), AuditRow)
