"""Measures over groups of units, such as systems: between their means, and over one number for each."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy

from annotate.agreement.bootstrap import Population, Resampling, resampled_interval
from annotate.agreement.coefficient import Coefficient, Interval
from annotate.agreement.data import FloatArray, IntArray
from annotate.agreement.measure import PairMeasure, pair_data
from annotate.agreement.streams import Randomness, substream

CORRELATED = frozenset({"pearson", "spearman", "kendall_tau_b"})
"""The names of the coefficients that it knows."""
_ROUNDING = 1e-9


def fisher_interval(
    correlation: str, value: float, pairs: int, confidence_level: float, *, noun: str = "pairs"
) -> tuple[Interval | None, str | None]:
    """The interval tanh(artanh r -+ z s), or None and why; `correlation` is the name of the coefficient.

    With n pairs the variance s^2 is 1 / (n - 3) for Pearson's r (Fisher 1921), (1 + r^2 / 2) / (n - 3) for
    Spearman's rho (Bonett and Wright 2000), .437 / (n - 4) for Kendall's tau-b (Fieller, Hartley and Pearson
    1957). It assumes pairs that are independent and nearly normal, and holds its level from 6 pairs on, where
    leaving out each in turn does not. None where r is -1 or 1: z is infinite.
    """
    least = 5 if correlation == "kendall_tau_b" else 4
    if pairs < least:
        return None, f"{pairs} {noun} are too few for an interval, which needs {least}."
    if abs(value) > 1 - _ROUNDING:
        return None, f"At {value:.0f} Fisher’s z is infinite, so {pairs} {noun} give no interval."
    variances = {
        "pearson": 1 / (pairs - 3),
        "spearman": (1 + value**2 / 2) / (pairs - 3),
        "kendall_tau_b": 0.437 / max(pairs - 4, 1),
    }
    reach = float(scipy.special.ndtri((1 + confidence_level) / 2)) * math.sqrt(variances[correlation])
    middle = math.atanh(value)
    low, high = math.tanh(middle - reach), math.tanh(middle + reach)
    return Interval(low, high, f"Fisher’s z of {pairs} {noun}", confidence_level), None


_DECIMALS = 10  # sums of thirds in another order differ behind these


def means_by_group(values: npt.ArrayLike, groups: IntArray, number: int) -> FloatArray:
    """(number,): the mean of the values (units,) of each group 0 to number - 1, NaN where it has none."""
    listed = np.asarray(values, dtype=float)
    given = ~np.isnan(listed)
    totals = np.bincount(groups[given], listed[given], number)
    counts = np.bincount(groups[given], minlength=number)
    means = np.full(number, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def between_group_means(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    groups: IntArray,
    number: int,
    *,
    noun: str = "groups",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The measure of the groups' means of two arrays (units,); "system-level" in papers.

    Each mean is over the units with both values, so that the two means of a group rest on the same units.
    The interval resamples groups. Undefined as the measure, over groups.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    gap = np.isnan(one) | np.isnan(other)
    means = [means_by_group(np.where(gap, np.nan, values), groups, number) for values in (one, other)]
    return over_groups(measure, *means, noun=noun, generator=generator, resampling=resampling)


def over_groups(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    noun: str = "groups",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The measure of two arrays (groups,), one number a group, NaN where a group has none.

    Groups without both numbers are left out and counted (`counts.undefined_groups`). Numbers that differ by
    the rounding of a computer only are ties. The interval of a correlation is Fisher's, as groups are few; of
    another measure it resamples groups, `noun` in its words. Both take the groups' numbers as given. With a
    generator only.
    """
    one, other = (np.round(np.asarray(values, dtype=float), _DECIMALS) for values in (first, second))
    result = measure(one, other)
    undefined = int(np.sum(np.isnan(one) | np.isnan(other)))
    result = replace(result, counts=replace(result.counts, groups=len(one), undefined_groups=undefined))
    drawn_with = substream(generator, result.name, "over", noun)
    if drawn_with is None or not result.defined:
        return result
    if result.value is not None and measure.estimator.name in CORRELATED:
        level = (resampling or Resampling()).confidence_level
        found = fisher_interval(measure.estimator.name, result.value, len(one) - undefined, level, noun=noun)
        return replace(result, interval=found[0], interval_reason=found[1])
    patterns = measure.estimator.patterns(pair_data(one, other))
    interval, interval_reason = resampled_interval(
        measure.estimator.statistic(patterns),
        Population(None, patterns.unit_counts, noun),
        drawn_with,
        resampling or Resampling(),
        measure.estimator.bounds,
    )
    return replace(result, interval=interval, interval_reason=interval_reason)
