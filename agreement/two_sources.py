"""Systems ranked by two sources of values, such as two panels of raters, over the same outputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement.bootstrap import Resampling, independent, resampled_interval
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, IntArray, divide_where
from agreement.measures import correlations_of_rows, kendall_tau_b
from agreement.ranks import RankSet, rank_sets
from agreement.streams import Randomness, substream
from agreement.system_differences import (
    SystemDifference,
    adjust_p_values,
    levels_of,
    paired_difference,
    system_differences,
)

_DECIMALS = 10  # means that differ behind these are ties


@dataclass(frozen=True, eq=False)
class TwoRankings:
    """Means and ranks of systems by two sources.

    means: (2, systems). ranks: (2, systems), 1 the best; ties share the better rank. possible: by source, the
    ranks that each system may have (`rank_sets`). differences: for each system the second source's mean minus
    the first's, p values adjusted by Holm over the systems. tau: Kendall's tau-b of the two rows of means.
    """

    means: FloatArray
    ranks: IntArray
    possible: tuple[tuple[RankSet, ...], tuple[RankSet, ...]]
    differences: tuple[SystemDifference, ...]
    tau: Coefficient


def compare_rankings(
    first: FloatArray,
    second: FloatArray,
    systems: Sequence[str],
    *,
    generator: Randomness,
    resampling: Resampling | None = None,
) -> TwoRankings:
    """Compare the systems' means by two sources, over the outputs with a value of both.

    first, second: (documents, systems), NaN for a gap; each system has a value of both on one document or
    more. A difference has the t interval and the paired t test over documents (`system_differences`). The
    interval of tau-b resamples documents, each resample giving the means of both sources. tau-b is undefined
    with fewer than two systems, and if a source ties them all. Source: Student 1908; Holm 1979; Kendall
    1945; Efron and Tibshirani 1993, chapter 13.
    """
    gap = np.isnan(first) | np.isnan(second)
    sides = [np.where(gap, np.nan, values) for values in (first, second)]
    given = (~gap).astype(float)
    filled = [np.nan_to_num(values) for values in sides]

    def means(weights: FloatArray, values: FloatArray) -> FloatArray:
        number = weights @ given
        return np.round(divide_where(number > 0, weights @ values, number), _DECIMALS)

    def taus(weights: FloatArray) -> FloatArray:
        return correlations_of_rows(kendall_tau_b, *(means(weights, values) for values in filled))

    size = len(given)
    of_both = np.concatenate([means(np.ones((1, size)), values) for values in filled])
    tau = replace(
        kendall_tau_b(*of_both), name="kendall_tau_b_of_systems", label="Kendall's tau-b of systems' means"
    )
    if tau.defined:
        interval, why = resampled_interval(
            taus,
            independent(size, "documents"),
            substream(generator, tau.name),
            resampling or Resampling(by="documents"),
            (-1.0, 1.0),
        )
        tau = replace(tau, interval=interval, interval_reason=why)
    levels = levels_of(0.95, len(systems))
    moved = [
        paired_difference(sides[1][:, index] - sides[0][:, index], name, name, levels)
        for index, name in enumerate(systems)
    ]
    possible = tuple(rank_sets(systems, system_differences(values, systems)) for values in sides)
    return TwoRankings(
        means=of_both,
        ranks=1 + np.sum(of_both[:, None, :] > of_both[:, :, None], axis=2),
        possible=(possible[0], possible[1]),
        differences=adjust_p_values(moved),
        tau=tau,
    )
