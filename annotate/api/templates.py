"""Templates that projects begin from: listed, and saved from projects."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import may_begin_projects, project_for_admin
from annotate.api.operations import ApiView, reads, writes
from annotate.commands.templates import save_template
from annotate.presets import TEMPLATES
from annotate.queries.templates import own_templates, template_of
from annotate.views.page import request_user


class TemplateRow(serializers.Serializer[Any]):
    """A template, under the key that a new project names."""

    key = serializers.CharField()
    name = serializers.CharField()
    saved_at = serializers.DateTimeField(default=None, allow_null=True, help_text="Null: Concord's own.")


class Templates(ApiView):
    """What one may begin projects from."""

    about = "projects"

    @reads(TemplateRow, many=True)
    def get(self, request: Request) -> Response:
        """List one's own templates, the newest first, then those of Concord."""
        user = request_user(request)
        own = own_templates(user) if may_begin_projects(user) else []
        return Response(TemplateRow([*own, *TEMPLATES.values()], many=True).data)


class TemplateOfProject(ApiView):
    """A project as a template."""

    about = "projects"

    @writes(TemplateRow, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Save what a project asks and tells, nothing that was given, among one's own templates."""
        template = template_of(project_for_admin(request.user, slug))
        made = save_template(owner=request_user(request), template=template)
        return Response(TemplateRow(made).data, status=201)
