"""What someone wants to take away."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotate.exports.registry import ExportTable, Part, tables_without


class Format(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    XLSX = "xlsx"
    HUGGING_FACE = "huggingface"


LABELS = {
    Format.JSONL: "JSONL",
    Format.CSV: "CSV",
    Format.PARQUET: "Parquet",
    Format.XLSX: "XLSX (one workbook)",
    Format.HUGGING_FACE: "Hugging Face data set",
}


@dataclass(frozen=True)
class ExportChoice:
    """A format, the parts that stay behind, and the licence under which it may be used, if it was said."""

    format: Format
    left_out: frozenset[Part] = frozenset()
    licence: str = ""

    @property
    def tables(self) -> list[ExportTable]:
        """The tables with the columns that go out."""
        return tables_without(self.left_out)

    def filters(self) -> dict[str, Any]:
        """Return what was chosen, as a manifest has it."""
        return {"format": self.format.value, "without": sorted(self.left_out), "licence": self.licence}
