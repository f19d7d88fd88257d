"""The rules that open and settle disputes, by dimension, and the number of disputes that they would open."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from django.db.models import Count, Max, Min, QuerySet

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Dimension, Project, Rating, Round
from annotate.core.scale import SMALLEST_STEP, distance, normalize
from annotate.questions import Given, QuestionKind, kind_of
from annotate.questions.scale import CATEGORY, SCALE

BATCH = 5000
SHOWN_POINTS = (1, 2, 3)
SHOWN_SHARES = (0.1, 0.2, 0.3)  # of a long scale
LONGEST_COUNTED_BY_POINTS = 10


@dataclass(frozen=True)
class Rule:
    """The distance of Round I values that opens a dispute, and the one within which values settle it."""

    threshold: float
    tolerance: float


class ValueSpread(NamedTuple):
    """The spread of a unit's values, by the keys of its item and dimension."""

    item: int
    dimension: int
    points: float


@dataclass(frozen=True)
class RulePreview:
    """A dimension's rule, its units with two or more values, and the disputes that each threshold opens."""

    dimension: Dimension
    rule: Rule
    units: int
    opened: Sequence[tuple[float, int]]

    @property
    def is_named(self) -> bool:
        """Return True if the values are categories with names. Their rule is fixed."""
        return kind_of(self.dimension) is CATEGORY

    @property
    def is_scale(self) -> bool:
        """Return True if distances are points of a scale; distances of other kinds are between 0 and 1."""
        return kind_of(self.dimension) is SCALE

    @property
    def has_own_rule(self) -> bool:
        """Whether the dimension can have a separate rule."""
        return not self.is_named and kind_of(self.dimension).has_distance

    @property
    def kind(self) -> QuestionKind:
        return kind_of(self.dimension)

    @property
    def longest(self) -> float:
        """Return the largest possible distance."""
        return self.dimension.scale_maximum - self.dimension.scale_minimum if self.is_scale else 1

    @property
    def step(self) -> float:
        """Return the unit of thresholds: each is a multiple of it."""
        return self.dimension.scale_step if self.is_scale else SMALLEST_STEP


def rule_of(project: Project, dimension: Dimension) -> Rule:
    """Return a dimension's rule; answers that open a dispute never settle it.

    A scale without a separate rule follows the project's rule; other questions follow the usual rule of
    their kind.
    """
    kind = kind_of(dimension)
    if kind is not SCALE:
        return Rule(*kind.rule(dimension.dispute_threshold, dimension.tolerance))
    threshold = dimension.dispute_threshold or project.dispute_threshold
    tolerance = project.tolerance if dimension.tolerance is None else dimension.tolerance
    # The upper bound is the largest distance on this scale that opens no dispute.
    return Rule(threshold, max(min(tolerance, normalize(threshold - dimension.scale_step)), 0))


def rules_of(project: Project) -> Mapping[int, Rule]:
    """Return the rule of every dimension by its key. One query."""
    return {dimension.pk: rule_of(project, dimension) for dimension in project.dimensions.all()}


def spreads_of(round: Round) -> Iterator[ValueSpread]:
    """Yield the spread of every unit of a round with values from two or more counted raters.

    One query; one more if the round has questions of other kinds than scales.
    """
    given = Rating.objects.filter(
        assignment__round=round, assignment__annotator__counted=True, value__isnull=False
    )
    # Other kinds compute their distance from all answers.
    guideline = FrozenGuideline.from_json(round.guideline.content)
    for item, dimension, answers in answers_by_unit(given, guideline):
        if len(answers) >= 2:
            yield ValueSpread(item, dimension.id, kind_of(dimension).spread(dimension, answers))
    # On a scale the smallest and the largest value suffice, which the database finds.
    units = (
        given.filter(dimension__kind=SCALE.key)
        .values_list("assignment__item", "dimension")
        .annotate(count=Count("value"), smallest=Min("value"), largest=Max("value"))
    )
    paired = units.filter(count__gte=2).order_by("assignment__item", "dimension")
    for item, dimension, _, smallest, largest in paired.iterator(BATCH):
        yield ValueSpread(item, dimension, distance(smallest, largest))


def answers_by_unit(
    ratings: QuerySet[Rating], guideline: FrozenGuideline
) -> Iterator[tuple[int, FrozenDimension, list[Given]]]:
    """Yield the answers to questions that are no scales, unit by unit. Up to one query."""
    others = {each.id: each for each in guideline.dimensions if not each.is_scale}
    if not others:
        return
    # `groupby` joins only neighbours, so the rows of a unit must follow each other.
    rows = ratings.filter(dimension__in=others).order_by("assignment__item", "dimension")
    columns = rows.values_list("assignment__item", "dimension", "value", "data")
    for (item, dimension), own in groupby(columns.iterator(BATCH), key=itemgetter(0, 1)):
        answers = [Given(value, data) for _, _, value, data in own if value is not None]
        if answers:
            yield item, others[dimension], answers


def rule_previews(project: Project, spreads: Mapping[int, Counter[float]]) -> list[RulePreview]:
    """Return every dimension's rule, with the number of disputes that thresholds would open. One query.

    spreads: by key of a dimension, the number of units for each spread in points, as results store it.
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
    kind = kind_of(dimension)
    if kind is not SCALE:
        return {kind.rule(None, None)[0]}
    if longest <= LONGEST_COUNTED_BY_POINTS:
        step: set[float] = {dimension.scale_step} if dimension.scale_step < 1 else set()
        return step | {points for points in SHOWN_POINTS if points <= longest}
    return {max(round(share * longest), 1) for share in SHOWN_SHARES}
