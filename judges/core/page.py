"""Rendering that all pages of judges share, with the right to change judges."""

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
    """Render a page of a project's judges, or its fragment for htmx."""
    common = {"may_change": Role.ADMIN in roles_in(request.user, project)}
    response = render_in_project(request, project, template, {**common, **(context or {})}, status=status)
    patch_vary_headers(response, ["HX-Request"])  # page and part share one URL
    return response


def add_refusal(form: forms.Form, error: DomainError) -> int:
    """Attach a command's error to the form fields that it concerns and return the response status."""
    for field, message in error.fields.items() or [(None, error.message)]:
        form.add_error(field if field in form.fields else None, message)
    return error.status
