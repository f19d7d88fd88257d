from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy

from annotate.core.models import Project
from annotate.exports.citation import Card
from annotate.exports.registry import ExportPart, ExportTable, ValueKind, tables_without
from annotate.questions.scale import SCALE


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    XLSX = "xlsx"
    HUGGING_FACE = "huggingface"
    PAPER = "paper"
    PREFERENCES = "preferences"


LABELS = {
    Format.JSONL: "JSONL",
    Format.CSV: "CSV",
    Format.PARQUET: "Parquet",
    Format.XLSX: gettext_lazy("XLSX (one workbook)"),
    Format.HUGGING_FACE: gettext_lazy("Hugging Face data set"),
    Format.PAPER: gettext_lazy("Report (LaTeX)"),
    Format.PREFERENCES: gettext_lazy("Preference pairs (TRL)"),
}


@dataclass(frozen=True)
class ExportChoice:
    """A format, the parts to omit, and the licence of the export, if one is stated.

    card: the description for the card of a data set; other formats have none.
    """

    format: Format
    left_out: frozenset[ExportPart] = frozenset()
    licence: str = ""
    card: Card = field(default_factory=Card)

    def tables_of(self, project: Project) -> list[ExportTable]:
        """Return a project's tables with the exported columns. One query.

        Data sets are published, so they never contain identifiers of external raters.
        """
        left_out = self.left_out | ({ExportPart.RATERS} if self.format == Format.HUGGING_FACE else set())
        asked = list(project.dimensions.values_list("key", "kind", "scale_step"))
        # One column holds the values of all dimensions, so one type has to fit them all.
        is_whole = all(kind == SCALE.key and step == 1 for _, kind, step in asked)
        points = ValueKind.INTEGER if is_whole else ValueKind.NUMBER
        return tables_without(left_out, points, [key for key, *_ in asked])

    def filters(self) -> dict[str, Any]:
        filters = {"format": self.format.value, "without": sorted(self.left_out), "licence": self.licence}
        return {**filters, "card": self.card.to_dict()} if self.format == Format.HUGGING_FACE else filters
