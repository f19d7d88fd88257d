"""The number of documents for a paired comparison, from the spread of differences between documents."""

import numpy as np
import scipy

MOST_DOCUMENTS = 100_000
LEAST_DOCUMENTS = 3


def paired_power(
    difference: float, deviation: float, documents: int, *, significance_level: float = 0.05
) -> float:
    """Return the probability that the paired t test finds this mean difference, with its sign.

    deviation: the standard deviation of differences between documents, in the same unit. The test is
    two-sided with n - 1 degrees of freedom; a significant result with the wrong sign does not count.
    Source: Cohen 1988, Statistical Power Analysis, chapter 2; noncentral t. Raises ValueError for fewer than
    3 documents or a deviation below 0.
    """
    if documents < LEAST_DOCUMENTS or deviation < 0:
        raise ValueError("Power needs three documents or more and a standard deviation of 0 or more.")
    if deviation == 0:
        return float(difference != 0)
    critical = scipy.special.stdtrit(documents - 1, 1 - significance_level / 2)
    noncentrality = abs(difference) / deviation * np.sqrt(documents)
    if noncentrality > critical + 10:
        return 1.0
    return float(1 - scipy.special.nctdtr(documents - 1, noncentrality, critical))


def documents_needed(
    difference: float, deviation: float, *, significance_level: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the fewest documents at which `paired_power` reaches this power; None above 100,000."""
    if not difference:
        return None
    low, high = LEAST_DOCUMENTS - 1, LEAST_DOCUMENTS
    while _falls_short(difference, deviation, high, significance_level, power):
        low, high = high, 2 * high
        if low >= MOST_DOCUMENTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if _falls_short(difference, deviation, middle, significance_level, power):
            low = middle
        else:
            high = middle
    return high if high <= MOST_DOCUMENTS else None


def smallest_difference_found(
    deviation: float, documents: int, *, significance_level: float = 0.05, power: float = 0.8
) -> float:
    """Return the mean difference that the paired t test finds with this power. Raises as `paired_power`."""
    if documents < LEAST_DOCUMENTS or deviation < 0:
        raise ValueError("Power needs three documents or more and a standard deviation of 0 or more.")
    critical = scipy.special.stdtrit(documents - 1, 1 - significance_level / 2)
    noncentrality = scipy.special.nctdtrinc(documents - 1, 1 - power, critical)
    return float(noncentrality * deviation / np.sqrt(documents))


def _falls_short(
    difference: float, deviation: float, documents: int, significance_level: float, power: float
) -> bool:
    return paired_power(difference, deviation, documents, significance_level=significance_level) < power
