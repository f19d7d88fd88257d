"""Units that split raters into two camps, beyond the noise of the panel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import scipy

from agreement.data import FloatArray, IntArray, ReliabilityData
from agreement.streams import Randomness, generator_of
from agreement.summary import normalised_entropy, rater_effects

LEAST_RATERS = 3
"""Two raters who differ cannot show whether the unit or one of them is the reason."""
LEAST_UNITS = 20
"""With fewer units of two values, the noise of the panel is not known well enough."""
MOST_CLASSES = 11
"""Of longer scales the values in use are classes, of more values the used ones of as many equal widths."""
LEAST_GAP = 1.0
"""Points by which the means of two camps must differ, after severity."""
LEAST_SHARE = 0.8
"""Least share of a unit's variation between its camps. Evenly spread values have .75, four values .8."""
FALSE_DISCOVERY_RATE = 0.05
MOST_PATTERNS = 20_000
"""Maximum number of listed patterns; above it, a random sample replaces the list."""
_FIRST_DRAWS, _DRAWS = 2_000, 20_000
_WORTH_MORE_DRAWS = 0.02
_PENALTY = 0.25
_UNITS_IN_FIT = 5_000
_CLOSE = 1e-9  # sums of equal values in another order differ by less


@dataclass(frozen=True)
class UnitSplit:
    """One unit: how its values are distributed, and whether they form two camps beyond noise.

    entropy: of the distribution of values, divided by the largest that as many raters can have on the scale.
    variance: of the values, divisor n - 1. variance_after_severity: the same without the raters' effects.
    lower, upper: the positions of the raters of each camp, empty if there are no camps. gap: the difference
    of the camps' means after severity. p_value: the probability of such camps under noise. adjusted_p: by
    Benjamini and Hochberg over the units. splits: whether adjusted_p reaches the rate of false discoveries.
    """

    unit: int
    raters: int
    entropy: float
    variance: float
    variance_after_severity: float
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    gap: float
    p_value: float
    adjusted_p: float
    splits: bool


@dataclass(frozen=True)
class SplitUnits:
    """The units with three values or more of a dimension; `reason`: why no unit is tested."""

    units: tuple[UnitSplit, ...]
    reason: str = ""

    @property
    def splitting(self) -> tuple[UnitSplit, ...]:
        """The units that split raters, the smallest p first."""
        found = [each for each in self.units if each.splits]
        return tuple(sorted(found, key=lambda each: (each.p_value, -each.gap, each.unit)))


def split_units(
    alone: ReliabilityData,
    last: ReliabilityData | None = None,
    *,
    generator: Randomness,
    false_discovery_rate: float = FALSE_DISCOVERY_RATE,
) -> SplitUnits:
    """Return the units that split raters, by their last values and the noise of the values given alone.

    alone, last: the same raters and units before and after discussion; without `last`, the values given alone
    are tested.

    The noise follows the rating scale model with raters as a facet: ln P(k) / P(k - 1) = unit - severity of
    the rater - threshold k. Given the sum of a unit's values, the probability of their pattern does not
    depend on the unit. Severities and thresholds maximise this conditional likelihood of the values given
    alone, of up to 5,000 units with two values, minus .125 times their squares.

    Each unit with three values is cut in two so that most of its variation after severity is between the
    parts. With four values, a part has two at least. The parts are camps if their means differ by more than a
    point (an eleventh of a scale of more than 11 points) and four fifths of the variation is between them. p
    is the probability, given the sum, of camps with at least this variation between them: exact up to 20,000
    patterns, else from 20,000 random patterns, 1 without camps. On scales of more than 11 points, the values
    in use are numbered; if they are more than 11, the used ones of 11 classes of equal width. Then each class
    of a random pattern becomes one of the values given in it. Benjamini and Hochberg over all units. Split
    units widen the noise, so the test is conservative. Nominal data have a reason instead of units. Sources:
    Andrich 1978, Psychometrika 43, 561-573; Andersen 1973, Journal of the Royal Statistical Society B 35,
    42-44; Benjamini and Hochberg 1995, ibid. 57, 289-300.
    """
    tested = alone if last is None else last
    if reason := _explain_no_camps(alone, tested):
        return SplitUnits((), reason)
    domain = alone.value_domain
    effects = rater_effects(alone.values)
    classes = ValueClasses.of(alone, tested)
    noise = PanelNoise.fit(alone, generator, classes)
    rated = np.flatnonzero(tested.ratings_per_unit >= LEAST_RATERS)
    found, chances = [], dict[tuple[float, ...], float]()
    for unit in rated.tolist():
        raters = np.flatnonzero(~np.isnan(tested.values[:, unit]))
        values = tested.values[raters, unit]
        # A rater who is always severe is no camp, so the raters' effects are subtracted first.
        left = values - effects[raters]
        # Equal values keep the order of raters, so the camps are the same each time.
        order = np.argsort(left, kind="stable")
        cut, gaps, variation = cut_into_camps(left[order][None], least_gap(domain))
        between, p = float(variation[0]), 1.0
        if between > 0:
            pattern = classes.of_code[tested.codes[raters, unit]]
            # All that p depends on: of three raters there are few patterns, and thousands of units.
            key = (*raters.tolist(), int(pattern.sum()), between)
            if key not in chances:
                chances[key] = noise.chance_of_camps(
                    raters,
                    pattern,
                    effects[raters],
                    classes.values,
                    between,
                    generator,
                    least_gap(domain),
                )
            p = chances[key]
        sides = np.split(raters[order], cut) if between > 0 else [raters[:0], raters[:0]]
        found.append(
            UnitSplit(
                unit,
                len(raters),
                normalised_entropy(values, len(domain)),
                float(values.var(ddof=1)),
                float(left.var(ddof=1)),
                tuple(np.sort(sides[0]).tolist()),
                tuple(np.sort(sides[1]).tolist()),
                float(gaps[0]),
                p,
                1.0,
                False,
            )
        )
    adjusted = scipy.stats.false_discovery_control([each.p_value for each in found]).tolist()
    return SplitUnits(
        tuple(
            replace(each, adjusted_p=p, splits=p <= false_discovery_rate)
            for each, p in zip(found, adjusted, strict=True)
        )
    )


def _explain_no_camps(alone: ReliabilityData, tested: ReliabilityData) -> str:
    if alone.measurement_level == "nominal":
        return "Categories without an order have no camps; read their distribution."
    if (alone.ratings_per_unit >= 2).sum() < LEAST_UNITS:
        return f"The noise of the panel needs {LEAST_UNITS} units with two values; rate more units."
    if not (tested.ratings_per_unit >= LEAST_RATERS).any():
        return f"No unit has values from {LEAST_RATERS} raters; have a third rater rate the same units."
    return ""


def cut_into_camps(
    ordered: FloatArray, least_gap: float = LEAST_GAP
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the size of the lower camp, the difference of means, and the variation between the camps.

    ordered: (patterns, raters), ascending in each row. The variation is 0 without camps, which must differ by
    more than least_gap.
    """
    raters = ordered.shape[1]
    # Of four raters or more, a single deviating one is no camp.
    least = 1 if raters < 4 else 2
    sizes = np.arange(least, raters - least + 1)
    sums = ordered.cumsum(axis=1)
    total = sums[:, -1:]
    below = sums[:, sizes - 1]
    gaps = (total - below) / (raters - sizes) - below / sizes
    # The variation between two groups is gap^2 n1 n2 / (n1 + n2).
    between = gaps**2 * (sizes * (raters - sizes) / raters)
    best = between.argmax(axis=1)
    rows = np.arange(len(ordered))
    gap, most = gaps[rows, best], between[rows, best]
    variation = ((ordered - total / raters) ** 2).sum(axis=1)
    camps = (gap > least_gap + _CLOSE) & (most > LEAST_SHARE * variation + _CLOSE)
    return np.asarray(sizes[best], dtype=np.intp), gap, np.where(camps, most, 0.0)


def least_gap(domain: FloatArray) -> float:
    """Return the gap that two camps exceed on a scale: a point, or the width of a class if it is binned."""
    return LEAST_GAP if len(domain) <= MOST_CLASSES else float(np.ptp(domain)) / MOST_CLASSES


@dataclass(frozen=True, eq=False)
class ValueClasses:
    """Classes of the points of a scale, numbered from 0.

    of_code: (points,), the class of each point, of points not in use any. values: (classes,), the value of
    each class; or all values given in each, if classes have several.
    """

    of_code: IntArray
    values: FloatArray | Sequence[FloatArray]

    @classmethod
    def of(cls, *tables: ReliabilityData) -> "ValueClasses":
        """Return the classes of all values of these tables, which have one scale."""
        domain = tables[0].value_domain
        of_code = np.arange(len(domain))
        if len(domain) <= MOST_CLASSES:
            return cls(of_code, domain)
        codes = np.concatenate([each.codes[each.codes < len(domain)] for each in tables]).astype(np.intp)
        codes.sort()  # so that the order of units does not change random values
        if len(np.unique(codes)) > MOST_CLASSES:
            of_code = of_code * MOST_CLASSES // len(domain)
        # A class that is never used would cost power: the noise would have patterns that no rater gives.
        of_code = np.searchsorted(np.unique(of_code[codes]), of_code)
        values = [domain[codes[of_code[codes] == each]] for each in range(int(of_code[codes].max()) + 1)]
        single = all(np.ptp(each) == 0 for each in values)
        return cls(of_code, np.array([each[0] for each in values]) if single else values)


@dataclass(frozen=True, eq=False)
class PanelNoise:
    """Severities (raters,) and costs (classes,) in logits, by which patterns of one sum differ."""

    severities: FloatArray
    costs: FloatArray

    @classmethod
    def fit(
        cls, data: ReliabilityData, generator: Randomness, of_scale: ValueClasses | None = None
    ) -> "PanelNoise":
        """Return the noise that maximises the penalised conditional likelihood."""
        of_scale = of_scale or ValueClasses.of(data)
        classes, raters = len(of_scale.values), len(data.values)
        units = np.flatnonzero(data.ratings_per_unit >= 2)
        if len(units) > _UNITS_IN_FIT:
            units = generator_of(generator, "panel noise").choice(units, _UNITS_IN_FIT, replace=False)
        groups = list(_groups(data, units, of_scale))

        def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
            severities, thresholds = parameters[:raters], parameters[raters:]
            # The first class costs nothing, and each further one adds its threshold.
            costs = np.concatenate([[0.0], np.cumsum(thresholds)])
            value = _PENALTY / 2 * float(parameters @ parameters)
            slopes = _PENALTY * parameters
            for who, given in groups:
                logs, expected = _PossibleSums(who, severities, costs).chances_of_values(given)
                # Minus the conditional logarithm: the pattern's cost, and ln of the weight of its sum.
                value += float((severities[who] * given + costs[given]).sum() + logs.sum())
                steps = np.arange(classes)
                observed = np.eye(classes)[given]
                differ = observed - expected  # (units, raters of a unit, classes)
                slopes[:raters] += np.bincount(who.ravel(), (differ @ steps).ravel(), raters)
                # A threshold is part of the cost of every class from its own on.
                slopes[raters:] += differ.sum(axis=(0, 1))[::-1].cumsum()[::-1][1:]
            return value, slopes

        found = scipy.optimize.minimize(
            loss, np.zeros(raters + classes - 1), jac=True, method="L-BFGS-B", options={"maxiter": 500}
        )
        return cls(found.x[:raters], np.concatenate([[0.0], np.cumsum(found.x[raters:])]))

    def chance_of_camps(
        self,
        raters: IntArray,
        classes: IntArray,
        effects: FloatArray,
        values: FloatArray | Sequence[FloatArray],
        between: float,
        generator: Randomness,
        least: float = LEAST_GAP,
    ) -> float:
        """The probability, given the classes' sum, of camps with this variation between them or more.

        values: of the classes (`ValueClasses`). least: the gap that two camps exceed.
        """
        if isinstance(values, np.ndarray) and len(self.costs) ** len(raters) <= MOST_PATTERNS:
            patterns, chances = self.patterns(raters, int(classes.sum()))
            found = cut_into_camps(np.sort(values[patterns] - effects, axis=1), least)[2]
            return float(min(chances[found >= between - _CLOSE].sum(), 1.0))
        # The stream depends on raters and sum, so the order of units does not change the draws.
        own = generator_of(generator, "camps", *raters.tolist(), int(classes.sum()))
        sums = _PossibleSums(raters[None], self.severities, self.costs)
        draws = _FIRST_DRAWS
        # A few draws come first; only a small p is worth the full number.
        while True:
            patterns = sums.draw(int(classes.sum()), draws, own)
            found = cut_into_camps(np.sort(_values_of(patterns, values, own) - effects, axis=1), least)[2]
            # The observed pattern counts as a draw, so p is never 0.
            p = (1 + int((found >= between - _CLOSE).sum())) / (1 + draws)
            if draws == _DRAWS or p > _WORTH_MORE_DRAWS:
                return p
            draws = _DRAWS

    def patterns(self, raters: IntArray, total: int) -> tuple[IntArray, FloatArray]:
        """(patterns, raters), (patterns,): all classes with this sum, and their probabilities."""
        listed = _patterns(len(self.costs), len(raters))
        listed = listed[listed.sum(axis=1) == total]
        logs = -(listed * self.severities[raters] + self.costs[listed]).sum(axis=1)
        chances = np.exp(logs - logs.max())
        return listed, chances / chances.sum()


@lru_cache(maxsize=8)
def _patterns(classes: int, raters: int) -> IntArray:
    return np.array(list(product(range(classes), repeat=raters)), dtype=np.intp)


def _values_of(
    patterns: IntArray, values: FloatArray | Sequence[FloatArray], generator: np.random.Generator
) -> FloatArray:
    """The value of each class of patterns, of a class with several values a random one."""
    if isinstance(values, np.ndarray):
        return values[patterns]
    # Means of classes would vary less than raters' values, so that p could be 0.
    found = np.empty(patterns.shape)
    for each, given in enumerate(values):
        own = patterns == each
        found[own] = generator.choice(given, int(own.sum()))
    return found


def _groups(
    data: ReliabilityData, units: IntArray, of_scale: ValueClasses
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield raters and classes (units, values) of the units with 2, 3, ... values."""
    codes, given = data.codes[:, units].T, ~np.isnan(data.values[:, units]).T
    number = given.sum(axis=1)
    for size in np.unique(number).tolist():
        own = number == size
        who = np.nonzero(given[own])[1].reshape(-1, size)
        yield who, of_scale.of_code[codes[own][given[own]].reshape(-1, size)]


class _PossibleSums:
    """The sums that values of raters (units, raters of a unit) can have, with their weights."""

    def __init__(self, who: IntArray, severities: FloatArray, costs: FloatArray) -> None:
        self.classes = len(costs)
        logs = -(severities[who][:, :, None] * np.arange(self.classes) + costs)
        largest = logs.max(axis=2, keepdims=True)
        self.weights = np.exp(logs - largest)
        self.log_scale = largest.sum(axis=(1, 2))
        units, raters = who.shape
        self.before = np.zeros((raters + 1, units, raters * (self.classes - 1) + 1))
        """(raters + 1, units, sums): weights of the sums of the first raters."""
        self.before[0, :, 0] = 1
        # A convolution: each rater's values are added to the sums of the raters before.
        for rater in range(raters):
            for value in range(self.classes):
                width = self.before.shape[2] - value
                self.before[rater + 1, :, value:] += (
                    self.weights[:, rater, value, None] * self.before[rater, :, :width]
                )
            # Products of many weights would underflow, so each step is rescaled and the logarithm kept.
            scale = self.before[rater + 1].max(axis=1, keepdims=True)
            self.before[rater + 1] /= scale
            self.weights[:, rater] /= scale
            self.log_scale += np.log(scale[:, 0])

    def chances_of_values(self, given: IntArray) -> tuple[FloatArray, FloatArray]:
        """(units,), (units, raters, classes): ln of the weight of each sum, and the chance of each value."""
        totals = given.sum(axis=1)
        units = np.arange(len(totals))
        weight = self.before[-1, units, totals]
        # From the last rater back: the weight of all ways from a partial sum to the total.
        after = np.zeros_like(self.before[0])
        after[units, totals] = 1 / weight
        chances = np.empty((*given.shape, self.classes))
        for rater in range(given.shape[1] - 1, -1, -1):
            earlier = np.zeros_like(after)
            for value in range(self.classes):
                width = after.shape[1] - value
                moved = self.weights[:, rater, value, None] * after[:, value:]
                chances[:, rater, value] = (self.before[rater, :, :width] * moved).sum(axis=1)
                earlier[:, :width] += moved
            after = earlier
        return np.log(weight) + self.log_scale, chances

    def draw(self, total: int, number: int, generator: np.random.Generator) -> IntArray:
        """(number, raters): random classes of the first unit's raters with this sum."""
        left = np.full(number, total)
        raters = self.weights.shape[1]
        found = np.empty((number, raters), dtype=np.intp)
        values = np.arange(self.classes)
        # From the last rater back, each value has the weight of all patterns that reach the rest.
        for rater in range(raters - 1, -1, -1):
            rest = left[:, None] - values
            weights = np.where(
                rest >= 0, self.weights[0, rater] * self.before[rater, 0, np.maximum(rest, 0)], 0.0
            )
            up_to = weights.cumsum(axis=1)
            # The first value whose cumulated weight exceeds a random share of the total.
            chosen = (generator.random(number)[:, None] * up_to[:, -1:] >= up_to).sum(axis=1)
            found[:, rater] = chosen
            left = left - chosen
        return found
