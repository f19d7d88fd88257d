"""Files of metrics held against a project's items, and the metrics that a project has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Count, QuerySet

from annotate.core.files import local_path
from annotate.core.models import DataImport, Document, Project
from annotate.material.queries.catalogue import Catalogue
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.report import Tally
from annotate.material.reading.rows import Record
from judges.core.models import Metric, MetricValue
from judges.interchange.queries.file_reading import FileReading
from judges.interchange.reading.report import FileReport, causes_of
from judges.interchange.reading.rows import RefusedRowError
from judges.metrics.reading import NAME_LIMIT, MetricMapping, MetricRow, metric_rows

CHECKED_RECORDS = 20


@dataclass(slots=True)
class MetricCounts(Tally):
    """How many of each kind."""

    metrics: int = 0
    values: int = 0


@dataclass(frozen=True, kw_only=True)
class MetricReport(FileReport):
    """What a file of metrics makes in a project, or why nothing of it is imported."""

    made: MetricCounts
    already_there: MetricCounts

    @property
    def may_leave_out(self) -> bool:
        """Whether refused lines can be left out: they cannot, as a metric with holes is easily overlooked."""
        return False

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "MetricReport":
        """Read what `to_json` wrote."""
        counts = {name: MetricCounts(**content[name]) for name in ("made", "already_there")}
        return cls(**{**content, **counts, "refused": causes_of(content["refused"])})


@dataclass(frozen=True, slots=True)
class MetricSource:
    """A file of metrics and how to read it."""

    path: Path
    name: str
    mapping: MetricMapping


def source_of(data_import: DataImport, mapping: MetricMapping) -> MetricSource:
    """Return what is to be read from an uploaded file, and how."""
    return MetricSource(local_path(data_import.file), data_import.name, mapping)


def metrics_of(project: Project) -> "QuerySet[Metric]":
    """Return a project's metrics by name, each with its `number` of values."""
    return Metric.objects.filter(project=project).annotate(number=Count("values")).order_by("name")


def check_metrics(
    *,
    project: Project,
    source: MetricSource,
    on_progress: OnProgress | None = None,
    limit: int | None = None,
) -> MetricReport:
    """Say what the file, or the first records of it, would make; nothing is written and nothing locked."""
    reading = MetricReading(source, MetricCheck(project))
    reading.take_all("checking", on_progress or silent, limit=limit)
    return reading.report()


class MetricCheck:
    """Takes rows one by one and counts what they would make; an importer writes it as well.

    Holds ids and numbers: of the items, and of the metrics that the file names. Five queries, and one more
    for each metric that is there.
    """

    def __init__(self, project: Project) -> None:
        self.catalogue = Catalogue(project)
        keys = Document.objects.filter(project=project).order_by("pk").values_list("key", flat=True)
        self.documents: Sequence[str] = list(keys)
        self.made, self.already_there = MetricCounts(), MetricCounts()
        self._metrics = {metric.name: metric for metric in Metric.objects.filter(project=project)}
        self._values: dict[str, dict[int, float]] = {}

    def take(self, row: MetricRow) -> None:
        """Take what metrics say of an item; a RefusedRowError says what is unknown, or not what is there."""
        item = self._item(row)
        for name, value in row.values.items():
            known = self._existing_values(name)
            there = known.get(item)
            if there is None:
                known[item] = value
                self.made.values += 1
                self.accept(name, item, value)
            elif there == value:
                self.already_there.values += 1
            else:
                raise RefusedRowError(
                    name,
                    f"“{name}” has another value for this text already, and nothing is overwritten; leave "
                    "the line out, or give the column another name.",
                    f"“{row.system}” on “{row.document}”: {there:g} and {value:g}",
                )

    def accept(self, name: str, item: int, value: float) -> None:
        """Note a value that the project does not have; an importer writes it."""

    def _existing_values(self, name: str) -> dict[int, float]:
        if name not in self._values:
            if len(name) > NAME_LIMIT:
                reason = f"A metric's name has at most {NAME_LIMIT} characters; shorten it."
                raise RefusedRowError(name[:40], reason, name)
            values = MetricValue.objects.filter(metric=self._metrics.get(name))
            self._values[name] = dict(values.values_list("item", "value"))
            if name in self._metrics:
                self.already_there.metrics += 1
            else:
                self.made.metrics += 1
        return self._values[name]

    def _item(self, row: MetricRow) -> int:
        document = self._document(row)
        if row.system not in self.catalogue.systems:
            reason = (
                "The project has no such system; import its texts first, or use the name that it has here."
            )
            raise RefusedRowError("system", reason, row.system)
        item = self.catalogue.item(document, row.system)
        if item is None or item.pk is None:
            reason = "The system has no text for this document in the project; import items first."
            raise RefusedRowError("document", reason, f"“{row.system}” on “{document}”")
        return item.pk

    def _document(self, row: MetricRow) -> str:
        if isinstance(row.document, int):
            if not 1 <= row.document <= len(self.documents):
                reason = (
                    f"Documents are numbered from 1 to {len(self.documents):,} here, as they were imported."
                )
                raise RefusedRowError("document", reason, row.document)
            return self.documents[row.document - 1]
        if row.document not in self.catalogue.documents:
            reason = "The project has no such document; import documents and items first."
            raise RefusedRowError("document", reason, row.document)
        return row.document


class MetricReading(FileReading):
    """One reading of a file of metrics."""

    def __init__(self, source: MetricSource, check: MetricCheck) -> None:
        super().__init__(source)
        self.mapping, self.check = source.mapping, check

    def take_record(self, record: Record) -> None:
        """Take the metrics of a record, which may hold several texts."""
        for row in metric_rows(record, self.mapping, len(self.check.documents)):
            self.check.take(row)

    def report(self) -> MetricReport:
        """Sum up what was read."""
        return MetricReport(
            made=self.check.made,
            already_there=self.check.already_there,
            lines=self.lines,
            complete=self.complete,
            refused_count=self.refused.count,
            refused=self.refused.listed,
            empty_rows=self.empty_rows,
        )
