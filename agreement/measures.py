"""Measures of two arrays of values for the same units: correlations, and differences in points."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import OfTotals, Resampling, Statistic, mean_over_units, nothing
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, MeasurementLevel, ReliabilityData, divide_where
from agreement.estimate import Estimator, estimate
from agreement.patterns import Patterns, by_rater, ranks_of_values
from agreement.streams import Randomness


@dataclass(frozen=True)
class PairMeasure:
    """A coefficient of two arrays; call it with them."""

    estimator: Estimator

    def __call__(
        self,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        *,
        documents: npt.ArrayLike | None = None,
        generator: Randomness | None = None,
        resampling: Resampling | None = None,
    ) -> Coefficient:
        """The coefficient of two arrays (units,), NaN for a gap, over the units that have both values.

        With a generator also its interval, by units or, if you pass `documents` (units,), by documents.
        """
        return self.of(pair_data(first, second, documents), generator, resampling)

    def of(
        self,
        data: ReliabilityData,
        generator: Randomness | None = None,
        resampling: Resampling | None = None,
    ) -> Coefficient:
        """The coefficient of the values of two raters; with a generator also its interval."""
        return estimate(self.estimator, data, generator, resampling)


def units_with_both(data: ReliabilityData) -> Patterns:
    """The distinct pairs of values among units that have both."""
    return by_rater(data, least_ratings=2)


def pair_data(
    first: npt.ArrayLike, second: npt.ArrayLike, documents: npt.ArrayLike | None = None
) -> ReliabilityData:
    """Two arrays (units,) as the reliability data of two raters; ValueError where their shapes differ."""
    arrays = [np.asarray(first, dtype=float), np.asarray(second, dtype=float)]
    if arrays[0].ndim != 1 or arrays[0].shape != arrays[1].shape:
        raise ValueError(
            "Two lists of equal length are needed, "
            f"but their shapes are {arrays[0].shape} and {arrays[1].shape}."
        )
    return ReliabilityData(
        np.stack(arrays),
        measurement_level=MeasurementLevel.INTERVAL,
        value_domain=None,
        documents=documents,
    )


_BLOCK = 2**20  # signs held at a time
_NOTHING = 1e-20  # a sum of squares of values that are rounded to ten decimals


def _pearson(patterns: Patterns) -> Statistic:
    values = patterns.value_domain[patterns.codes]
    # Centred, as n sum x^2 - (sum x)^2 of large values loses digits.
    x, y = (values - np.average(values, axis=0, weights=patterns.unit_counts)).T
    sides = [patterns.values_of(side) for side in (0, 1)]
    moments = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)

    def correlations(weights: FloatArray) -> FloatArray:
        n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = (weights @ moments).T
        spread_x, spread_y = n * sum_xx - sum_x**2, n * sum_yy - sum_y**2
        # Equal values leave a spread that is nothing but rounding, so that their counts have to tell.
        counts = [np.asarray(side.T @ weights.T) for side in sides]
        # The squared counts add up to n^2 only if one value has all units.
        varied = np.logical_and(*(_sum(side, side) < n**2 for side in counts))
        return _ratio(n * sum_xy - sum_x * sum_y, np.where(varied, spread_x, 0), spread_y)

    return correlations


# Ranks and signs are sums of halves, and so exact: constant values have a spread of exactly 0. Replicates
# come last: resamples have this memory layout, and sums over the first axis are several times as fast.


def _spearman(patterns: Patterns) -> Statistic:
    codes, sides = patterns.codes.T, [patterns.values_of(side) for side in (0, 1)]

    def correlations(weights: FloatArray) -> FloatArray:
        counts = [np.asarray(side.T @ weights.T) for side in sides]
        ranks = [ranks_of_values(side, axis=0) for side in counts]
        product = _sum(weights.T, *(rank[code] for rank, code in zip(ranks, codes, strict=True)))
        first, second = (_sum(side, rank, rank) for side, rank in zip(counts, ranks, strict=True))
        return _ratio(product, first, second)

    return correlations


def _kendall_tau_b(patterns: Patterns) -> Statistic:
    x, y = patterns.codes.T
    sides = [patterns.values_of(side) for side in (0, 1)]

    def correlations(weights: FloatArray) -> FloatArray:
        balance = np.zeros(len(weights))
        # The table of signs has a number for each pair of patterns, so blocks limit its memory.
        block = max(1, _BLOCK // len(x))
        for start in range(0, len(x), block):
            rows = slice(start, start + block)
            signs = np.sign(x[rows, None] - x) * np.sign(y[rows, None] - y)
            balance += _sum(weights.T[rows], signs @ weights.T)
        # n^2 minus the squared counts are the ordered pairs that a side does not tie.
        counts = [np.asarray(side.T @ weights.T) for side in sides]
        return _ratio(balance, *(side.sum(axis=0) ** 2 - _sum(side, side) for side in counts))

    return correlations


def _sum(*factors: FloatArray) -> FloatArray:
    """(replicates,): the sum over the first axis of the product of arrays (n, replicates)."""
    return np.asarray(np.einsum(",".join(["ij"] * len(factors)) + "->j", *factors))


def correlations_of_rows(measure: PairMeasure, first: FloatArray, second: FloatArray) -> FloatArray:
    """(rows,): the correlation of each row of two arrays (rows, units), over the units with both values.

    For many short rows, such as resamples of a few systems; needs rows x units x units numbers. NaN if a side
    does not vary. Raises ValueError for a measure that is not a correlation.
    """
    name = measure.estimator.name
    if name not in ("pearson", "spearman", "kendall_tau_b"):
        raise ValueError(f"{measure.estimator.label} is not a correlation.")
    both = ~np.isnan(first) & ~np.isnan(second)
    sides = [np.where(both, side, np.nan) for side in (first, second)]
    if name != "pearson":
        # (rows, units, units): the signs of all differences, 0 if either unit has a gap.
        signs = [np.nan_to_num(np.sign(side[:, :, None] - side[:, None, :])) for side in sides]
        if name == "kendall_tau_b":
            product, one, other = (
                np.sum(left * right, axis=(1, 2))
                for left, right in ((signs[0], signs[1]), (signs[0], signs[0]), (signs[1], signs[1]))
            )
            return _ratio(product, one, other, _NOTHING)
        # Twice the rank, counted from the middle.
        sides = [np.where(both, sign.sum(axis=2), np.nan) for sign in signs]
    units = np.maximum(both.sum(axis=1, keepdims=True), 1)
    centred = [np.nan_to_num(side - np.nansum(side, axis=1, keepdims=True) / units) for side in sides]
    one, other = (np.sum(side**2, axis=1) for side in centred)
    return _ratio(np.sum(centred[0] * centred[1], axis=1), one, other, _NOTHING)


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray, least: float = 0.0) -> FloatArray:
    """product / sqrt(first * second) within -1 and 1, NaN if a side is not above `least`."""
    root = np.sqrt(np.maximum(first, 0)) * np.sqrt(np.maximum(second, 0))
    return np.asarray(np.clip(divide_where((first > least) & (second > least), product, root), -1, 1))


def _explain_undefined(data: ReliabilityData) -> str:
    both = data.values[:, data.ratings_per_unit == 2]
    if both.shape[1] < 2:
        units = "Only one unit has" if both.shape[1] else "No unit has"
        return f"{units} both values; a correlation needs two or more."
    for side, values in zip(("first", "second"), both, strict=True):
        if np.all(values == values[0]):
            return (
                f"All {side} values are {values[0]:g}; a correlation needs values that differ on both sides."
            )
    return "The values differ too little for a correlation to be computed."


def _correlation(
    name: str, label: str, source: str, statistic: Callable[[Patterns], Statistic]
) -> PairMeasure:
    return PairMeasure(
        Estimator(
            name=name,
            label=label,
            source=source,
            patterns=units_with_both,
            statistic=lambda patterns: statistic(patterns) if len(patterns.codes) else nothing,
            why_undefined=_explain_undefined,
        )
    )


pearson = _correlation("pearson", "Pearson's r", "Pearson 1895", _pearson)
"""cov(x, y) / (sd(x) sd(y)) (Pearson 1895).

Undefined with fewer than two units that have both values, or where one side is constant.
"""

spearman = _correlation("spearman", "Spearman's rho", "Spearman 1904", _spearman)
"""Pearson's r of the ranks, ties sharing their mean rank (Spearman 1904). Undefined as Pearson's r."""

kendall_tau_b = _correlation("kendall_tau_b", "Kendall's tau-b", "Kendall 1945", _kendall_tau_b)
"""(concordant - discordant pairs) / sqrt(pairs not tied in x * pairs not tied in y) (Kendall 1945).

Undefined as Pearson's r. Time grows with the square of the number of distinct pairs of values.
"""


_Elementwise = Callable[[FloatArray], FloatArray]


def _mean_of_differences(
    of_difference: _Elementwise, of_mean: _Elementwise
) -> Callable[[Patterns], Statistic]:
    """of_mean(mean of_difference(first - second)), NaN for no units."""

    def statistic(patterns: Patterns) -> Statistic:
        first, second = patterns.value_domain[patterns.codes].T
        means = mean_over_units(of_difference(first - second))
        return OfTotals(means.summands, lambda totals: of_mean(means.of_totals(totals)))

    return statistic


def _difference(
    name: str, label: str, statistic: Callable[[Patterns], Statistic], least: float
) -> PairMeasure:
    return PairMeasure(
        Estimator(
            name=name,
            label=label,
            source="a mean over units, in points of the scale; no correction for chance",
            patterns=units_with_both,
            statistic=statistic,
            bounds=(least, np.inf),
        )
    )


root_mean_squared_error = _difference(
    "rmse", "Root mean squared error", _mean_of_differences(np.square, np.sqrt), least=0.0
)
"""sqrt(mean (first - second)^2) in points of the scale; 0 is equality. Undefined without units to compare."""

mean_absolute_error = _difference(
    "mae", "Mean absolute error", _mean_of_differences(np.abs, np.positive), least=0.0
)
"""mean |first - second| in points of the scale; 0 is equality. Undefined without units to compare."""

bias = _difference(
    "bias", "Bias (mean difference)", _mean_of_differences(np.positive, np.positive), least=-np.inf
)
"""mean (first - second); above 0 the first gives higher values. Undefined without units to compare."""
