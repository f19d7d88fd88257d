"""Which units are disputed and when they are settled: each dimension's rule, and what it would open."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Max, Min

from annotate.core.models import Dimension, MeasurementLevel, Project, Rating, Round

BATCH = 5000
SHOWN_POINTS = (1, 2, 3)
SHOWN_SHARES = (0.1, 0.2, 0.3)  # of a long scale
LONGEST_COUNTED_BY_POINTS = 10


@dataclass(frozen=True)
class Rule:
    """How far apart Round I values open a dispute, and within which distance all values settle it."""

    threshold: int
    tolerance: int


CATEGORIES = Rule(1, 0)
"""Codes of named categories have no distance: any two different ones dispute, and only equal ones settle."""


class ValueSpread(NamedTuple):
    """How far apart the values of a unit lie, by the keys of its item and dimension."""

    item: int
    dimension: int
    points: int


@dataclass(frozen=True)
class RulePreview:
    """A dimension's rule, its units with two values or more, and how many each threshold would dispute."""

    dimension: Dimension
    rule: Rule
    units: int
    opened: Sequence[tuple[int, int]]

    @property
    def is_named(self) -> bool:
        """Whether the values are named categories, whose rule is given."""
        return self.dimension.measurement_level == MeasurementLevel.NOMINAL


def rule_of(project: Project, dimension: Dimension) -> Rule:
    """Return a dimension's own rule, else the project's; what opens a dispute never settles it."""
    if dimension.measurement_level == MeasurementLevel.NOMINAL:
        return CATEGORIES
    threshold = dimension.dispute_threshold or project.dispute_threshold
    tolerance = project.tolerance if dimension.tolerance is None else dimension.tolerance
    return Rule(threshold, min(tolerance, threshold - 1))


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
        yield ValueSpread(item, dimension, largest - smallest)


def rule_previews(project: Project, round: Round | None) -> list[RulePreview]:
    """Return every dimension's rule, with what thresholds would open where Round I is given. Two queries."""
    spreads: dict[int, Counter[int]] = {}
    for spread in spreads_of(round) if round else ():
        spreads.setdefault(spread.dimension, Counter())[spread.points] += 1
    return [
        _preview(dimension, rule_of(project, dimension), spreads.get(dimension.pk, Counter()))
        for dimension in project.dimensions.all()
    ]


def _preview(dimension: Dimension, rule: Rule, spreads: Counter[int]) -> RulePreview:
    thresholds = sorted({*_values_in_use(dimension), rule.threshold})
    opened = [
        (threshold, sum(count for points, count in spreads.items() if points >= threshold))
        for threshold in thresholds
    ]
    return RulePreview(dimension, rule, spreads.total(), opened)


def _values_in_use(dimension: Dimension) -> set[int]:
    longest = dimension.scale_maximum - dimension.scale_minimum
    if dimension.measurement_level == MeasurementLevel.NOMINAL:
        return {1}
    if longest <= LONGEST_COUNTED_BY_POINTS:
        return {points for points in SHOWN_POINTS if points <= longest}
    return {max(round(share * longest), 1) for share in SHOWN_SHARES}
