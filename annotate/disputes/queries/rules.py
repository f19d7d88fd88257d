"""Which units are disputed and when they are settled: each dimension's rule, and what it would open."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Max, Min

from annotate.core.models import Dimension, MeasurementLevelChoices, Project, Rating, Round
from annotate.core.scale import distance, normalize

BATCH = 5000
SHOWN_POINTS = (1, 2, 3)
SHOWN_SHARES = (0.1, 0.2, 0.3)  # of a long scale
LONGEST_COUNTED_BY_POINTS = 10


@dataclass(frozen=True)
class Rule:
    """How far apart Round I values open a dispute, and within which distance all values settle it."""

    threshold: float
    tolerance: float


CATEGORIES = Rule(1, 0)
"""Codes of named categories have no distance: any two different ones dispute, and only equal ones settle."""


class ValueSpread(NamedTuple):
    """How far apart the values of a unit lie, by the keys of its item and dimension."""

    item: int
    dimension: int
    points: float


@dataclass(frozen=True)
class RulePreview:
    """A dimension's rule, its units with two values or more, and how many each threshold would dispute."""

    dimension: Dimension
    rule: Rule
    units: int
    opened: Sequence[tuple[float, int]]

    @property
    def is_named(self) -> bool:
        """Whether the values are named categories, whose rule is given."""
        return self.dimension.measurement_level == MeasurementLevelChoices.NOMINAL


def rule_of(project: Project, dimension: Dimension) -> Rule:
    """Return a dimension's own rule, else the project's; what opens a dispute never settles it."""
    if dimension.measurement_level == MeasurementLevelChoices.NOMINAL:
        return CATEGORIES
    threshold = dimension.dispute_threshold or project.dispute_threshold
    tolerance = project.tolerance if dimension.tolerance is None else dimension.tolerance
    return Rule(threshold, max(min(tolerance, normalize(threshold - dimension.scale_step)), 0))


def rules_of(project: Project) -> Mapping[int, Rule]:
    """Return the rule of every dimension by its key. One query."""
    return {dimension.pk: rule_of(project, dimension) for dimension in project.dimensions.all()}


def spreads_of(round: Round) -> Iterator[ValueSpread]:
    """Yield the spread of every unit of a round that two counted raters or more gave a value. One query."""
    given = Rating.objects.filter(
        assignment__round=round, assignment__annotator__counted=True, value__isnull=False
    )
    units = given.values_list("assignment__item", "dimension").annotate(
        count=Count("value"), smallest=Min("value"), largest=Max("value")
    )
    paired = units.filter(count__gte=2).order_by("assignment__item", "dimension")
    for item, dimension, _, smallest, largest in paired.iterator(BATCH):
        yield ValueSpread(item, dimension, distance(smallest, largest))


def rule_previews(project: Project, spreads: Mapping[int, Counter[float]]) -> list[RulePreview]:
    """Return every dimension's rule, with what thresholds would open. One query.

    spreads: for the key of a dimension how many units lie how many points apart, as results keep it.
    """
    return [
        _preview(dimension, rule_of(project, dimension), spreads.get(dimension.pk, Counter()))
        for dimension in project.dimensions.all()
    ]


def _preview(dimension: Dimension, rule: Rule, spreads: Counter[float]) -> RulePreview:
    thresholds = sorted({*_values_in_use(dimension), rule.threshold})
    opened = [
        (threshold, sum(count for points, count in spreads.items() if points >= threshold))
        for threshold in thresholds
    ]
    return RulePreview(dimension, rule, spreads.total(), opened)


def _values_in_use(dimension: Dimension) -> set[float]:
    longest = dimension.scale_maximum - dimension.scale_minimum
    if dimension.measurement_level == MeasurementLevelChoices.NOMINAL:
        return {1}
    if longest <= LONGEST_COUNTED_BY_POINTS:
        step: set[float] = {dimension.scale_step} if dimension.scale_step < 1 else set()
        return step | {points for points in SHOWN_POINTS if points <= longest}
    return {max(round(share * longest), 1) for share in SHOWN_SHARES}
