"""Which systems people rate higher: paired differences of means over the documents that both have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy

from annotate.agreement.data import FloatArray
from annotate.agreement.ranks import holm

LEAST_DOCUMENTS = 3


@dataclass(frozen=True)
class SystemDifference:
    """Mean score of the first system minus that of the second, over the documents rated for both.

    low, high: the interval of this pair alone. simultaneous_low, simultaneous_high: one that holds for all
    pairs at once (Bonferroni). p_value: two-sided, for no difference; adjusted_p_value: by Holm over all
    pairs that have one. Without an interval these are None and `reason` says why.
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
    scores: FloatArray, systems: Sequence[str], *, confidence_level: float = 0.95
) -> tuple[SystemDifference, ...]:
    """Every pair of systems, from scores (documents, systems), NaN for a gap.

    With D the difference on a document: mean D -+ t s / sqrt(n) with n - 1 degrees of freedom, and the
    paired t test. What differs between documents cancels. No interval with fewer than 3 documents rated for
    both. Where D is the same on every document and not 0, t is undefined and the signs decide: of the 2^n
    signs that the differences could have had without a difference of the systems, 2 give such a mean (Fisher
    1935), and the interval is the one value D at every level that they reach. None where D is 0 throughout.
    Source: Student 1908; Holm 1979.
    """
    pairs = list(combinations(range(len(systems)), 2))
    levels = confidence_level, 1 - (1 - confidence_level) / max(len(pairs), 1)
    found = [
        _difference(scores[:, one] - scores[:, other], systems[one], systems[other], levels)
        for one, other in pairs
    ]
    p_values = {index: each.p_value for index, each in enumerate(found) if each.p_value is not None}
    adjusted = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    return tuple(replace(each, adjusted_p_value=adjusted.get(index)) for index, each in enumerate(found))


def _difference(
    differences: FloatArray, first: str, second: str, levels: tuple[float, float]
) -> SystemDifference:
    given = differences[~np.isnan(differences)]
    size = len(given)
    value = float(given.mean()) if size else None
    found = SystemDifference(first, second, size, value)
    if size < LEAST_DOCUMENTS:
        return replace(found, reason=f"Only {size} documents were rated for both; 3 or more are needed.")
    error = float(given.std(ddof=1) / np.sqrt(size))
    if error <= 1e-12 * np.abs(given).max(initial=1):
        return _of_signs(found, levels)
    mean = float(given.mean())
    reach = [float(error * scipy.special.stdtrit(size - 1, (1 + level) / 2)) for level in levels]
    return replace(
        found,
        low=mean - reach[0],
        high=mean + reach[0],
        simultaneous_low=mean - reach[1],
        simultaneous_high=mean + reach[1],
        p_value=float(2 * scipy.special.stdtr(size - 1, -abs(mean) / error)),
    )


def _of_signs(found: SystemDifference, levels: tuple[float, float]) -> SystemDifference:
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
