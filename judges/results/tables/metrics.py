"""Metrics compared with judges: the correlation of each with mean human scores, at every level."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Stream
from agreement.comparison import (
    CORRELATIONS,
    Level,
    Scores,
    correct_preferences,
    correlation_called,
    correlation_with_humans,
)
from agreement.comparison.scores import JUDGE, METRIC
from agreement.reliability import meta_correlation
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.results.page import Section
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text
from judges.core.errors import NoMetricsError
from judges.core.models import Judge, Metric, MetricValue
from judges.results.queries.scores import (
    Material,
    guideline_of,
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
    stream_of_metric,
)
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M
from judges.results.tables.parameters import COEFFICIENT, CORRECTED, ROUND, chosen_round, counts_corrected
from judges.results.tables.together import LEVELS
from judges.results.tables.version import values_of, version_of_judges

KINDS = {False: gettext_lazy("judge"), True: gettext_lazy("metric")}
_SAYS = gettext_lazy(
    "Each row compares a judge or a metric with mean human scores. For metrics where lower is better, such "
    "as error rates, expect correlations below 0 and few pairs as people’s. There are no p values: with "
    "many metrics, the highest result is high by luck, too, so read the intervals."
)


@dataclass(frozen=True, eq=False)
class _MetricComparison:
    name: str
    is_metric: bool
    scores: Scores
    stream: Stream


def metrics_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the table of metrics and judges on one dimension.

    Raises NoMetricsError if there is no metric. Eleven queries.
    """
    metrics = list(Metric.objects.filter(project=project).order_by("name"))
    if not metrics:
        raise NoMetricsError(
            gettext("There is no metric yet; an admin imports or computes some: Judges, Import metrics.")
        )
    round = chosen_round(project, chosen)
    material = material_of(project, round)
    dimension = next((each for each in material.dimensions if each.key == chosen.get("dimension")), None)
    if dimension is None:
        raise NoMetricsError(gettext("No dimension is frozen yet; open Round I or start a run first."))
    rows = [
        *_judges(project, material, dimension, chosen),
        *_metrics(project, metrics, material, dimension),
    ]
    against = (
        gettext("Compared with people’s values at the end of {round}.").format(round=round)
        if round
        else gettext("There are no ratings yet.")
    )
    table = _correlations(rows, dimension, chosen["coefficient"])
    return [
        Section(
            gettext("Metrics and judges compared with people: {dimension}").format(dimension=dimension.name),
            against,
            [table],
        )
    ]


def _judges(
    project: Project, material: Material, dimension: FrozenDimension, chosen: Chosen
) -> Iterator[_MetricComparison]:
    judges = [
        judge for judge in Judge.objects.filter(project=project).order_by("name") if not judge.asks_pairs
    ]
    samples = samples_of(judges, material, with_corrected=counts_corrected(chosen))
    for judge in judges:
        said = samples[judge.pk, dimension.key]
        if said.given.any():
            scores = scores_of(material, dimension.key, said)
            yield _MetricComparison(judge.name, False, scores, stream_of_judge(project, judge, dimension))


def _metrics(
    project: Project, metrics: Sequence[Metric], material: Material, dimension: FrozenDimension
) -> Iterator[_MetricComparison]:
    values = _values_of(metrics, material)
    for metric in metrics:
        scores = Scores(
            systems=material.systems,
            documents=material.documents,
            human=material.human(dimension.key),
            judge=values[metric.pk],
        )
        yield _MetricComparison(metric.name, True, scores, stream_of_metric(project, metric, dimension))


def _values_of(metrics: Sequence[Metric], material: Material) -> dict[int, npt.NDArray[np.float64]]:
    """Return the values of metrics over the material's items, NaN for a gap. One query."""
    found = {metric.pk: np.full(len(material.items), np.nan) for metric in metrics}
    positions = {int(item): index for index, item in enumerate(material.items)}
    rows = MetricValue.objects.filter(metric__in=found).values_list("metric", "item", "value")
    for metric, item, value in rows.iterator(20_000):
        found[metric][positions[item]] = value
    return found


def _correlations(rows: Sequence[_MetricComparison], dimension: FrozenDimension, coefficient: str) -> Table:
    label = CORRELATIONS[coefficient].estimator.label
    columns = [
        Column("name", gettext("Judge or metric"), ColumnKind.TEXT),
        Column("kind", gettext("Kind"), ColumnKind.TEXT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        *(Column(f"{level}", f"{label}, {LEVELS[level]}") for level in Level),
        Column("meta", "M"),
        Column("correct", gettext("pairs as people"), ColumnKind.COUNT),
        Column("compared", gettext("pairs"), ColumnKind.COUNT),
    ]
    cells = [_row(each, dimension, coefficient) for each in rows]
    return Table(
        "metrics",
        gettext("{label} with mean human scores").format(label=label),
        columns,
        cells,
        heads=2,
        says=f"{_SAYS} {ABOUT_INTERVALS_OF_M}",
    )


def _row(each: _MetricComparison, dimension: FrozenDimension, coefficient: str) -> list[Cell]:
    measure = correlation_called(coefficient, named=dimension.is_named)
    side = METRIC if each.is_metric else JUDGE
    pairs = None if dimension.is_named else correct_preferences(each.scores)
    levels = (
        correlation_with_humans(each.scores, measure, level, generator=each.stream, side=side)
        for level in Level
    )
    why = gettext("Categories have no order, so no system is above another.")
    return [
        text(each.name),
        text(str(KINDS[each.is_metric])),
        Cell(int((~np.isnan(each.scores.judge)).sum())),
        *map(figure, levels),
        figure(meta_correlation(each.scores, measure, generator=each.stream)),
        Cell(pairs.correct if pairs else None, reason="" if pairs else why),
        Cell(pairs.compared if pairs else None, reason="" if pairs else why),
    ]


def version_of_metrics(project: Project) -> Sequence[object]:
    """Return a version that changes with ratings, judgments or metrics. Seven queries."""
    last = MetricValue.objects.filter(metric__project=project).order_by("-pk").values_list("pk", flat=True)
    metrics = Metric.objects.filter(project=project).order_by("pk").values_list("pk", "name")
    return [*version_of_judges(project), list(metrics), last.first()]


def size_of_metrics(project: Project) -> int:
    return values_of(project) + MetricValue.objects.filter(metric__project=project).count()


def _dimensions(project: Project) -> Sequence[tuple[str, str]]:
    round = last_round(project)
    return [(each.key, each.name) for each in guideline_of(project, round).scales]


METRIC_PARAMETERS = (
    Parameter("dimension", gettext_lazy("Dimension"), _dimensions),
    COEFFICIENT,
    ROUND,
    CORRECTED,
)
