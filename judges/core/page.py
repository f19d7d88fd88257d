"""Rendering that all pages of judges share, and their entries in the navigation of a project."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_noop

from annotate.core.access import roles_in
from annotate.core.models import Project, Role
from annotate.core.page import ADMINS, READERS, NewPages, Page, Request, render_in_project

# Pages that `tell` show values, so Concord hides them from people who rate in an open Round I.
_TRUST = (
    Page(gettext_noop("Judges by dimension"), "results_page", READERS, ("verdicts",), tells=True),
    Page(gettext_noop("Verdicts"), "results_page", READERS, ("trust",), tells=True),
    Page(gettext_noop("Reliability"), "results_page", READERS, ("reliability",), tells=True),
    Page(gettext_noop("Replacement"), "results_page", READERS, ("replacement",), tells=True),
    Page(gettext_noop("Certificates"), "certificates", READERS, tells=True),
)
_ROUTING = (
    Page(gettext_noop("Routing"), "routing", READERS, tells=True),
    Page(gettext_noop("Routes"), "results_page", READERS, ("routes",), tells=True),
)
_LABORATORY = (
    Page(gettext_noop("Experiments"), "results_page", READERS, ("experiments",), tells=True),
    Page(gettext_noop("Biases"), "results_page", READERS, ("biases",), tells=True),
)
JUDGES_PAGES = (
    NewPages(
        gettext_noop("Items"), [Page(gettext_noop("Metric values"), "metrics", ADMINS)], before="Gold items"
    ),
    NewPages(
        gettext_noop("Judges"),
        [
            Page(gettext_noop("Endpoints"), "endpoints", READERS),
            Page(gettext_noop("Prompts"), "templates", READERS),
            Page(gettext_noop("Judges"), "judges", READERS),
            Page(gettext_noop("Runs"), "runs", READERS, also=("rereadings",)),
            Page(gettext_noop("Align"), "alignment", READERS, tells=True),
            Page(
                gettext_noop("Laboratory"),
                "results_page",
                READERS,
                ("experiments",),
                beside=_LABORATORY,
                tells=True,
            ),
            Page(gettext_noop("Trust"), "results_page", READERS, ("verdicts",), beside=_TRUST, tells=True),
            Page(gettext_noop("Routing"), "routing", READERS, beside=_ROUTING, tells=True),
        ],
        before="Results",
        icon="scale",
    ),
    NewPages(
        gettext_noop("Results"),
        [
            Page(gettext_noop("Judges and people"), "results_page", READERS, ("judges",), tells=True),
            Page(gettext_noop("Estimates"), "results_page", READERS, ("estimates",), tells=True),
            Page(gettext_noop("Metrics"), "results_page", READERS, ("metrics",), tells=True),
        ],
        before="Disagreements",
    ),
)


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
    # Otherwise the back button could show a cached fragment instead of the page.
    patch_vary_headers(response, ["HX-Request"])  # page and part share one URL
    return response


def offer(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
