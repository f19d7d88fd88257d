"""Student's t: standard errors of means, intervals, p values and degrees of freedom."""

from collections.abc import Iterable

import numpy as np
import scipy

from agreement.data import FloatArray


def standard_error(values: FloatArray, *, of: int | None = None) -> float:
    """Return s / sqrt(n) of the mean of values (n,), divisor of s^2: n - 1.

    of: the size N of a finite population; the error is then times sqrt(1 - n / N). Source: Cochran 1977,
    section 2.6.
    """
    left_out = 1 - len(values) / of if of else 1.0
    return float(values.std(ddof=1) * np.sqrt(left_out / len(values)))


def t_reach(error: float, freedom: float, confidence_level: float) -> float:
    """Return the half-width of the t interval of an estimate with this standard error."""
    return float(error * scipy.special.stdtrit(freedom, (1 + confidence_level) / 2))


def t_p_value(value: float, error: float, freedom: float) -> float:
    """Return the two-sided p value of t = value / error."""
    return float(2 * scipy.special.stdtr(freedom, -abs(value) / error))


def satterthwaite_freedom(parts: Iterable[tuple[float, float]]) -> float | None:
    """Return the degrees of freedom of a sum of variances, each given with its own.

    (sum v)^2 / sum (v^2 / f); None if the divisor is 0. Source: Satterthwaite 1946, Biometrics Bulletin 2,
    110-114.
    """
    pairs = list(parts)
    lost = sum(variance**2 / freedom for variance, freedom in pairs)
    return sum(variance for variance, _ in pairs) ** 2 / lost if lost > 0 else None
