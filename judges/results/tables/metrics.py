"""Metrics compared with judges: the correlation of each with mean human scores, at every level."""

from collections.abc import Sequence

import numpy as np
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
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, figure, text
from judges.core.errors import NoMetricsError
from judges.core.models import Judge, Metric, MetricValue
from judges.results.queries.scores import (
    guideline_of,
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
    stream_of_metric,
)
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M
from judges.results.tables.parameters import (
    COEFFICIENT,
    CORRECTED,
    ROUND,
    chosen_round,
    counts_corrected,
    values_of,
    version_of_judges,
)
from judges.results.tables.together import LEVELS

KINDS = {False: gettext_lazy("judge"), True: gettext_lazy("metric")}
_SAYS = gettext_lazy(
    "Each row compares a judge or a metric with mean human scores. For metrics where lower is better, such "
    "as error rates, expect correlations below 0 and few pairs as people’s. There are no p values: with "
    "many metrics, the highest result is high by luck, too, so read the intervals."
)


def metrics_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Raises NoMetricsError if there is no metric. Eleven queries."""
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
    rows = []
    every = Judge.objects.filter(project=project).order_by("name")
    judges = [judge for judge in every if not judge.asks_pairs]
    samples = samples_of(judges, material, with_corrected=counts_corrected(chosen))
    for judge in judges:
        said = samples[judge.pk, dimension.key]
        if said.given.any():
            scores, stream = (
                scores_of(material, dimension.key, said),
                stream_of_judge(project, judge, dimension),
            )
            rows.append(_row(judge.name, scores, dimension, chosen["coefficient"], stream))
    # Metrics as arrays in the order of the items, like judges.
    values = {metric.pk: np.full(len(material.items), np.nan) for metric in metrics}
    positions = {int(item): index for index, item in enumerate(material.items)}
    stored = MetricValue.objects.filter(metric__in=values).values_list("metric", "item", "value")
    for pk, item, value in stored.iterator(20_000):
        # Imported values can be about other items: an addition's bridging items.
        if item in positions:
            values[pk][positions[item]] = value
    for metric in metrics:
        scores = Scores(
            systems=material.systems,
            documents=material.documents,
            human=material.human(dimension.key),
            judge=values[metric.pk],
        )
        stream = stream_of_metric(project, metric, dimension)
        rows.append(_row(metric.name, scores, dimension, chosen["coefficient"], stream, is_metric=True))
    label = CORRELATIONS[chosen["coefficient"]].estimator.label
    # A metric has its own scale, so it has no alpha, bias or R.
    columns = [
        Column("name", gettext("Judge or metric"), ColumnKind.TEXT),
        Column("kind", gettext("Kind"), ColumnKind.TEXT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        *(Column(f"{level}", f"{label}, {LEVELS[level]}") for level in Level),
        Column("meta", "M"),
        Column("correct", gettext("pairs as people"), ColumnKind.COUNT),
        Column("compared", gettext("pairs"), ColumnKind.COUNT),
    ]
    title = gettext("{label} with mean human scores").format(label=label)
    table = Table("metrics", title, columns, rows, heads=2, says=f"{_SAYS} {ABOUT_INTERVALS_OF_M}")
    against = (
        gettext("Compared with people’s values at the end of {round}.").format(round=round)
        if round
        else gettext("There are no ratings yet.")
    )
    return [
        Section(
            gettext("Metrics and judges compared with people: {dimension}").format(dimension=dimension.name),
            against,
            [table],
        )
    ]


def _row(
    name: str,
    scores: Scores,
    dimension: FrozenDimension,
    coefficient: str,
    stream: Stream,
    *,
    is_metric: bool = False,
) -> list[Cell]:
    measure = correlation_called(coefficient, named=dimension.is_named)
    side = METRIC if is_metric else JUDGE
    # Names of categories have no means by which systems could be ordered.
    pairs = None if dimension.is_named else correct_preferences(scores)
    levels = (correlation_with_humans(scores, measure, level, generator=stream, side=side) for level in Level)
    why = gettext("Categories have no order, so no system is above another.")
    return [
        text(name),
        text(str(KINDS[is_metric])),
        Cell(int((~np.isnan(scores.judge)).sum())),
        *map(figure, levels),
        figure(meta_correlation(scores, measure, generator=stream)),
        Cell(pairs.correct if pairs else None, reason="" if pairs else why),
        Cell(pairs.compared if pairs else None, reason="" if pairs else why),
    ]


def version_of_metrics(project: Project) -> Sequence[object]:
    """Return a version that changes with ratings, judgments or metrics. Seven queries."""
    # Values never change, and go only with their metric, so the last id shows new ones.
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
