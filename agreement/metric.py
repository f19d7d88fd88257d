"""The distance of two values, summed over the pairs of a unit and over pairs expected by chance."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from agreement.data import FloatArray, MeasurementLevel, ReliabilityData
from agreement.patterns import Patterns

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
    if metric is nominal:
        return np.asarray(left.sum(axis=1) * right.sum(axis=1) - np.sum(left * right, axis=1))
    if metric is quadratic:
        return _expected_quadratic(left, right, scores - scores.mean())
    total = np.zeros(len(left))
    block = max(1, _BLOCK // len(scores))
    for start in range(0, len(scores), block):
        rows = slice(start, start + block)
        distances = metric(scores[rows, None], scores[None])
        total += np.sum(left[:, rows] * (right @ distances.T), axis=1)
    return total


def _expected_quadratic(left: FloatArray, right: FloatArray, scores: FloatArray) -> FloatArray:
    """Sum left_c right_k (c - k)^2 from moments, without the categories x categories table."""
    squares = (left @ scores**2) * right.sum(axis=1) + left.sum(axis=1) * (right @ scores**2)
    return np.asarray(squares - 2 * (left @ scores) * (right @ scores))
