"""Imports of metrics, and the form for the meanings of columns."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.core.models import DataImport
from annotate.material.forms import ColumnsForm
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.imports import source_of
from annotate.material.reading.opening import Opening
from annotate.material.reading.rows import Record
from judges.metrics.commands import METRICS, import_upload
from judges.metrics.queries import CHECKED_RECORDS, MetricReport, check_metrics
from judges.metrics.reading import MetricMapping, guess_metric_mapping

METRIC = "metric"
SINGLE = ("document", "number", "system")


class MetricMappingForm(ColumnsForm):
    def read(self, stored: dict[str, Any]) -> MetricMapping:
        return MetricMapping.from_json(stored)

    def guess_mapping(self, upload: DataImport, opening: Opening) -> MetricMapping:
        records = [record for record in opening.guessed if isinstance(record, Record)]
        return guess_metric_mapping(records, upload.project.dimensions.values_list("name", flat=True))

    def meanings(self, upload: DataImport) -> list[tuple[str, Any]]:
        # The meanings are the same for every file.
        del upload
        return [
            (METRIC, _("a metric")),
            ("document", _("document: key")),
            ("number", _("document: number, as imported")),
            ("system", _("system")),
        ]

    def may_repeat(self, meaning: str) -> bool:
        return meaning == METRIC

    def initial_of(self, mapping: MetricMapping) -> dict[str, str]:
        meanings = dict.fromkeys(mapping.metrics, METRIC) | {getattr(mapping, each): each for each in SINGLE}
        return {f"meaning_{index}": meanings.get(column, "") for index, column in enumerate(self.columns)}

    def make_mapping(self, columns: Mapping[str, list[str]]) -> MetricMapping:
        single = {meaning: columns.get(meaning, [""])[0] for meaning in SINGLE}
        return MetricMapping(**single, metrics=tuple(columns.get(METRIC, ())))


def _preview(
    upload: DataImport, opening: Opening, mapping: MetricMapping, chosen: Mapping[str, Any]
) -> dict[str, MetricReport]:
    del chosen
    source = source_of(upload, mapping, kept=opening)
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
