"""Metrics in the browser: the list, a file uploaded, what its columns mean, what it makes."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate.core.access import data_import_in, project_for_admin
from annotate.core.models import DataImport
from annotate.core.page import Request, request_user
from annotate.material.page import uploads_page
from annotate.material.queries.imports import Opening
from annotate.material.reading.rows import Record
from judges.core.page import render_judges
from judges.interchange.import_page import import_page, mapping_of
from judges.metrics.commands import METRICS, remove_metric
from judges.metrics.forms import MetricMappingForm
from judges.metrics.queries import CHECKED_RECORDS, check_metrics, metrics_of, source_of
from judges.metrics.reading import MetricMapping, guess_metric_mapping


@login_required
@require_http_methods(["GET", "POST"])
def metrics(request: Request, slug: str) -> HttpResponse:
    """List a project's metrics and their imports; a POST uploads a file."""
    project = project_for_admin(request.user, slug)
    template, shown = "judges/metrics/metrics.html", metrics_of(project)
    return uploads_page(request, project, template, kind=METRICS, render=render_judges, metrics=shown)


@login_required
@require_POST
def metric_remove(request: Request, slug: str, pk: int) -> HttpResponse:
    """Delete a metric with its values."""
    project = project_for_admin(request.user, slug)
    metric = get_object_or_404(metrics_of(project), pk=pk)
    remove_metric(project=project, metric=metric, by=request_user(request))
    messages.success(request, gettext("“{name}” was removed with its values.").format(name=metric.name))
    return redirect("metrics", slug)


@login_required
@require_http_methods(["GET", "POST"])
def metric_import(request: Request, slug: str, pk: int) -> HttpResponse:
    """Show where an import is, and before it is made how its file is read; a POST changes that."""
    upload = data_import_in(project_for_admin(request.user, slug), pk, METRICS)
    return import_page(request, upload, "judges/metrics/import.html", _form, _context_of_preview)


def _form(request: Request, upload: DataImport, opening: Opening) -> MetricMappingForm:
    if upload.mapping:
        guess = MetricMapping.from_json(upload.mapping)
    else:
        records = [record for record in opening.records if isinstance(record, Record)]
        dimensions = upload.project.dimensions.values_list("name", flat=True)
        guess = guess_metric_mapping(records, dimensions)
    entered = request.POST if request.method == "POST" else None
    return MetricMappingForm(entered, columns=opening.columns, examples=opening.examples, guess=guess)


def _context_of_preview(upload: DataImport, form: MetricMappingForm) -> dict[str, Any]:
    """Return what the first records would make, None where the mapping does not say it."""
    mapping = mapping_of(form)
    if mapping is None:
        return {"report": None}
    source = source_of(upload, mapping)
    return {"report": check_metrics(project=upload.project, source=source, limit=CHECKED_RECORDS)}
