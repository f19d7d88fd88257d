"""Import, computation and removal of metrics; perplexity of outputs under a judge's model."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.database import write_rows
from annotate.core.errors import InvalidValueError
from annotate.core.models import DataImport, Item, Project, User
from annotate.material.queries.catalogue import BATCH
from annotate.material.queries.imports import source_of
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.source import Source
from judges.core.errors import MetricRefusedError
from judges.core.material import outputs_of
from judges.core.models import DOCUMENT_PERPLEXITY, Judge, Metric, MetricValue
from judges.endpoints.client import TextProbabilities, TextProbability
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.metrics.computing import MetricTexts, TextMeasure
from judges.metrics.queries import MetricCheck, MetricReading, MetricReport, check_metrics
from judges.metrics.reading import MetricMapping

VALUE = ("metric", "item", "value")
METRICS = "metrics"
"""The kind of imports that make metrics."""
PERPLEXITY = "exponential of minus the mean log-probability of a {text}’s tokens but the first, under {model}"


def import_metrics(
    *,
    project: Project,
    source: Source[MetricMapping],
    on_progress: OnProgress | None = None,
    by: User | None = None,
) -> MetricReport:
    """Import the file if all its lines are valid; existing values are not created again.

    Checks the whole file without a lock. Then locks the project, repeats every check, and writes all in one
    transaction, which ends with the report "written".
    """
    on_progress = on_progress or silent
    report = check_metrics(project=project, source=source, on_progress=on_progress)
    if report.is_refused or not report.made.total:
        return report
    on_progress("writing", 0.0, report.lines)
    return _write(project, source, on_progress, by)


@transaction.atomic
def _write(
    project: Project, source: Source[MetricMapping], on_progress: OnProgress, by: User | None
) -> MetricReport:
    project = lock_project(project)
    importer = _MetricImporter(project, source.name)
    reading = MetricReading(source, importer)
    reading.take_all("writing metrics", on_progress)
    report = reading.report()
    if report.is_refused:
        # Something that was free when the file was checked is no longer so.
        transaction.set_rollback(True)
        return report
    importer.finish()
    made = {"metrics": report.made.metrics, "values": report.made.values}
    record(project, "metrics.imported", source.name, after=made, by=by)
    on_progress("written", 1.0, report.lines, report)
    return report


class _MetricImporter(MetricCheck):
    """Processes rows and writes new values, inside the caller's transaction."""

    def __init__(self, project: Project, name: str) -> None:
        super().__init__(project)
        self.project, self.name = project, name
        self._waiting: list[tuple[int, int, float]] = []

    def accept(self, name: str, item: int, value: float) -> None:
        if name not in self._metrics:
            source = f"imported from {self.name}"
            self._metrics[name] = Metric.objects.create(project=self.project, name=name, source=source)
        self._waiting.append((self._metrics[name].pk, item, value))
        if len(self._waiting) >= BATCH:
            self.finish()

    def finish(self) -> None:
        write_rows(MetricValue, VALUE, self._waiting)
        self._waiting = []


def compute_metrics(
    *,
    project: Project,
    measures: Sequence[TextMeasure],
    references: Sequence[str] = (),
    by: User | None = None,
) -> dict[str, int]:
    """Compute the missing values of measures; return the number of values of each metric.

    references: the systems that provide the references of a document; their outputs are not measured. Each
    metric is written in a separate transaction, with the project locked. Raises MetricRefusedError if an
    imported metric has the name, or a document has no reference.
    """
    texts = _texts_of(project, references)
    made = {}
    for measure in measures:
        name = measure.name(references)
        own = MetricValue.objects.filter(metric__project=project, metric__name=name)
        there = set(own.values_list("item", flat=True))
        # Without a lock, because measuring many outputs takes long.
        values = {
            item: value
            for item, each in texts.items()
            if item not in there and (value := measure.value(each)) is not None
        }
        made[name] = _write_measured(project, measure, name, values, by)
    return made


@transaction.atomic
def _write_measured(
    project: Project, measure: TextMeasure, name: str, values: Mapping[int, float], by: User | None
) -> int:
    metric = computed_metric(project, name, f"computed here: {measure.says}")
    # Again, under the lock: another process may have written values during the computation.
    there = set(MetricValue.objects.filter(metric=metric).values_list("item", flat=True))
    found = [(metric.pk, item, value) for item, value in values.items() if item not in there]
    write_rows(MetricValue, VALUE, found)
    if found:
        record(project, "metrics.computed", name, after={"values": len(found)}, by=by)
    return len(found)


# Without a savepoint: an error here ends the caller's transaction, too.
@transaction.atomic(savepoint=False)
def computed_metric(project: Project, name: str, source: str) -> Metric:
    """Return a metric that is made where it is missing. Locks the project.

    Raises MetricRefusedError if another metric has the name.
    """
    metric, _ = Metric.objects.get_or_create(
        project=lock_project(project), name=name, defaults={"source": source}
    )
    # Values of two sources under one name could not be compared.
    if metric.source != source:
        raise MetricRefusedError(
            gettext("“{name}” is another metric already ({source}); remove that one first.").format(
                name=name, source=metric.source
            )
        )
    return metric


def _texts_of(project: Project, references: Sequence[str]) -> dict[int, MetricTexts]:
    """Return the outputs to measure by item, each with its document and references. One query."""
    items = outputs_of(project).select_related("document", "system").order_by("pk")
    rows = list(items)
    unknown = set(references) - {item.system.name for item in rows}
    if unknown:
        raise MetricRefusedError(
            gettext("There is no text of {systems}; name systems as they are here.").format(
                systems=", ".join(sorted(unknown))
            )
        )
    by_document: dict[int, list[str]] = {}
    for item in rows:
        if item.system.name in references:
            by_document.setdefault(item.document_id, []).append(item.text)
    measured = [item for item in rows if item.system.name not in references]
    for item in measured:
        # All documents need one: a metric with gaps would compare systems on different documents.
        if references and item.document_id not in by_document:
            raise MetricRefusedError(
                gettext("The document “{document}” has no reference; add one first.").format(
                    document=item.document.key
                )
            )
    return {
        item.pk: MetricTexts(
            item.text,
            "\n\n".join(text for _label, text in item.document.parts),
            tuple(by_document.get(item.document_id, ())),
        )
        for item in measured
    }


def items_without_perplexity(judge: Judge, *, of_documents: bool = False) -> QuerySet[Item]:
    """Return the items without a value under a judge's model, in order."""
    name = metric_name(judge, of_documents=of_documents)
    values = MetricValue.objects.filter(metric__project=judge.project, metric__name=name, item=OuterRef("pk"))
    return outputs_of(judge.project).filter(~Exists(values)).order_by("pk")


def metric_name(judge: Judge, *, of_documents: bool = False) -> str:
    measured = DOCUMENT_PERPLEXITY if of_documents else "Perplexity"
    # A model's name can be longer than the column.
    return f"{measured} under {judge.model}"[: Metric._meta.get_field("name").max_length]


def measure_perplexities(
    *, judge: Judge, of_documents: bool = False
) -> Iterator[tuple[int, Decimal | None, str]]:
    """Compute the missing perplexities under a judge's model, and store each value immediately.

    Yields for each output or document the number of new values, the cost if prices are known, and why it has
    no value.

    of_documents: process each document once, and give all of its outputs the value.

    No transaction is open during a call: a process that dies loses one value, and the next start continues
    with the others. An output that the model rejects, such as one that is too long, has none. Raises
    InvalidValueError if the judge has no model, MetricRefusedError if another metric has the name. Raises
    RequestFailed if the server does not answer or gives no such probabilities.
    """
    if judge.endpoint is None:
        raise InvalidValueError(
            gettext("{judge} was imported and has no endpoint that could be asked.").format(judge=judge.name)
        )
    server, prices = server_of(judge.endpoint, calls_in_flight=1), prices_of(judge.endpoint, judge.model)
    source = PERPLEXITY.format(text="document" if of_documents else "text", model=judge.model)
    metric = computed_metric(judge.project, metric_name(judge, of_documents=of_documents), source)
    kept = 0
    try:
        with closing(TextProbabilities(server, judge.model)) as asked:
            # Keys first: no cursor stays open over calls that take seconds.
            items = items_without_perplexity(judge, of_documents=of_documents)
            rows = list(items.values_list("document" if of_documents else "pk", "pk"))
            # The items that get the value of one call: all outputs of a document, or the item alone.
            texts: dict[int, list[int]] = {}
            for text, pk in rows:
                texts.setdefault(text, []).append(pk)
            for own in texts.values():
                # Several outputs of one call share their document, so the first one is enough.
                item = Item.objects.select_related("document", "system").get(pk=own[0])
                name = item.document.key
                if not of_documents and item.system:
                    name = f"{item.system.name} on {name}"
                try:
                    found = asked.of_text(
                        "\n\n".join(part["text"] for part in item.document.parts)
                        if of_documents
                        else item.text
                    )
                except RequestFailed as error:
                    # Only a permanent failure of this text lets the others continue.
                    if not error.permanent or error.fatal_for_run:
                        raise
                    yield 0, None, f"{name}: {error.sentence}"
                    continue
                new = sum(_keep(metric, pk, found) for pk in own)
                kept += new
                problem = ""
                if not found.log_probabilities:
                    problem = gettext("The text is one token, which has none before it.")
                elif found.perplexity is None:
                    problem = gettext("The text is so unlikely that its perplexity is no finite number.")
                # The call requests no output, so its input alone costs.
                yield new, prices.cost(found.input_tokens, 0, None), problem and f"{name}: {problem}"
    # Values stored before an error are in the audit log, too.
    finally:
        if kept:
            record(judge.project, "metrics.computed", metric.name, after={"values": kept}, by=None)


def _keep(metric: Metric, item: int, found: TextProbability) -> bool:
    if found.perplexity is None:
        return False
    _, is_new = MetricValue.objects.get_or_create(
        metric=metric, item_id=item, defaults={"value": found.perplexity}
    )
    return is_new


def remove_metric(*, project: Project, metric: Metric, by: User | None = None) -> None:
    """Delete a metric with its values. Locks the project."""
    with transaction.atomic():
        lock_project(project)
        record(project, "metrics.removed", metric.name, before={"source": metric.source}, by=by)
        metric.delete()


def import_upload(data_import: DataImport, on_progress: OnProgress) -> MetricReport:
    source = source_of(data_import, MetricMapping.from_json(data_import.mapping or {}))
    by = data_import.created_by
    return import_metrics(project=data_import.project, source=source, on_progress=on_progress, by=by)
