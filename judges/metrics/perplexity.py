"""The perplexity of a project's texts under a judge's model, as a metric: for the bias of familiarity."""

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
from judges.core.models import Judge, Metric, MetricValue
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.text_probabilities import TextProbabilities, TextProbability

SAYS = "exponential of minus the mean log-probability of a text’s tokens but the first, under {model}"


@dataclass(frozen=True)
class AskedText:
    """What came of asking about a text: its perplexity, or why it has none; cost where prices are known."""

    item: Item
    perplexity: float | None
    problem: str = ""
    cost: Decimal | None = None


def texts_without_perplexity(judge: Judge) -> QuerySet[Item]:
    """Return the items whose text has no perplexity under a judge's model yet, in their order."""
    values = MetricValue.objects.filter(
        metric__project=judge.project, metric__name=metric_name(judge), item=OuterRef("pk")
    )
    return outputs_of(judge.project).filter(~Exists(values)).order_by("pk")


def metric_name(judge: Judge) -> str:
    """Return what the metric of a judge's model is called."""
    return f"Perplexity under {judge.model}"[: Metric._meta.get_field("name").max_length]


def measure_perplexities(*, judge: Judge, by: User | None = None) -> Iterator[AskedText]:
    """Ask a judge's model about each text that has no perplexity yet, and keep each value at once.

    No transaction is open during a call: a process that dies loses one text, and who begins again goes on
    with the others. A text that the model refuses, as one that is too long, has none. Raises
    InvalidValueError where the judge asks nobody, MetricRefusedError where the metric's name is taken, and
    RequestFailed where the server does not answer or gives no such probabilities.
    """
    if judge.endpoint is None:
        raise InvalidValueError(
            gettext("{judge} was imported and has no endpoint that could be asked.").format(judge=judge.name)
        )
    server, prices = server_of(judge.endpoint, calls_in_flight=1), prices_of(judge.endpoint, judge.model)
    metric, kept = _metric(judge), 0
    try:
        with closing(TextProbabilities(server, judge.model)) as asked:
            # Keys first: no cursor stays open over calls that take seconds.
            for pk in list(texts_without_perplexity(judge).values_list("pk", flat=True)):
                item = Item.objects.select_related("document", "system").get(pk=pk)
                try:
                    found = asked.of_text(item.text)
                except RequestFailed as error:
                    if not error.permanent or error.fatal_for_run:
                        raise
                    yield AskedText(item, None, error.sentence)
                    continue
                kept += _keep(metric, item, found)
                problem = (
                    ""
                    if found.log_probabilities
                    else gettext("The text is one token, which has none before it.")
                )
                cost = prices.cost(found.input_tokens, 0, None)
                yield AskedText(item, found.perplexity, problem, cost)
    finally:
        if kept:
            record(judge.project, "metrics.computed", metric.name, after={"values": kept}, by=by)


@transaction.atomic
def _metric(judge: Judge) -> Metric:
    project, source = lock_project(judge.project), SAYS.format(model=judge.model)
    metric, _ = Metric.objects.get_or_create(
        project=project, name=metric_name(judge), defaults={"source": source}
    )
    if metric.source != source:
        raise MetricRefusedError(
            gettext("“{metric}” is another metric already ({source}); remove that one first.").format(
                metric=metric.name, source=metric.source
            )
        )
    return metric


def _keep(metric: Metric, item: Item, found: TextProbability) -> bool:
    if found.perplexity is None:
        return False
    _, is_new = MetricValue.objects.get_or_create(
        metric=metric, item=item, defaults={"value": found.perplexity}
    )
    return is_new
