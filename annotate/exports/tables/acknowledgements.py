"""Who has read which wording, and when."""

from collections.abc import Iterator

from annotate.core.models import Acknowledgement, Project
from annotate.exports.registry import ExportTable, Row, kinds
from annotate.exports.tables.rows import rows_by_column


def _acknowledgements(project: Project) -> Iterator[Row]:
    read = Acknowledgement.objects.filter(annotator__project=project).order_by("pk")
    return rows_by_column(read, _ACKNOWLEDGEMENTS)


_ACKNOWLEDGEMENTS = {"rater": "annotator__pseudonym", "guideline_version": "guideline__version", "at": "at"}

ACKNOWLEDGEMENT_TABLE = ExportTable(
    "acknowledgements",
    "which rater has read which changed wording, and when",
    tuple(_ACKNOWLEDGEMENTS),
    _acknowledgements,
    kinds(integer="guideline_version", time="at"),
)
