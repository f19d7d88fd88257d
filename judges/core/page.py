"""What every page of judges has in common: whether this person may change anything."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.cache import patch_vary_headers

from annotate.core.access import roles_in
from annotate.core.errors import DomainError
from annotate.core.models import Project, Role
from annotate.core.page import Request, render_in_project


def render_judges(
    request: Request,
    project: Project,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page of a project's judges, or for htmx a part of it."""
    common = {"may_change": Role.ADMIN in roles_in(request.user, project)}
    response = render_in_project(request, project, template, {**common, **(context or {})}, status=status)
    patch_vary_headers(response, ["HX-Request"])  # page and part have one address
    return response


def add_refusal(form: forms.Form, error: DomainError) -> int:
    """Put what a command refused beside the fields that it is about, and return the status to answer with."""
    for field, message in error.fields.items() or [(None, error.message)]:
        form.add_error(field if field in form.fields else None, message)
    return error.status
