"""Dependence of values on the order in which raters met the items: on position, and on the previous item.

Raters meet items in a random order for each rater, within stretches (the items of a document, or all of a
rater's). Without an order effect every order of a stretch's values was equally likely, which gives the mean
and the variance of each statistic exactly, for any items, raters and values.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from agreement.coefficient import Coefficient, Counts, Interval, Parameter
from agreement.data import FloatArray, IntArray

FEWEST_VALUES = 30
"""From how many values on the statistics are near enough to normal for an interval."""
_LEVEL = 0.95
_METHOD = "normal, with the variance over all orders that could have been drawn"


@dataclass(frozen=True)
class OrderEffect:
    """A coefficient of an order effect, 0 without one, and the p value of there being none."""

    coefficient: Coefficient
    p_value: float | None


@dataclass(frozen=True)
class _Stretches:
    """Values in order of rating, stretch after stretch, without stretches of one value.

    of: (values,): the stretch of each value. sizes: (stretches,). centred: (values,), about the mean of each
    stretch.
    """

    values: FloatArray
    of: IntArray
    sizes: IntArray

    def sums(self, numbers: FloatArray) -> FloatArray:
        """(stretches,): the sum over each."""
        return np.bincount(self.of, weights=numbers, minlength=len(self.sizes)).astype(float)

    def deviations_from_mean(self, numbers: FloatArray) -> FloatArray:
        """(values,): each number minus the mean of its stretch."""
        return numbers - (self.sums(numbers) / self.sizes)[self.of]


def position_effect(values: FloatArray, stretches: IntArray, positions: IntArray) -> OrderEffect:
    """Rank correlation of value with position within the stretch, over all stretches.

    values, stretches, positions: (values,). sum x r / sqrt(sum x^2 sum r^2), with x and r the ranks of
    position and value within the stretch, centred and divided by the stretch's size + 1 so that long ones do
    not dominate (van Elteren 1960). Over all orders its mean is 0. Its variance is the variance of sums of
    products of permuted ranks, sum_b X_b R_b / (k_b - 1) / (sum X sum R). Undefined if no stretch has two
    different values.
    """
    found = _stretches(values, stretches, positions)
    position = found.deviations_from_mean(np.arange(len(found.of), dtype=float)) / (found.sizes + 1)[found.of]
    rank = found.deviations_from_mean(_ranks(found)) / (found.sizes + 1)[found.of]
    indexes, ranks = found.sums(position**2), found.sums(rank**2)
    total, scale = float(position @ rank), float(np.sqrt(indexes.sum() * ranks.sum()))
    variance = float(np.sum(indexes * ranks / (found.sizes - 1)))
    source = "Spearman 1904 within stretches, with van Elteren's weights (1960)"
    return _effect("position_effect", "Rank correlation with position", source, found, total, variance, scale)


def carry_over(values: FloatArray, stretches: IntArray, positions: IntArray) -> OrderEffect:
    """The change of a value, in points, per point of the rater's previous value.

    values, stretches, positions: (values,). The serial correlation of lag 1 within stretches, y centred in
    each: sum_b (sum_t y_t y_(t+1) + S_b / k_b) / sum_b (k_b - 1) S_b / k_b, S = sum y^2. Centring alone makes
    the products -S / k on average, which is subtracted. Above 0 values follow the previous one
    (assimilation), below 0 they move away from it (contrast). Mean and variance over all orders: Wald and
    Wolfowitz 1943 for the products of neighbours. Undefined if no stretch of three values or more varies.
    Source: Mathur, Baldwin and Cohn 2017, Sequence Effects in Crowdsourced Annotations.
    """
    found = _stretches(values, stretches, positions, fewest=3)
    y, k = found.deviations_from_mean(found.values), found.sizes
    squares, fourths = found.sums(y**2), found.sums(y**4)
    neighbours = float(np.sum(y[1:] * y[:-1], where=found.of[1:] == found.of[:-1]))
    total = neighbours + float(np.sum(squares / k))
    second = (squares**2 - fourths) / k + (squares**2 - 2 * fourths) / (k * (k - 1))
    variance = float(np.sum(second - (squares / k) ** 2))
    scale = float(np.sum(squares * (k - 1) / k))
    source = "Mathur, Baldwin and Cohn 2017; moments of Wald and Wolfowitz 1943"
    return _effect("carry_over", "Carry-over from the item before", source, found, total, variance, scale)


def _stretches(values: FloatArray, stretches: IntArray, positions: IntArray, fewest: int = 2) -> _Stretches:
    order = np.lexsort((positions, stretches))
    values, of = np.asarray(values, dtype=float)[order], np.unique(stretches[order], return_inverse=True)[1]
    long = np.bincount(of, minlength=1)[of] >= fewest
    of = np.unique(of[long], return_inverse=True)[1]
    return _Stretches(values[long], of, np.bincount(of))


def _ranks(found: _Stretches) -> FloatArray:
    """(values,): mean ranks of the values within each stretch, up to a constant for each stretch."""
    order = np.lexsort((found.values, found.of))
    of, values = found.of[order], found.values[order]
    starts = np.flatnonzero(np.r_[True, (of[1:] != of[:-1]) | (values[1:] != values[:-1])][: len(of)])
    lengths = np.diff(np.r_[starts, len(of)])
    ranks = np.empty(len(of))
    ranks[order] = np.repeat(starts + (lengths - 1) / 2, lengths)
    return ranks


def _effect(
    name: str, label: str, source: str, found: _Stretches, total: float, variance: float, scale: float
) -> OrderEffect:
    counts = Counts(
        units=len(found.of),
        pairable_units=len(found.of),
        raters=0,
        ratings=len(found.of),
        pairable_values=len(found.of),
        groups=len(found.sizes),
    )
    parameters: Mapping[str, Parameter] = {"stretches": len(found.sizes)}
    if not scale > 0:
        reason = (
            "Wherever a rater gave several values in succession, all are the same."
            if len(found.of)
            else "No rater has given enough values in succession yet."
        )
        return OrderEffect(Coefficient(name, label, None, counts, source, reason=reason), None)
    value = float(np.clip(total / scale, -1, 1))
    if len(found.of) < FEWEST_VALUES or not variance > 0:
        few = f"An interval needs {FEWEST_VALUES} values or more, in stretches that vary."
        return OrderEffect(
            Coefficient(name, label, value, counts, source, interval_reason=few, parameters=parameters), None
        )
    error = float(np.sqrt(variance)) / scale
    reach = error * float(scipy.special.ndtri((1 + _LEVEL) / 2))
    interval = Interval(max(value - reach, -1), min(value + reach, 1), _METHOD, _LEVEL)
    coefficient = Coefficient(name, label, value, counts, source, interval=interval, parameters=parameters)
    return OrderEffect(coefficient, float(2 * scipy.special.ndtr(-abs(total) / np.sqrt(variance))))
