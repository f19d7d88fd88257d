"""What is done with an upload besides saying how it is read: started, stopped, discarded, undone."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from annotate import tasks
from annotate.access import data_import_in, project_for_admin
from annotate.commands.undo_imports import undo_import
from annotate.commands.uploads import cancel_import, choose_part, discard_import, start_upload
from annotate.errors import DomainError
from annotate.import_kinds import KINDS
from annotate.importing.refused import FORMATS
from annotate.models import DataImport
from annotate.models.imports import MATERIAL
from annotate.queries.imports import refused_file_of
from annotate.views.page import Request, refusal_told, request_user


def start_on_worker(
    request: Request, upload: DataImport, mapping: dict[str, Any], what: str = "", *, only_good: bool = False
) -> HttpResponse:
    """Let a worker import an upload of any kind, and show its page."""
    with refusal_told(request):
        start_upload(data_import=upload, mapping=mapping, what=what, only_good=only_good)
        # Robust: without a broker the file waits, and its page tells that no worker has taken it.
        transaction.on_commit(lambda: tasks.run_import.delay(upload.pk), robust=True)
    return redirect(KINDS[upload.kind].page, upload.project.slug, upload.pk)


@login_required
@require_POST
def import_again(request: Request, slug: str, pk: int) -> HttpResponse:
    """Send an import to the worker again, as it was set, or now without its refused lines."""
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    if upload.mapping is None:
        return redirect(KINDS[upload.kind].page, slug, pk)
    only_good = "only_good" in request.POST
    return start_on_worker(request, upload, upload.mapping, upload.what, only_good=only_good)


@login_required
@require_POST
def import_part(request: Request, slug: str, pk: int) -> HttpResponse:
    """Choose the configuration and split of a data set's folder."""
    upload = data_import_in(project_for_admin(request.user, slug), pk, MATERIAL)
    choose_part(data_import=upload, part=request.POST.get("part", "")[:200])
    return redirect("data_import", slug, pk)


@login_required
@require_POST
def import_cancel(request: Request, slug: str, pk: int) -> HttpResponse:
    """Ask the worker to stop."""
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    with refusal_told(request):
        cancel_import(data_import=upload)
    return redirect(KINDS[upload.kind].page, slug, pk)


@login_required
@require_POST
def import_discard(request: Request, slug: str, pk: int) -> HttpResponse:
    """Forget an import that was not made, with its file."""
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    try:
        discard_import(data_import=upload)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect(KINDS[upload.kind].page, slug, pk)
    messages.success(request, gettext("“{name}” was discarded.").format(name=upload.name))
    return redirect(KINDS[upload.kind].pages, slug)


@login_required
@require_POST
def import_undo(request: Request, slug: str, pk: int) -> HttpResponse:
    """Take back what an import has brought."""
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    with refusal_told(request):
        undo_import(data_import=upload, by=request_user(request))
    return redirect(KINDS[upload.kind].page, slug, pk)


@login_required
@require_GET
def import_refused(request: Request, slug: str, pk: int, format: str) -> StreamingHttpResponse:
    """Stream the refused lines of an import with the reasons."""
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    path = refused_file_of(upload)
    if format not in FORMATS or not path.exists():
        raise Http404(gettext("There are no refused lines to take away."))
    response = StreamingHttpResponse(
        FORMATS[format](path),
        content_type="text/csv; charset=utf-8" if format == "csv" else "application/jsonl",
    )
    response["Content-Disposition"] = f'attachment; filename="refused-{upload.pk}.{format}"'
    return response
