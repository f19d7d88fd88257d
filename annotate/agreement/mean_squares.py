"""Two-way analysis of variance of units by raters, for many weightings of the units at once."""

from dataclasses import dataclass

import numpy as np

from annotate.agreement.data import FloatArray
from annotate.agreement.patterns import Patterns

_TINY = 1e-12  # of the total: sums of squares below it are rounding


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares, each (replicates,), of n units by k raters."""

    units: FloatArray
    within: FloatArray
    raters: FloatArray
    error: FloatArray
    n: FloatArray
    k: int


def mean_squares(patterns: Patterns, weights: FloatArray) -> MeanSquares:
    """The two-way mean squares for many weightings of complete patterns; weights: (replicates, patterns)."""
    values = patterns.value_domain[patterns.codes]
    values = values - np.average(values.mean(axis=1), weights=patterns.unit_counts)
    k = values.shape[1]
    n = weights.sum(axis=1)
    rater_sums = weights @ values
    correction = rater_sums.sum(axis=1) ** 2 / (n * k)
    total = weights @ np.sum(values**2, axis=1) - correction
    between_units = weights @ values.sum(axis=1) ** 2 / k - correction
    between_raters = np.sum(rater_sums**2, axis=1) / n - correction
    floor = _TINY * np.maximum(total, 0)
    units, within, raters, error = (
        np.where(squares > floor, squares, 0.0)
        for squares in (
            between_units,
            total - between_units,
            between_raters,
            total - between_units - between_raters,
        )
    )
    degrees = np.maximum(n - 1, 1)
    return MeanSquares(
        units=units / degrees,
        within=within / (n * (k - 1)),
        raters=raters / (k - 1),
        error=error / (degrees * (k - 1)),
        n=n,
        k=k,
    )
