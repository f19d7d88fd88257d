"""Importing judgments in the browser: upload, say what columns mean, see how replies are read, import."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from annotate.core.access import data_import_in, project_for_admin
from annotate.core.models import DataImport
from annotate.core.page import Request
from annotate.material.page import uploads_page
from annotate.material.queries.imports import Opening
from judges.core.page import render_judges
from judges.interchange.commands import JUDGMENTS
from judges.interchange.forms import JudgmentMappingForm
from judges.interchange.import_page import import_page, mapping_of
from judges.interchange.queries.imports import preview_judgments, source_of
from judges.interchange.reading.mapping import JudgmentMapping, guess_judgment_mapping


@login_required
@require_http_methods(["GET", "POST"])
def judgment_imports(request: Request, slug: str) -> HttpResponse:
    """List a project's imports of judgments; a POST uploads a file."""
    project = project_for_admin(request.user, slug)
    template = "judges/interchange/imports.html"
    return uploads_page(request, project, template, kind=JUDGMENTS, render=render_judges)


@login_required
@require_http_methods(["GET", "POST"])
def judgment_import(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show where an import is, and before it is made how its file is read; a POST changes that."""
    upload = data_import_in(project_for_admin(request.user, slug), pk, JUDGMENTS)
    return import_page(request, upload, "judges/interchange/import.html", _form, _context_of_preview)


def _form(request: Request, upload: DataImport, opening: Opening) -> JudgmentMappingForm:
    if upload.mapping:
        guess = JudgmentMapping.from_json(upload.mapping)
    else:
        guess = guess_judgment_mapping(opening.columns, {})
    return JudgmentMappingForm(
        request.POST if request.method == "POST" else None,
        columns=opening.columns,
        examples=opening.examples,
        dimensions=list(upload.project.dimensions.values_list("key", "name")),
        guess=guess,
    )


def _context_of_preview(upload: DataImport, form: JudgmentMappingForm) -> dict[str, Any]:
    """Return what the first records would make, None where the mapping does not say it."""
    mapping = mapping_of(form)
    if mapping is None:
        return {"preview": None}
    return {"preview": preview_judgments(project=upload.project, source=source_of(upload, mapping))}
