"""Imports of judgments made elsewhere."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.core.models import DataImport
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.imports import source_of
from annotate.material.reading.opening import Opening
from judges.interchange.commands import JUDGMENTS, import_upload
from judges.interchange.forms import JudgmentMappingForm
from judges.interchange.queries.imports import JudgmentPreview, preview_judgments
from judges.interchange.reading.mapping import JudgmentMapping, guess_judgment_mapping
from judges.interchange.reading.report import JudgmentReport


def _preview(
    upload: DataImport, opening: Opening, mapping: JudgmentMapping, chosen: Mapping[str, Any]
) -> JudgmentPreview:
    del chosen
    source = source_of(upload, mapping, kept=opening.record_store)
    return preview_judgments(project=upload.project, source=source)


JUDGMENTS_KIND = ImportKind(
    key=JUDGMENTS,
    run=import_upload,
    report=JudgmentReport,
    form=JudgmentMappingForm,
    preview=_preview,
    page="judgment_import",
    pages="judgment_imports",
    all_name=_("All imports of judgments"),
    after=lambda slug: reverse("judges", args=[slug]),
    after_name=_("Go to the judges"),
    rows="judges/interchange/_first_judgments.html",
    holds=_("judgments made elsewhere"),
    recognises=lambda _upload, opening: not guess_judgment_mapping(opening.columns, {}).problem,
)
