"""The difference of two statistics of the same material, by resampling or by Williams' test."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from agreement.bootstrap import Resampling, Statistic, draw_weights, independent
from agreement.data import FloatArray
from agreement.groups import fisher_limits
from agreement.streams import Randomness, substream
from agreement.student import t_p_value, t_reach

_TINY = 1e-12  # differences that only rounding makes


@dataclass(frozen=True)
class PairedDifference:
    """The first statistic minus the second over the same material; without an interval `reason` gives the
    reason.

    size: the number of documents (systems) it rests on. p_value: two-sided, for no difference. how: the
    method of interval and p value.
    """

    value: float | None
    size: int
    first: float | None = None
    second: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    how: str = ""
    reason: str = ""


def difference_of_figures(
    figures: tuple[Statistic, Statistic],
    size: int,
    generator: Randomness,
    *,
    noun: str = "documents",
    replicates: int = 2000,
    confidence_level: float = 0.95,
) -> PairedDifference:
    """The difference of two statistics of weighted documents; each resample of documents serves both.

    figures: from weights (replicates, documents) to values (replicates,), NaN if undefined. The interval
    contains the middle of the differences' replicates (paired percentile bootstrap); p is the level from
    which it contains 0: 2 (1 + k) / (replicates + 1) with k the smaller number of replicates on one side of
    0. Below 20 documents the function leaves out each in turn instead, with Student's t. Source: Efron and
    Tibshirani 1993, chapters 11, 13 and 16. Undefined if either statistic is. No interval if more replicates
    are without variation than one tail holds, or if all are the same.
    """
    first, second = (float(each(np.ones((1, size)))[0]) if size else np.nan for each in figures)
    if np.isnan(first) or np.isnan(second):
        return PairedDifference(None, size, reason="A figure of the two is undefined on what both have.")
    found = PairedDifference(first - second, size, first, second)
    plan = Resampling(replicates=replicates, confidence_level=confidence_level)
    if size < 2:
        return replace(found, reason=f"An interval needs at least two {noun}.")
    few = size < plan.jackknife_below
    weights: Iterable[FloatArray] = (
        [1 - np.eye(size)]
        if few
        else draw_weights(independent(size, noun), substream(generator, "paired"), replicates)
    )
    differences = np.concatenate([figures[0](each) - figures[1](each) for each in weights])
    varied = differences[~np.isnan(differences)]
    tail = (1 - confidence_level) / 2
    # The jackknife needs all of its replicates; the bootstrap can lose as many as one tail.
    if len(differences) - len(varied) > (0 if few else tail * len(differences)):
        return replace(found, reason=f"Too many resamples of {noun} leave no variation: judge more of them.")
    if np.ptp(varied) < _TINY:
        return replace(found, reason=f"The difference is the same in every resample of {noun}.")
    if few:
        error = np.sqrt((size - 1) / size * np.sum((varied - varied.mean()) ** 2))
        value, reach = first - second, t_reach(error, size - 1, confidence_level)
        p_value = t_p_value(value, error, size - 1)
        how = f"jackknife of {noun}, t with {size - 1} degrees of freedom"
        return replace(found, low=value - reach, high=value + reach, p_value=p_value, how=how)
    low, high = np.quantile(varied, [tail, 1 - tail]).tolist()
    # A replicate that is 0 up to rounding counts on both sides.
    beyond = min(np.sum(varied <= _TINY), np.sum(varied >= -_TINY))
    p_value = min(1.0, float(2 * (1 + beyond) / (len(varied) + 1)))
    how = f"paired percentile bootstrap of {noun}, {len(varied)} replicates"
    return replace(found, low=low, high=high, p_value=p_value, how=how)


LEAST_PAIRS = 5
_ROUNDING = 1e-9  # a correlation this near to 1 is 1, for which Fisher's z is infinite


def williams_test(first: float, second: float, between: float, size: int) -> tuple[float, float]:
    """Williams' t for equal correlations of two variables with a third, and its two-sided p value.

    first, second: the two correlations with the third variable; between: the correlation of the two with each
    other; size: the number of units, 4 or more. With K = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12 and r = (r1 +
    r2) / 2,

    t = (r1 - r2) sqrt((n - 1)(1 + r12) / (2 K (n - 1) / (n - 3) + r^2 (1 - r12)^3))

    has n - 3 degrees of freedom for normal variables. Source: Williams 1959, Journal of the Royal Statistical
    Society B 21, 396-399; Steiger 1980, Psychological Bulletin 87, 245-251, equation 7. Raises ValueError if
    a correlation is not within -1 and 1, or the two variables are the same.
    """
    if size < 4 or not all(abs(each) < 1 - _ROUNDING for each in (first, second, between)):
        raise ValueError("Williams' test needs 4 units or more and correlations between -1 and 1.")
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    middle = (first + second) / 2
    # Rounding can leave the determinant just below 0.
    spread = 2 * max(determinant, 0.0) * (size - 1) / (size - 3) + middle**2 * (1 - between) ** 3
    t = (first - second) * math.sqrt((size - 1) * (1 + between) / spread)
    return t, t_p_value(t, 1.0, size - 3)


def dependent_interval(
    first: float, second: float, between: float, size: int, *, confidence_level: float = 0.95
) -> tuple[float, float]:
    """An interval of first - second, from Fisher's interval of each and how the two estimates are correlated.

    Source: Zou 2007, Psychological Methods 12, 399-413, equations 15 and 16.
    """
    (low1, high1), (low2, high2) = (
        fisher_limits(each, 1 / (size - 3), confidence_level) for each in (first, second)
    )
    # The correlation of the two estimates, which share the third variable.
    shared = (between - first * second / 2) * (1 - first**2 - second**2 - between**2) + between**3
    shared /= (1 - first**2) * (1 - second**2)
    # The lower end takes the first's lower reach and the second's upper one (Zou 2007).
    down, up = (first - low1, high2 - second), (high1 - first, second - low2)
    below, above = (
        math.sqrt(max(one**2 + other**2 - 2 * shared * one * other, 0.0)) for one, other in (down, up)
    )
    return first - second - below, first - second + above


def difference_of_correlations(
    first: FloatArray, second: FloatArray, third: FloatArray, *, noun: str = "units"
) -> PairedDifference:
    """r(first, third) - r(second, third), Pearson's, over the units with all three values.

    first, second, third: (units,), NaN for a gap. p by Williams' test, the interval by Zou. It assumes
    independent and nearly normal units. Undefined with fewer than 3 units or if a side is constant; no test
    with fewer than 5, or if a correlation is 1 or -1.
    """
    # Rounded, as a constant side must not seem to vary by rounding errors.
    table = np.round(np.stack([first, second, third]), 10)
    kept = table[:, ~np.isnan(table).any(axis=0)]
    size = kept.shape[1]
    if size < 3 or np.any(np.ptp(kept, axis=1) == 0):
        return PairedDifference(None, size, reason=f"A side has no variation over the {size} {noun} of both.")
    found = np.asarray(np.corrcoef(kept))
    one, other, between = float(found[0, 2]), float(found[1, 2]), float(found[0, 1])
    if size < LEAST_PAIRS or max(abs(one), abs(other), abs(between)) > 1 - _ROUNDING:
        few = f"{size} {noun} are too few for Williams’ test, which needs {LEAST_PAIRS}."
        full = "A correlation is 1 or −1, where Williams’ test is undefined."
        reason = few if size < LEAST_PAIRS else full
        return PairedDifference(one - other, size, one, other, reason=reason)
    _, p_value = williams_test(one, other, between, size)
    low, high = dependent_interval(one, other, between, size)
    how = f"Williams’ test over {size} {noun}, n - 3 degrees of freedom; interval: Zou 2007"
    return PairedDifference(one - other, size, one, other, low, high, p_value, how)
