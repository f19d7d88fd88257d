"""Perplexity of a project's outputs under a judge's model, as a metric for the bias of familiarity."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.models import Item, User
from judges.core.errors import MetricRefusedError
from judges.core.material import outputs_of
from judges.core.models import DOCUMENT_PERPLEXITY, Judge, Metric, MetricValue
from judges.endpoints.client import TextProbabilities, TextProbability
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of

SAYS = "exponential of minus the mean log-probability of a {text}’s tokens but the first, under {model}"


@dataclass(frozen=True)
class MeasuredText:
    """The result for one output or document: its perplexity, or why it has none; cost if prices are known.

    name: of the output or the document. values: the number of new values.
    """

    name: str
    perplexity: float | None
    problem: str = ""
    cost: Decimal | None = None
    values: int = 0


def items_without_perplexity(judge: Judge, *, of_documents: bool = False) -> QuerySet[Item]:
    """Return the items without a value under a judge's model, in order."""
    name = metric_name(judge, of_documents=of_documents)
    values = MetricValue.objects.filter(metric__project=judge.project, metric__name=name, item=OuterRef("pk"))
    return outputs_of(judge.project).filter(~Exists(values)).order_by("pk")


def metric_name(judge: Judge, *, of_documents: bool = False) -> str:
    measured = DOCUMENT_PERPLEXITY if of_documents else "Perplexity"
    return f"{measured} under {judge.model}"[: Metric._meta.get_field("name").max_length]


def measure_perplexities(
    *, judge: Judge, of_documents: bool = False, by: User | None = None
) -> Iterator[MeasuredText]:
    """Compute the missing perplexities under a judge's model, and store each value immediately.

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
    metric, kept = _metric(judge, of_documents=of_documents), 0
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
                    yield MeasuredText(name, None, error.sentence)
                    continue
                new = sum(_keep(metric, pk, found) for pk in own)
                kept += new
                problem = ""
                if not found.log_probabilities:
                    problem = gettext("The text is one token, which has none before it.")
                elif found.perplexity is None:
                    problem = gettext("The text is so unlikely that its perplexity is no finite number.")
                cost = prices.cost(found.input_tokens, 0, None)
                yield MeasuredText(name, found.perplexity, problem, cost, new)
    # Values stored before an error are in the audit log, too.
    finally:
        if kept:
            record(judge.project, "metrics.computed", metric.name, after={"values": kept}, by=by)


@transaction.atomic
def _metric(judge: Judge, *, of_documents: bool) -> Metric:
    project = lock_project(judge.project)
    source = SAYS.format(text="document" if of_documents else "text", model=judge.model)
    name = metric_name(judge, of_documents=of_documents)
    metric, _ = Metric.objects.get_or_create(project=project, name=name, defaults={"source": source})
    if metric.source != source:
        raise MetricRefusedError(
            gettext("“{metric}” is another metric already ({source}); remove that one first.").format(
                metric=metric.name, source=metric.source
            )
        )
    return metric


def _keep(metric: Metric, item: int, found: TextProbability) -> bool:
    if found.perplexity is None:
        return False
    _, is_new = MetricValue.objects.get_or_create(
        metric=metric, item_id=item, defaults={"value": found.perplexity}
    )
    return is_new
