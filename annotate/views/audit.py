"""The audit log of a project, and deleting the project."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.access import project_for_admin, project_of_watching_admin
from annotate.commands.exports import note_export
from annotate.commands.project_deletion import delete_project
from annotate.errors import DomainError
from annotate.export_tables import Table
from annotate.exporting.text import FORMATS, export_table
from annotate.forms.audit import AuditForm, DeletionForm
from annotate.queries.audit import COLUMNS, audit_choices, audit_page, audit_rows
from annotate.queries.audit_sources import Cursor
from annotate.queries.project_rows import counts_of_project
from annotate.views.exports import CONTENT_TYPES, attachment
from annotate.views.page import Request, render_in_project, request_user

SAYS = "everything that was done in a project: who, when, before and after"


@login_required
@require_GET
def audit(request: Request, slug: str) -> HttpResponse:
    """Show what was done in a project, the newest first, narrowed by who, what, on what and when."""
    project = project_of_watching_admin(request.user, slug)
    form = AuditForm(request.GET, audit_choices(project))
    page = audit_page(project, form.wanted, Cursor.read(request.GET.get("after", "")))
    query = request.GET.copy()
    query.pop("after", None)
    context = {"form": form, "page": page, "query": query.urlencode(), "formats": list(FORMATS)}
    return render_in_project(request, project, "audit/audit.html", context)


@login_required
@require_GET
def audit_download(request: Request, slug: str, format: str) -> StreamingHttpResponse:
    """Stream what the page shows, all of it, the oldest first."""
    project = project_of_watching_admin(request.user, slug)
    if format not in FORMATS:
        raise Http404(gettext("There is no such format."))
    wanted = AuditForm(request.GET, audit_choices(project)).wanted
    note_export(project=project, what="audit log", format=format)
    table = Table("audit", SAYS, COLUMNS, lambda project: audit_rows(project, wanted))
    stream = export_table(project, table, format)
    response = StreamingHttpResponse(stream, content_type=CONTENT_TYPES[format])
    return attachment(response, f"{project.slug}-audit.{format}")


@login_required
@require_http_methods(["GET", "POST"])
def project_delete(request: Request, slug: str) -> HttpResponse:
    """Say what deleting the project deletes, and offer it as export; a POST with its name deletes it."""
    project = project_for_admin(request.user, slug)
    form = DeletionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            delete_project(project=project, name=form.cleaned_data["name"], by=request_user(request))
            messages.success(request, gettext("“{name}” was deleted.").format(name=project.name))
            return redirect("projects")
        except DomainError as error:
            form.add_error("name", error.message)
    context = {"form": form, "counts": counts_of_project(project), "formats": list(FORMATS)}
    status = 422 if form.is_bound else 200
    return render_in_project(request, project, "projects/delete.html", context, status=status)
