"""Which systems people rate higher: paired differences of means over the documents that both have."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from agreement.data import FloatArray, IntArray
from agreement.ranks import holm_by_key
from agreement.student import standard_error, t_p_value, t_reach

LEAST_DOCUMENTS = 3
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
    over; t has one degree of freedom less.
    """
    pairs = list(combinations(range(len(systems)), 2))
    levels = levels_of(confidence_level, len(pairs))
    found = []
    for one, other in pairs:
        variance = covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
        difference = SystemDifference(systems[one], systems[other], documents, None)
        value = float(values[one] - values[other])
        found.append(with_t_interval(difference, value, [(float(variance), documents - 1)], levels))
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
    if error <= 1e-12 * np.abs(given).max(initial=1):
        if not found.value or abs(found.value) <= 1e-12:
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
    return with_t_interval(found, float(given.mean()), [(error**2, size - 1)], levels)
