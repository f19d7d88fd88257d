"""What every page of judges has in common: its section, and whether this person may change anything."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from annotate.core.access import rates_independently, roles_in
from annotate.core.errors import DomainError
from annotate.core.models import Project, Role
from annotate.core.page import Request, render_in_project

SECTIONS: tuple[tuple[str, ...], ...] = (  # name, route, and what its address has besides the project
    ("Judges", "judges"),
    ("Judges and people", "results_page", "judges"),
    ("Reliability", "results_page", "reliability"),
    ("Estimates", "results_page", "estimates"),
    ("Replacement", "results_page", "replacement"),
    ("Certificates", "certificates"),
    ("Routing", "routing"),
    ("Runs", "runs"),
    ("Prompts", "templates"),
    ("Endpoints", "endpoints"),
)
# Routes that tell what others gave.
RESULTS = frozenset({"results_page", "certificates", "routing"})


def render_judges(
    request: Request,
    project: Project,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page of a project's judges, or for htmx a part of it, with the sections beside it."""
    roles = roles_in(request.user, project)
    common = {"sections": _sections(request, project, roles), "may_change": Role.ADMIN in roles}
    response = render_in_project(request, project, template, {**common, **(context or {})}, status=status)
    patch_vary_headers(response, ["HX-Request"])  # page and part have one address
    return response


def _sections(request: Request, project: Project, roles: frozenset[Role]) -> list[tuple[str, str, str]]:
    """Return the sections that this person may open: no results for who rates in an open Round I."""
    hidden = Role.ANNOTATOR in roles and rates_independently(request.user, project)
    return [
        (name, route, reverse(route, args=[project.slug, *rest]))
        for name, route, *rest in SECTIONS
        if not (hidden and route in RESULTS)
    ]


def add_refusal(form: forms.Form, error: DomainError) -> int:
    """Put what a command refused beside the fields that it is about, and return the status to answer with."""
    for field, message in error.fields.items() or [(None, error.message)]:
        form.add_error(field, message)
    return error.status
