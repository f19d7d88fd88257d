"""An interval for a standard deviation of values that are not normal."""

import numpy as np
import scipy

from annotate.agreement.coefficient import Interval
from annotate.agreement.data import FloatArray

LEAST_VALUES = 6
METHOD = "of the logarithm, by kurtosis"


def deviation_interval(
    values: FloatArray, confidence_level: float = 0.95
) -> tuple[Interval | None, str | None]:
    """The interval of the standard deviation of what values (n,) were drawn from, or None and the reason.

    The root of exp(ln(c s^2) -+ z e): s^2 is the variance (divisor n - 1), c = n / (n - z), e = c sqrt((k -
    (n - 3) / n) / (n - 1)), and k the kurtosis n sum (x - m)^4 / (sum (x - mean)^2)^2 about a mean m that
    leaves out a share of 1 / (2 sqrt(n - 4)) at each end. Intervals by drawing the values found too little
    spread in few of them and held .72 to .92 instead of .95.
    Source: Bonett 2006, Computational Statistics and Data Analysis 50, 775-782. None with fewer than 6
    values, and where all are the same.
    """
    size = len(values)
    if size < LEAST_VALUES:
        return None, f"An interval of a standard deviation needs {LEAST_VALUES} values; there are {size}."
    if np.ptp(values) == 0:
        return None, "All values are the same, so they do not tell how much they may vary."
    z = float(scipy.special.ndtri((1 + confidence_level) / 2))
    correction = size / (size - z)
    cut = int(size / (2 * np.sqrt(size - 4)))
    trimmed = np.sort(values)[cut : size - cut].mean()
    squares = float(np.sum((values - values.mean()) ** 2))
    kurtosis = size * float(np.sum((values - trimmed) ** 4)) / squares**2
    # Of two values that are equally frequent the kurtosis is 1, and rounding must not leave a root below 0.
    error = correction * np.sqrt(max(kurtosis - (size - 3) / size, 0.0) / (size - 1))
    middle = np.log(correction * squares / (size - 1))
    low, high = np.exp((middle + np.array([-1, 1]) * z * error) / 2)
    return Interval(float(low), float(high), METHOD, confidence_level), None
