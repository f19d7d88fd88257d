from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotate.core.models import DataImport
from annotate.core.models.imports import MATERIAL
from annotate.material.commands.uploads import import_material
from annotate.material.forms import MappingForm, guess_of
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.imports import Preview, preview_of
from annotate.material.reading import mappings
from annotate.material.reading.opening import Opening
from annotate.material.reading.report import ImportReport


def _preview(
    upload: DataImport, opening: Opening, mapping: mappings.Mapping, chosen: Mapping[str, Any]
) -> Preview:
    return preview_of(upload, opening, mapping, chosen["what"], chosen["members"])


MATERIAL_KIND = ImportKind(
    key=MATERIAL,
    run=import_material,
    report=ImportReport,
    form=MappingForm,
    preview=_preview,
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
