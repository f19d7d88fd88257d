"""McGraw and Wong's confidence intervals for intraclass correlations."""

import math
from typing import Literal

import scipy

from annotate.agreement.coefficient import Interval
from annotate.agreement.mean_squares import MeanSquares

LEAST = 1e-9  # what rounding leaves of 1 + (k - 1) r where it is 0

Form = Literal["1", "k", "A,1", "A,k", "C,1", "C,k"]
"""McGraw and Wong's names: one-way, agreement, consistency; of one rater's values or the mean of k raters."""


def f_interval(
    squares: MeanSquares, form: Form, confidence_level: float
) -> tuple[Interval | None, str | None]:
    """The interval from F distributions, or None and why; `squares` hold one replicate.

    McGraw and Wong 1996, table 7; for agreement with Satterthwaite's degrees of freedom. The limits for the
    mean of k raters are those for one rater, stepped up by Spearman and Brown's k r / (1 + (k - 1) r), which
    has no value from r = -1 / (k - 1) down. It assumes normal effects and independent units.
    """
    noise = squares.within if form in ("1", "k") else squares.error
    if not noise[0] > 0:
        return None, "The raters' values leave no error to estimate the interval from."
    upper_tail = (1 + confidence_level) / 2
    low, high = (
        _agreement(squares, upper_tail) if form[0] == "A" else _variance_ratio(squares, form, upper_tail)
    )
    if not (math.isfinite(low) and math.isfinite(high)):
        return None, "The F distributions have no limits for so few units with such values."
    k = squares.k
    if form.endswith("k"):
        if 1 + (k - 1) * low < LEAST:
            return None, "One rater’s limit is so low that the mean of the raters has none."
        low, high = (k * limit / (1 + (k - 1) * limit) for limit in (low, high))
    return Interval(low, high, "F distribution (McGraw and Wong 1996)", confidence_level), None


def _variance_ratio(squares: MeanSquares, form: Form, upper_tail: float) -> tuple[float, float]:
    """Limits for ICC(1) and ICC(C,1) from F = units / within, or units / error."""
    n, k = float(squares.n[0]), squares.k
    one_way = form in ("1", "k")
    noise = squares.within if one_way else squares.error
    freedom = n * (k - 1) if one_way else (n - 1) * (k - 1)
    ratio = float(squares.units[0] / noise[0])
    low = ratio / float(scipy.special.fdtri(n - 1, freedom, upper_tail))
    high = ratio * float(scipy.special.fdtri(freedom, n - 1, upper_tail))
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _agreement(squares: MeanSquares, upper_tail: float) -> tuple[float, float]:
    """Limits for ICC(A,1)."""
    n, k = float(squares.n[0]), squares.k
    units, raters, error = float(squares.units[0]), float(squares.raters[0]), float(squares.error[0])
    value = (units - error) / (units + (k - 1) * error + k * (raters - error) / n)
    a = k * value / (n * (1 - value)) * raters
    b = (1 + k * value * (n - 1) / (n * (1 - value))) * error
    freedom = (a + b) ** 2 / (a**2 / (k - 1) + b**2 / ((n - 1) * (k - 1)))
    below = float(scipy.special.fdtri(n - 1, freedom, upper_tail))
    above = float(scipy.special.fdtri(freedom, n - 1, upper_tail))
    rest = k * raters + (k * n - k - n) * error
    low = n * (units - below * error) / (below * rest + n * units)
    high = n * (above * units - error) / (rest + n * above * units)
    return low, high
