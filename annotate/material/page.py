from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.core.database import write_if_possible
from annotate.core.jobs import worker_health
from annotate.core.models import DataImport, Project, UploadPreview
from annotate.core.models.imports import MATERIAL
from annotate.core.page import MessageOutcome, Request, render_in_project, request_user
from annotate.material.commands.uploads import ask_for_preview, import_material, receive_upload, start_upload
from annotate.material.forms import MappingForm, UploadForm, guess_of
from annotate.material.import_kinds import KINDS, ImportKind
from annotate.material.queries.imports import imports_of, preview_of
from annotate.material.reading.report import ImportReport


def uploads_page(
    request: Request,
    project: Project,
    template: str,
    *,
    kind: str = MATERIAL,
    render: Callable[..., HttpResponse] = render_in_project,
    **shown: object,
) -> HttpResponse:
    """List a project's imports of a kind; a POST uploads a file and leads to its page.

    shown: further context of the template.
    """
    entered = (request.POST, request.FILES) if request.method == "POST" else ()
    form = UploadForm(*entered, project=project)
    if form.is_valid():
        by = request_user(request)
        # Several files are packed into a temporary one, which this block closes.
        with form.cleaned_data["file"] as file:
            made = receive_upload(project=project, by=by, file=file, name=file.name, kind=kind)
        # A worker reads the file while the browser loads the next page.
        preview_of_upload(made)
        return redirect(KINDS[kind].page, project.slug, made.pk)
    context = {"form": form, "imports": imports_of(project, kind), "workers": worker_health(), **shown}
    return render(request, project, template, context, status=422 if form.is_bound else 200)


def preview_of_upload(upload: DataImport, *, again: bool = False) -> UploadPreview:
    """Return the preview of an upload; send a worker to read the file if it has none.

    While another process writes to SQLite, the page shows a pending upload, and polls again.
    """
    kept = UploadPreview.objects.filter(data_import=upload).first()
    if kept is not None and kept.fits(upload, again=again):
        return kept
    asked = write_if_possible(lambda: ask_for_preview(data_import=upload, again=again))
    return asked or UploadPreview(data_import=upload, part=upload.part)


def start_on_worker(
    request: Request, upload: DataImport, mapping: dict[str, Any], what: str = "", *, only_good: bool = False
) -> HttpResponse:
    with MessageOutcome(request):
        start_upload(data_import=upload, mapping=mapping, what=what, only_good=only_good)
    return redirect(KINDS[upload.kind].page, upload.project.slug, upload.pk)


MATERIAL_KIND = ImportKind(
    key=MATERIAL,
    run=import_material,
    report=ImportReport,
    form=MappingForm,
    preview=preview_of,
    page="data_import",
    pages="imports",
    all_name=_("All imports"),
    after=lambda slug: reverse("project", args=[slug]),
    after_name=_("Go to the overview"),
    rows="material/_rows.html",
    may_be_undone=True,
    holds=_("recorded ratings"),
    recognises=lambda upload, opening: guess_of(upload, opening).gives_ratings,
)
