"""Units with the same values are interchangeable: find the distinct ones and count them once.

Metrics of two values are summed over the pairs of a unit and over the pairs expected by chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData

_LARGEST_CODE = 2**62  # twice as many are too many for 64 bits with a sign
_SMALL = 2**14  # numbers; a sparse array of fewer takes longer to make than a dense one to multiply
_TABULATED = 4  # possible keys for each one that is there: up to these counting in a table beats sorting


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct columns of a table of ratings.

    codes: (patterns, raters), positions in the value domain, its length for a gap. unit_counts: (patterns,),
    the number of units with each pattern. of_unit: (units,), the pattern of each unit.
    """

    codes: IntArray
    unit_counts: IntArray
    of_unit: IntArray
    value_domain: FloatArray

    @property
    def ratings(self) -> FloatArray:
        """(patterns,): the number of values of a unit with this pattern."""
        return np.asarray(np.sum(self.codes < len(self.value_domain), axis=1), dtype=float)

    def value_counts(self) -> "FloatArray | scipy.sparse.csr_array":
        """(patterns, categories): how often each category occurs in each pattern; sparse if large."""
        return self._table(*np.nonzero(self.codes < len(self.value_domain)))

    def values_of(self, rater: int) -> "FloatArray | scipy.sparse.csr_array":
        """(patterns, categories): 1 at the category that this rater gave; sparse if large."""
        rows = np.flatnonzero(self.codes[:, rater] < len(self.value_domain))
        return self._table(rows, np.full(len(rows), rater))

    def _table(self, rows: IntArray, raters: IntArray) -> "FloatArray | scipy.sparse.csr_array":
        shape = (len(self.codes), len(self.value_domain))
        columns = self.codes[rows, raters]
        if shape[0] * shape[1] > _SMALL:
            return scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(float)


def beside(
    table: "FloatArray | scipy.sparse.sparray", *columns: FloatArray
) -> "FloatArray | scipy.sparse.csr_array":
    """A table (patterns, ...) with more columns (patterns,); sparse if it was."""
    if isinstance(table, np.ndarray):
        return np.column_stack([table, *columns])
    more = scipy.sparse.csr_array(np.stack(columns, axis=1))
    return scipy.sparse.hstack([table, more], format="csr")


def ranks_of_values(counts: FloatArray, axis: int) -> FloatArray:
    """The rank that ties share, counted from the middle; counts: of ordered values, on this axis."""
    return np.asarray(np.cumsum(counts, axis=axis) - (counts + counts.sum(axis=axis, keepdims=True)) / 2)


def by_rater(data: ReliabilityData, *, least_ratings: int = 1) -> Patterns:
    """The distinct columns among units with enough ratings, with raters distinguished."""

    def make() -> Patterns:
        return _patterns(data.codes[:, data.ratings_per_unit >= least_ratings], data.value_domain)

    return data.once(("by_rater", least_ratings), make)


def by_value(data: ReliabilityData, *, least_ratings: int = 2, keep_unused: bool = False) -> Patterns:
    """The distinct sets of values among units with enough ratings, raters not distinguished.

    3 raters on 5 points make up to 35. Unused categories are dropped from the value domain unless
    `keep_unused`.
    """

    def make() -> Patterns:
        columns = by_rater(data, least_ratings=least_ratings)
        # Sorted codes make columns with the same values equal.
        sets = _patterns(np.sort(columns.codes, axis=1).T, data.value_domain)
        unit_counts = np.bincount(sets.of_unit, columns.unit_counts, len(sets.codes)).astype(np.intp)
        used = np.arange(len(data.value_domain))
        if not keep_unused:
            used = np.unique(sets.codes[sets.codes < len(data.value_domain)])
        # A gap's code is beyond all used ones, so it becomes their number: again the code of a gap.
        codes, of_unit = np.searchsorted(used, sets.codes), sets.of_unit[columns.of_unit]
        return Patterns(codes, unit_counts, of_unit, data.value_domain[used])

    return data.once(("by_value", least_ratings, keep_unused), make)


def _patterns(codes: npt.NDArray[np.integer], domain: FloatArray) -> Patterns:
    # One number per column, equal where columns are equal; renumbered before it overflows.
    keys, span, radix = np.zeros(codes.shape[1], dtype=np.intp), 1, len(domain) + 1
    for row in codes:
        if span * radix > _LARGEST_CODE:
            distinct, keys = np.unique(keys, return_inverse=True)
            span = len(distinct)
        keys *= radix
        keys += row
        span *= radix
    first, of_unit, unit_counts = _distinct(keys)
    return Patterns(codes[:, first].T.astype(np.intp), unit_counts, of_unit, domain)


def _distinct(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each distinct key one position; the distinct key of each position; the number of occurrences."""
    if not len(keys) or keys.max() >= _TABULATED * len(keys):
        _, first, of_unit, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return first, of_unit, counts
    table = np.bincount(keys)
    occurring = np.flatnonzero(table)
    # Any position of a key will do, and the last one written remains.
    positions = np.empty(len(table), dtype=np.intp)
    positions[keys] = np.arange(len(keys))
    number = np.empty(len(table), dtype=np.intp)
    number[occurring] = np.arange(len(occurring))
    return positions[occurring], number[keys], table[occurring]


Metric = Callable[[FloatArray, FloatArray], FloatArray]
"""From two broadcastable arrays of values to their disagreement, 0 for equal values."""

Weights = Literal["identity", "linear", "quadratic"]
"""How much a disagreement counts: all the same, by its size, by its square."""

_BLOCK = 2**20  # distances held at a time


def nominal(first: FloatArray, second: FloatArray) -> FloatArray:
    """1 where the values differ, else 0. Arrays of shapes that broadcast, for this and the other metrics."""
    return np.asarray(first != second, dtype=float)


def linear(first: FloatArray, second: FloatArray) -> FloatArray:
    """|c - k|, of the values themselves: linear weights."""
    return np.asarray(np.abs(first - second))


def quadratic(first: FloatArray, second: FloatArray) -> FloatArray:
    """(c - k)^2: the interval level, and quadratic weights."""
    return np.asarray((first - second) ** 2)


def ratio(first: FloatArray, second: FloatArray) -> FloatArray:
    """((c - k) / (c + k))^2, and 0 for two zeros."""
    total = np.asarray(first + second)
    return np.divide(first - second, total, out=np.zeros_like(total), where=total != 0) ** 2


FIXED_METRICS: dict[MeasurementLevel, Metric] = {
    MeasurementLevel.NOMINAL: nominal,
    MeasurementLevel.INTERVAL: quadratic,
    MeasurementLevel.RATIO: ratio,
}
"""The squared differences of Krippendorff 2011 that depend on two values only; the ordinal one does not."""

WEIGHT_METRICS: dict[Weights, Metric] = {"identity": nominal, "linear": linear, "quadratic": quadratic}

_USUAL_WEIGHTS: dict[MeasurementLevel, Weights] = {
    MeasurementLevel.NOMINAL: "identity",
    MeasurementLevel.ORDINAL: "linear",
    MeasurementLevel.INTERVAL: "quadratic",
    MeasurementLevel.RATIO: "quadratic",
}


def usual_weights(level: MeasurementLevel) -> Weights:
    """The default weights of chance-corrected agreement at a level."""
    return _USUAL_WEIGHTS[level]


def weighting(data: ReliabilityData, weights: Weights | None) -> tuple[Weights, Metric, FloatArray]:
    """The weights for chance-corrected agreement, their metric, and the scores (categories,) it applies to.

    By default: identity for nominal data, linear for ordinal, quadratic for interval and ratio. Scores are
    the values themselves. For ordinal data, whose numbers only order, they are positions on the scale (0, 1,
    ...). Raises ValueError for weights of another name.
    """
    chosen = weights or usual_weights(data.measurement_level)
    if chosen not in WEIGHT_METRICS:
        raise ValueError(f"The weights {chosen!r} are not one of: {', '.join(WEIGHT_METRICS)}.")
    domain = data.value_domain
    if data.measurement_level is MeasurementLevel.ORDINAL:
        domain = np.arange(len(domain), dtype=float)
    return chosen, WEIGHT_METRICS[chosen], domain


def pair_disagreement(patterns: Patterns, metric: Metric, scores: FloatArray) -> FloatArray:
    """(patterns,): disagreement summed over the pairs of values in a unit; `scores` is (categories,)."""
    # A gap's code points at the NaN behind the scores.
    values = np.append(scores, np.nan)[patterns.codes]
    total = np.zeros(len(values))
    for rater in range(1, values.shape[1]):
        differences = metric(values[:, :rater], values[:, [rater]])
        paired = ~np.isnan(values[:, :rater]) & ~np.isnan(values[:, [rater]])
        total += np.sum(differences, axis=1, where=paired)
    return total


def expected_disagreement(
    left: FloatArray, right: FloatArray, metric: Metric, scores: FloatArray
) -> FloatArray:
    """(replicates,): sum of left_c right_k d(c, k) over c, k; left and right are (replicates, categories)."""
    # Two metrics have closed forms; others need the table of all pairs of values.
    if metric is nominal:
        return np.asarray(left.sum(axis=1) * right.sum(axis=1) - np.sum(left * right, axis=1))
    if metric is quadratic:
        # Differences do not depend on the origin, and small numbers lose fewer digits.
        centred = scores - scores.mean()
        squares = (left @ centred**2) * right.sum(axis=1) + left.sum(axis=1) * (right @ centred**2)
        return np.asarray(squares - 2 * (left @ centred) * (right @ centred))
    total = np.zeros(len(left))
    block = max(1, _BLOCK // len(scores))
    for start in range(0, len(scores), block):
        rows = slice(start, start + block)
        distances = metric(scores[rows, None], scores[None])
        total += np.sum(left[:, rows] * (right @ distances.T), axis=1)
    return total
