"""Queries on metrics, and the check of a file of metrics against a project's items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Count, QuerySet
from django.utils.translation import gettext

from annotate.core.models import Document, Project
from annotate.material.queries.catalogue import Catalogue
from annotate.material.queries.file_reading import FileReading
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.report import FileReport, Tally
from annotate.material.reading.rows import Record, RefusedLine
from annotate.material.reading.source import Source
from annotate.material.reading.values import RefusedFieldError
from judges.core.models import Metric, MetricValue
from judges.metrics.reading import NAME_LIMIT, MetricMapping, MetricRow, metric_rows

CHECKED_RECORDS = 20


@dataclass(slots=True)
class MetricCounts(Tally):
    metrics: int = 0
    values: int = 0


@dataclass(frozen=True, kw_only=True)
class MetricReport(FileReport):
    counts: ClassVar[type[Tally]] = MetricCounts

    made: MetricCounts
    already_there: MetricCounts

    @property
    def may_leave_out(self) -> bool:
        """Return False: a metric with gaps is easily overlooked, so invalid lines cannot be skipped."""
        return False


def metrics_of(project: Project) -> "QuerySet[Metric]":
    """Return a project's metrics by name, each with its `number` of values."""
    return Metric.objects.filter(project=project).annotate(number=Count("values")).order_by("name")


def check_metrics(
    *,
    project: Project,
    source: Source[MetricMapping],
    on_progress: OnProgress | None = None,
    limit: int | None = None,
) -> MetricReport:
    """Return the report of an import of the file, or of its first records, without writing or locking."""
    reading = MetricReading(source, MetricCheck(project))
    reading.check(limit, on_progress or silent)
    return reading.report()


class MetricCheck:
    """Checks rows and counts the values that they would create; an importer also writes them.

    Holds ids and numbers: of the items, and of the metrics in the file. Five queries, and one more for each
    existing metric.
    """

    def __init__(self, project: Project) -> None:
        self.catalogue = Catalogue(project)
        # Files number documents in the order of their import, which the ids also have.
        keys = Document.objects.filter(project=project).order_by("pk").values_list("key", flat=True)
        self.documents: Sequence[str] = list(keys)
        self.made, self.already_there = MetricCounts(), MetricCounts()
        self._metrics = {metric.name: metric for metric in Metric.objects.filter(project=project)}
        self._values: dict[str, dict[int, float]] = {}

    def take(self, row: MetricRow) -> None:
        """Resolve the metrics of an item. Raises RefusedFieldError for unknown names and invalid values."""
        item = self._item(row)
        for name, value in row.values.items():
            if name not in self._values:
                if len(name) > NAME_LIMIT:
                    reason = gettext("A metric's name has at most {limit} characters; shorten it.").format(
                        limit=NAME_LIMIT
                    )
                    raise RefusedFieldError(name[:40], reason, name)
                # For an unknown metric this is `None`, which matches no row.
                values = MetricValue.objects.filter(metric=self._metrics.get(name))
                self._values[name] = dict(values.values_list("item", "value"))
                if name in self._metrics:
                    self.already_there.metrics += 1
                else:
                    self.made.metrics += 1
            known = self._values[name]
            there = known.get(item)
            if there is None:
                # Later lines of the file are compared with this value, too.
                known[item] = value
                self.made.values += 1
                self.accept(name, item, value)
            elif there == value:
                self.already_there.values += 1
            else:
                raise RefusedFieldError(
                    name,
                    gettext(
                        "“{name}” has another value for this text already, and nothing is overwritten; leave "
                        "the line out, or give the column another name."
                    ).format(name=name),
                    gettext("“{system}” on “{document}”: {there:g} and {value:g}").format(
                        system=row.system, document=row.document, there=there, value=value
                    ),
                )

    def accept(self, name: str, item: int, value: float) -> None: ...

    def _item(self, row: MetricRow) -> int:
        document = self._document(row)
        if row.system not in self.catalogue.systems:
            reason = gettext(
                "The project has no such system; import its texts first, or use the name that it has here."
            )
            raise RefusedFieldError("system", reason, row.system)
        item = self.catalogue.item(document, row.system)
        if item is None or item.pk is None:
            reason = gettext("The system has no text for this document in the project; import items first.")
            raise RefusedFieldError(
                "document",
                reason,
                gettext("“{system}” on “{document}”").format(system=row.system, document=document),
            )
        return item.pk

    def _document(self, row: MetricRow) -> str:
        if isinstance(row.document, int):
            if not 1 <= row.document <= len(self.documents):
                reason = gettext(
                    "Documents are numbered from 1 to {count:,} here, as they were imported."
                ).format(count=len(self.documents))
                raise RefusedFieldError("document", reason, row.document)
            return self.documents[row.document - 1]
        if row.document not in self.catalogue.documents:
            reason = gettext("The project has no such document; import documents and items first.")
            raise RefusedFieldError("document", reason, row.document)
        return row.document


class MetricReading(FileReading):
    def __init__(self, source: Source[MetricMapping], check: MetricCheck) -> None:
        super().__init__(source)
        self.checked = check

    def take(self, record: Record) -> Iterator[RefusedLine]:
        try:
            for row in metric_rows(record, self.source.mapping, len(self.checked.documents)):
                self.checked.take(row)
        except RefusedFieldError as error:
            yield error.at(record.line)

    def report(self) -> MetricReport:
        return MetricReport(made=self.checked.made, already_there=self.checked.already_there, **self.facts())
