"""Imports of judgments made elsewhere, and the form for the meanings of columns."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import DataImport
from annotate.core.page import offer_choices
from annotate.material.forms import ColumnsForm
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.imports import source_of
from annotate.material.reading.opening import Opening
from judges.interchange.commands import JUDGMENTS, import_upload
from judges.interchange.queries.imports import JudgmentPreview, preview_judgments
from judges.interchange.reading import (
    GIVEN,
    JUDGE_LIMIT,
    MODEL_LIMIT,
    WORDS,
    JudgmentMapping,
    JudgmentReport,
    guess_judgment_mapping,
)
from judges.methods import METHODS

NAMES = {
    "other": _("other system, shown second"),
    "input_tokens": _("tokens in"),
    "output_tokens": _("tokens out"),
}


class JudgmentMappingForm(ColumnsForm):
    """A meaning for each column, and the values for all rows."""

    judge = forms.CharField(
        label=_("Judge of all rows"),
        required=False,
        max_length=JUDGE_LIMIT,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_("Empty: as a column says, or named by model and method."),
    )
    model = forms.CharField(
        label=_("Model of all rows"),
        required=False,
        max_length=MODEL_LIMIT,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    method = forms.ChoiceField(
        label=_("Method of all rows"),
        required=False,
        choices=[
            ("", _("as a column says")),
            *((key, method.title()) for key, method in METHODS.items()),
        ],
        help_text=_("Replies are read as this method reads them."),
    )
    dimension = forms.ChoiceField(label=_("Dimension of all rows"), required=False)

    def __init__(self, entered: Mapping[str, Any] | None, upload: DataImport, opening: Opening) -> None:
        super().__init__(entered, upload, opening)
        keys = upload.project.dimensions.values_list("key", "name")
        offer_choices(self, "dimension", [("", gettext("as a column says")), *keys])

    def read(self, stored: dict[str, Any]) -> JudgmentMapping:
        """Return the mapping that an import stores."""
        return JudgmentMapping.from_json(stored)

    def guess_mapping(self, upload: DataImport, opening: Opening) -> JudgmentMapping:
        """Return the mapping that a file suggests."""
        del upload
        return guess_judgment_mapping(opening.columns, {})

    def meanings(self, upload: DataImport) -> list[tuple[str, str]]:
        """Return the meanings of columns, each with its label."""
        del upload
        return [(field, str(NAMES.get(field, field))) for field in WORDS]

    def initial_of(self, mapping: JudgmentMapping) -> dict[str, str]:
        """Return the initial values of the form under a mapping."""
        meanings = {column: field for field, column in mapping.columns.items()}
        shown = {f"meaning_{index}": meanings.get(column, "") for index, column in enumerate(self.columns)}
        return {**mapping.given, **shown}

    def make_mapping(self, columns: Mapping[str, list[str]]) -> JudgmentMapping:
        """Return the mapping from columns by meaning and values for all rows."""
        given = {field: self.cleaned_data[field] for field in GIVEN}
        return JudgmentMapping({field: named[0] for field, named in columns.items()}, given)

    def find_problem(self, mapping: JudgmentMapping) -> str:
        """Return the problem of a mapping, or an empty string."""
        if not mapping.problem:
            return ""
        return gettext("{problem} Choose its column, or enter a value for all rows.").format(
            problem=mapping.problem
        )


def _preview(
    upload: DataImport, opening: Opening, mapping: JudgmentMapping, chosen: Mapping[str, Any]
) -> JudgmentPreview:
    del chosen
    # The stored first records suffice; reading the file itself could download it from a bucket.
    source = source_of(upload, mapping, kept=opening)
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
    # A file is of this kind if its column names alone provide all required fields.
    recognises=lambda _upload, opening: not guess_judgment_mapping(opening.columns, {}).problem,
)
