"""Measures over groups of units, such as systems: between their means, and over one number for each."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Population, Resampling, resampled_interval
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, IntArray
from annotate.agreement.fisher_z import CORRELATED, fisher_interval
from annotate.agreement.measure import Measure, pair_data
from annotate.agreement.streams import Randomness, substream

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
    measure: Measure,
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
    measure: Measure,
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
