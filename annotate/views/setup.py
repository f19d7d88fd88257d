"""The end of the set-up: everything at a glance, and the annotator's screen on a real item."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET

from annotate.access import project_for_admin
from annotate.keys import ACTIONS
from annotate.preferences import key_map_of
from annotate.queries.guidelines import current_guideline
from annotate.queries.plans import plan_of
from annotate.queries.preview import preview_page
from annotate.queries.setup import setup_of
from annotate.views.page import render_in_project
from annotate.views.rating_rows import rows_as_html


@login_required
@require_GET
def review(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what Round I would be opened with, and what is missing."""
    project = project_for_admin(request.user, slug)
    if setup_of(project) is None:
        return redirect("project", slug)
    context = {
        "guideline": current_guideline(project),
        "documents": project.documents.count(),
        "systems": list(project.systems.order_by("name").values_list("name", flat=True)),
        "plan": plan_of(project),
        "members": list(
            project.memberships.filter(active=True).select_related("user").order_by("role", "label")
        ),
    }
    return render_in_project(request, project, "projects/review.html", context)


@login_required
@require_GET
@xframe_options_sameorigin
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the annotator's screen; nothing that is given there is saved."""
    project = project_for_admin(request.user, slug)
    asked = request.GET.get("item", "")
    page, guideline = preview_page(project, int(asked) if asked.isdecimal() and len(asked) < 8 else 1)
    context = {
        "project": project,
        "round": page.assignment.round,
        "page": page,
        "rows_html": rows_as_html(project, page),
        "guideline": guideline,
        "preview": True,
        "key_map": key_map_of(request.user),
        "key_actions": ACTIONS,
    }
    return render(request, "rating/item.html", context)
