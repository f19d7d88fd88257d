"""Plain functions that make judges, and runs with judgments that were never asked."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import count
from typing import Any

from django.utils import timezone

from annotate.core.models import Dimension, Item, Project
from annotate.core.outbound import VariablePermit, host_of
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.models import Endpoint, Judge, Judgment, Metric, MetricValue, PromptTemplate, Run
from judges.core.specification import Scope
from judges.endpoints.work import UNKNOWN_PRICES, Prices
from judges.methods import METHODS
from judges.runs.commands.runs import plan_run
from tests.factories import Cast

MODEL = "gpt-3.5-turbo-0301"
_numbers = count(1)


def unpriced(_model: str) -> Prices:
    """Return unknown prices, whatever the model."""
    return UNKNOWN_PRICES


def make_endpoint(project: Project, base_url: str = "http://127.0.0.1:9/v1", **fields: Any) -> Endpoint:
    """Make an endpoint; at the usual address nobody answers."""
    values = {"name": f"Endpoint {next(_numbers):05}", "timeout_seconds": 10, **fields}
    return Endpoint.objects.create(project=project, base_url=base_url, **values)


def make_permit(variable: str, url: str, *projects: Project) -> VariablePermit:
    """Make what the operator says with VARIABLE=HOST:PORT@PROJECT."""
    return VariablePermit(variable, host_of(url), frozenset(project.slug for project in projects))


def make_priced_endpoint(
    project: Project, base_url: str = "http://127.0.0.1:9/v1", **fields: Any
) -> Endpoint:
    """Make an endpoint at which a million tokens cost 2 going in and 8 coming out."""
    prices = {"input_price": Decimal(2), "output_price": Decimal(8)}
    return make_endpoint(project, base_url, **{**prices, **fields})


def make_template(project: Project, method: str = "rts", **fields: Any) -> PromptTemplate:
    """Make version 1 of a template with a method's own text."""
    values = {"name": f"Template {next(_numbers):05}", "version": 1, "text": METHODS[method].default_template}
    return PromptTemplate.objects.create(project=project, method=method, **{**values, **fields})


def make_judge(
    project: Project, method: str = "rts", *, endpoint: Endpoint | None = None, **fields: Any
) -> Judge:
    """Make a judge that asks with a method's own text."""
    template = fields.pop("template", None) or make_template(project, method)
    # Known, so that no call is made before a run to find it out.
    usual = {"name": f"Judge {next(_numbers):05}", "model": MODEL, "max_tokens_name": "max_tokens"}
    values: dict[str, Any] = {**usual, **fields}
    return Judge.objects.create(
        project=project,
        endpoint=endpoint or make_endpoint(project),
        method=method,
        template=template,
        **values,
    )


def make_run(project: Project, *judges: Judge, budget: Decimal | None = None, **scope: Any) -> Run:
    """Plan a run over all items, and over all dimensions unless the scope says which."""
    dimensions = scope.pop("dimensions", None) or list(project.dimensions.values_list("key", flat=True))
    return plan_run(project=project, scope=Scope(judges, dimensions, **scope), by=None, budget=budget)


def make_judgment(judge: Judge, item: Item, dimension: Dimension, **fields: Any) -> Judgment:
    """Make a judgment that was answered, in a run of its own."""
    run = Run.objects.create(
        project=judge.project, guideline=freeze_guideline(judge.project), status=Run.Status.FINISHED
    )
    answered: dict[str, Any] = {
        "status": Judgment.Status.DONE,
        "value": 3,
        "reply": "Score: 3",
        "attempts": 1,
        "answered_at": timezone.now(),
    }
    return Judgment.objects.create(
        **{"run": run, "judge": judge, "item": item, "dimension": dimension, **answered, **fields}
    )


def make_judgments(judge: Judge, cast: Cast, value_of: Callable[[int, str, str], int | None]) -> None:
    """Make an answered judgment of every unit, by its document's number, its system and its dimension."""
    documents = sorted({item.document_id for item in cast.items})
    make_answers(
        judge,
        (
            (item, dimension, value_of(documents.index(item.document_id), item.system.name, dimension.key))
            for item in cast.items
            for dimension in cast.dimensions
        ),
    )


def make_answers(
    judge: Judge, answers: Iterable[tuple[Item, Dimension, int | None]], **fields: Any
) -> list[Judgment]:
    """Make answered judgments in one run; a value None is not given."""
    run = Run.objects.create(
        project=judge.project, guideline=freeze_guideline(judge.project), status=Run.Status.FINISHED
    )
    usual: dict[str, Any] = {"status": Judgment.Status.DONE, "attempts": 1, "answered_at": timezone.now()}
    return Judgment.objects.bulk_create(
        Judgment(run=run, judge=judge, item=item, dimension=dimension, value=value, **{**usual, **fields})
        for item, dimension, value in answers
        if value is not None
    )


def make_metric(cast: Cast, values: Iterable[float], *, name: str = "ROUGE-1") -> Metric:
    """Make a metric with a value for each of the project's items."""
    metric = Metric.objects.create(project=cast.project, name=name, source="imported from rouge.csv")
    MetricValue.objects.bulk_create(
        MetricValue(metric=metric, item=item, value=value)
        for item, value in zip(cast.items, values, strict=True)
    )
    return metric
