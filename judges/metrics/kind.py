from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.core.models import DataImport
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.imports import source_of
from annotate.material.reading.opening import Opening
from judges.metrics.commands import METRICS, import_upload
from judges.metrics.forms import MetricMappingForm
from judges.metrics.queries import CHECKED_RECORDS, MetricReport, check_metrics
from judges.metrics.reading import MetricMapping


def _preview(
    upload: DataImport, opening: Opening, mapping: MetricMapping, chosen: Mapping[str, Any]
) -> dict[str, MetricReport]:
    del chosen
    source = source_of(upload, mapping, kept=opening.record_store)
    return {"report": check_metrics(project=upload.project, source=source, limit=CHECKED_RECORDS)}


METRICS_KIND = ImportKind(
    key=METRICS,
    run=import_upload,
    report=MetricReport,
    form=MetricMappingForm,
    preview=_preview,
    page="metric_import",
    pages="metrics",
    all_name=_("All metrics"),
    after=lambda slug: reverse("results_page", args=[slug, "metrics"]),
    after_name=_("See metrics, judges and people"),
    rows="",
)
