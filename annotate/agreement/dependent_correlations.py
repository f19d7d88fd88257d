"""Two correlations that share one side: Williams' test, and an interval of their difference."""

import math

import numpy as np
import scipy

from annotate.agreement.data import FloatArray
from annotate.agreement.paired_difference import PairedDifference

LEAST_PAIRS = 5
_ROUNDING = 1e-9


def williams_test(first: float, second: float, between: float, size: int) -> tuple[float, float]:
    """Williams' t for equal correlations of two variables with a third, and its two-sided p value.

    first, second: the two correlations with the third variable; between: of the two with each other; size:
    how many units, 4 or more. With K = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12 and r = (r1 + r2) / 2,

        t = (r1 - r2) sqrt((n - 1)(1 + r12) / (2 K (n - 1) / (n - 3) + r^2 (1 - r12)^3))

    has n - 3 degrees of freedom for normal variables. Source: Williams 1959, Journal of the Royal Statistical
    Society B 21, 396-399; Steiger 1980, Psychological Bulletin 87, 245-251, equation 7. Raises ValueError
    where a correlation is not within -1 and 1, or the two variables are the same.
    """
    if size < 4 or not all(abs(each) < 1 - _ROUNDING for each in (first, second, between)):
        raise ValueError("Williams' test needs 4 units or more and correlations between -1 and 1.")
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    middle = (first + second) / 2
    spread = 2 * max(determinant, 0.0) * (size - 1) / (size - 3) + middle**2 * (1 - between) ** 3
    t = (first - second) * math.sqrt((size - 1) * (1 + between) / spread)
    return t, float(2 * scipy.special.stdtr(size - 3, -abs(t)))


def dependent_interval(
    first: float, second: float, between: float, size: int, *, confidence_level: float = 0.95
) -> tuple[float, float]:
    """An interval of first - second, from Fisher's interval of each and how the two estimates are correlated.

    Source: Zou 2007, Psychological Methods 12, 399-413, equations 15 and 16.
    """
    reach = float(scipy.special.ndtri((1 + confidence_level) / 2)) / math.sqrt(size - 3)
    (low1, high1), (low2, high2) = (
        (math.tanh(math.atanh(each) - reach), math.tanh(math.atanh(each) + reach)) for each in (first, second)
    )
    shared = (between - first * second / 2) * (1 - first**2 - second**2 - between**2) + between**3
    shared /= (1 - first**2) * (1 - second**2)
    down, up = (first - low1, high2 - second), (high1 - first, second - low2)
    below, above = (
        math.sqrt(max(one**2 + other**2 - 2 * shared * one * other, 0.0)) for one, other in (down, up)
    )
    return first - second - below, first - second + above


def difference_of_correlations(
    first: FloatArray, second: FloatArray, third: FloatArray, *, noun: str = "units"
) -> PairedDifference:
    """r(first, third) - r(second, third), Pearson's, over the units with all three values.

    first, second, third: (units,), NaN for a gap. p by Williams' test, the interval by Zou. It takes units as
    independent and nearly normal. Undefined with fewer than 3 units or where a side is constant; no test with
    fewer than 5, or where a correlation is 1 or -1.
    """
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
