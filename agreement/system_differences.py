"""Which systems people rate higher: paired differences of means over the documents that both have.

Also two rankings of systems compared, and a new system compared with the range of others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, independent, resampled_interval
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, IntArray, divide_where
from agreement.measures import correlations_of_rows, kendall_tau_b
from agreement.ranks import RankSet, holm_by_key, rank_sets, share_letters
from agreement.streams import Randomness, substream
from agreement.student import standard_error, t_p_value, t_reach

LEAST_DOCUMENTS = 3
_CLOSE = 1e-9
KNOWN = "Every output is rated, so the difference is known and nothing is tested."


@dataclass(frozen=True)
class SystemDifference:
    """Mean score of the first system minus the mean score of the second, over the documents rated for both.

    low, high: the interval of this pair alone. simultaneous_low, simultaneous_high: one that holds for all
    pairs at once (Bonferroni). p_value: two-sided, for no difference; adjusted_p_value: by Holm over all
    pairs that have one. Without an interval these are None and `reason` gives the reason.
    """

    first: str
    second: str
    documents: int
    value: float | None
    low: float | None = None
    high: float | None = None
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    reason: str = ""


def system_differences(
    scores: FloatArray,
    systems: Sequence[str],
    *,
    texts: IntArray | None = None,
    confidence_level: float = 0.95,
    tests: int | None = None,
) -> tuple[SystemDifference, ...]:
    """Every pair of systems, from scores (documents, systems), NaN for a gap.

    With D the difference on a document: mean D -+ t s / sqrt(n) with n - 1 degrees of freedom, and the paired
    t test. Differences between documents cancel. No interval with fewer than 3 documents rated for both. If D
    is the same on every document and not 0, t is undefined and the signs decide. Of the 2^n possible signs of
    the differences without a difference of the systems, 2 give such a mean (Fisher 1935). The interval is the
    single value D at every level that they reach. None if D is 0 on every document. `texts`: (systems,
    systems), the number of documents with outputs of both, if the question is about these alone. The n rated
    ones are a random sample of N, so s^2 / n is multiplied by 1 - n / N. If n = N the difference is known and
    there is no test. tests: the number of tests that simultaneous intervals cover, by default the pairs.
    Source: Student 1908; Holm 1979; Cochran 1977, section 2.6.
    """
    pairs = list(combinations(range(len(systems)), 2))
    levels = levels_of(confidence_level, tests or len(pairs))
    found = [
        paired_difference(
            scores[:, one] - scores[:, other],
            systems[one],
            systems[other],
            levels,
            of=None if texts is None else int(texts[one, other]),
        )
        for one, other in pairs
    ]
    return adjust_p_values(found)


def levels_of(confidence_level: float, pairs: int) -> tuple[float, float]:
    """Return the levels of an interval for one pair alone, and of one that holds for all (Bonferroni)."""
    return confidence_level, 1 - (1 - confidence_level) / max(pairs, 1)


def adjust_p_values(found: Sequence[SystemDifference]) -> tuple[SystemDifference, ...]:
    """Return differences with p values adjusted by Holm over all of these that have one."""
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    return tuple(replace(each, adjusted_p_value=adjusted.get(index)) for index, each in enumerate(found))


def ranks_and_letters(
    systems: Sequence[str], differences: Sequence[SystemDifference], significance_level: float
) -> dict[str, dict[str, Any]]:
    """Return `best`, `worst` and `letters` of each system, as far as any pair is tested.

    systems: the best first, as the letters go by their order.
    """
    tested = [each for each in differences if each.adjusted_p_value is not None]
    if not tested:
        return {}
    differing = [
        (each.first, each.second) for each in tested if (each.adjusted_p_value or 0.0) <= significance_level
    ]
    letters = share_letters(systems, differing)
    return {
        each.system: {"best": each.best, "worst": each.worst, "letters": letters[each.system]}
        for each in rank_sets(systems, differences)
    }


def too_few(found: SystemDifference) -> SystemDifference:
    """Return a difference without an interval, as fewer than 3 documents were rated for both."""
    few = f"Only {found.documents} documents were rated for both; {LEAST_DOCUMENTS} or more are needed."
    return replace(found, reason=few)


def with_t_interval(
    found: SystemDifference,
    value: float,
    errors: Sequence[tuple[float, float]],
    levels: tuple[float, float],
) -> SystemDifference:
    """Return a difference with this value, its t intervals and two-sided p value.

    errors: variances, above 0, with degrees of freedom; of several the widest interval and the largest p
    value count. levels: as `levels_of` gives them.
    """
    known = [(math.sqrt(variance), freedom) for variance, freedom in errors]
    reach = [max(t_reach(*each, level) for each in known) for level in levels]
    return replace(
        found,
        value=value,
        low=value - reach[0],
        high=value + reach[0],
        simultaneous_low=value - reach[1],
        simultaneous_high=value + reach[1],
        p_value=max(t_p_value(value, *each) for each in known),
    )


def differences_of_estimates(
    values: FloatArray,
    covariance: FloatArray,
    systems: Sequence[str],
    documents: int,
    confidence_level: float = 0.95,
) -> tuple[SystemDifference, ...]:
    """Every pair of systems, from one estimate of each and the covariance of all, with t intervals.

    values: (systems,). covariance: (systems, systems). documents: the number that the covariance sums
    over; t has one degree of freedom less. Where every document gives the same estimates, the covariance is
    only rounding, and the signs decide as in `system_differences`.
    """
    pairs = list(combinations(range(len(systems)), 2))
    levels = levels_of(confidence_level, len(pairs))
    found = []
    for one, other in pairs:
        variance = float(covariance[one, one] + covariance[other, other] - 2 * covariance[one, other])
        value = float(values[one] - values[other])
        difference = SystemDifference(systems[one], systems[other], documents, value)
        # Estimates come from iterations that end at steps of this size.
        if variance <= (_CLOSE * max(1.0, float(np.abs(values).max()))) ** 2:
            found.append(_decide_by_signs(difference, levels, _CLOSE))
        else:
            found.append(with_t_interval(difference, value, [(variance, documents - 1)], levels))
    return adjust_p_values(found)


def paired_difference(
    differences: FloatArray,
    first: str,
    second: str,
    levels: tuple[float, float],
    *,
    of: int | None = None,
) -> SystemDifference:
    """One pair as in `system_differences`, from its differences (documents,), before Holm's correction.

    levels: from `levels_of`. of: the total number of documents, None for an infinite population.
    """
    given = differences[~np.isnan(differences)]
    size = len(given)
    value = float(given.mean()) if size else None
    found = SystemDifference(first, second, size, value)
    if size and size == of:
        return replace(found, reason=KNOWN)
    if size < LEAST_DOCUMENTS:
        return too_few(found)
    error = standard_error(given, of=of)
    # The error of equal differences is only rounding, and t would be enormous.
    if error <= 1e-12 * np.abs(given).max(initial=1):
        return _decide_by_signs(found, levels, 1e-12)
    return with_t_interval(found, float(given.mean()), [(error**2, size - 1)], levels)


def _decide_by_signs(
    found: SystemDifference, levels: tuple[float, float], rounding: float
) -> SystemDifference:
    """A difference that is the same on every document; up to `rounding` it is 0."""
    if abs(found.value or 0.0) <= rounding:
        return replace(found, reason="Both have the same score on every document.")
    p_value = 2.0 ** (1 - found.documents)
    alone, all_at_once = (found.value if p_value <= 1 - level else None for level in levels)
    why = f"The difference is the same on each of {found.documents} documents, too few for an interval."
    return replace(
        found,
        low=alone,
        high=alone,
        simultaneous_low=all_at_once,
        simultaneous_high=all_at_once,
        p_value=p_value,
        reason="" if alone is not None else why,
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
    # A gap weighs 0 in `given`, so the number in it does not matter.
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
    # One test for each system, so the simultaneous intervals cover this number of tests.
    levels = levels_of(0.95, len(systems))
    moved = [
        paired_difference(sides[1][:, index] - sides[0][:, index], name, name, levels)
        for index, name in enumerate(systems)
    ]
    possible = tuple(rank_sets(systems, system_differences(values, systems)) for values in sides)
    return TwoRankings(
        means=of_both,
        # One more than the number of better systems, so that ties share the better rank.
        ranks=1 + np.sum(of_both[:, None, :] > of_both[:, :, None], axis=2),
        possible=(possible[0], possible[1]),
        differences=adjust_p_values(moved),
        tau=tau,
    )


FEWEST_SYSTEMS = 3
_TINY = 1e-9


@dataclass(frozen=True)
class SystemRange:
    """A new system's mean compared with the means of calibrated systems; `reason` if no comparison is
    possible.

    lowest, highest: of the calibrated systems' means. expected_from, expected_to: the 95 % prediction
    interval of one more system's mean. beyond: the share of its units outside the range of the calibrated
    units.
    """

    mean: float | None
    systems: int
    lowest: float | None = None
    highest: float | None = None
    expected_from: float | None = None
    expected_to: float | None = None
    beyond: float | None = None
    reason: str = ""

    @property
    def is_outside(self) -> bool:
        """Return True if the mean is outside the prediction interval."""
        if self.mean is None or self.expected_from is None or self.expected_to is None:
            return False
        return not self.expected_from - _TINY <= self.mean <= self.expected_to + _TINY


def compare_with_systems(
    new: npt.ArrayLike, calibrated: npt.ArrayLike, systems: npt.ArrayLike, *, confidence_level: float = 0.95
) -> SystemRange:
    """Compare a new system's units with the units of k calibrated systems.

    new: (units,) of the new system. calibrated, systems: (units,), values and any labels of their systems.
    NaN is excluded. The interval is m +- t(k - 1) s sqrt(1 + 1 / k) over the k systems' means; it treats them
    as a normal sample. Source: Hahn and Meeker 1991, section 4.7. Undefined below three systems.
    """
    own, values = np.asarray(new, dtype=float), np.asarray(calibrated, dtype=float)
    labels = np.asarray(systems)[~np.isnan(values)]
    own, values = own[~np.isnan(own)], values[~np.isnan(values)]
    names = np.unique(labels)
    if not own.size:
        return SystemRange(None, len(names), reason="The new system has no values.")
    mean = float(own.mean())
    if len(names) < FEWEST_SYSTEMS:
        reason = f"{len(names)} calibrated systems do not show how systems differ; it takes {FEWEST_SYSTEMS}."
        return SystemRange(mean, len(names), reason=reason)
    means = np.array([values[labels == name].mean() for name in names])
    # The spread of one more mean, and the error of the mean of means.
    error = float(means.std(ddof=1) * np.sqrt(1 + 1 / len(means)))
    reach = t_reach(error, len(means) - 1, confidence_level)
    beyond = (own < values.min()) | (own > values.max())
    return SystemRange(
        mean=mean,
        systems=len(means),
        lowest=float(means.min()),
        highest=float(means.max()),
        expected_from=float(means.mean() - reach),
        expected_to=float(means.mean() + reach),
        beyond=float(beyond.mean()),
    )
