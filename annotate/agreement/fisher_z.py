"""Confidence intervals for a correlation of few independent pairs, by Fisher's z."""

import math

import scipy

from annotate.agreement.coefficient import Interval

CORRELATED = frozenset({"pearson", "spearman", "kendall_tau_b"})
"""The names of the coefficients that it knows."""
_ROUNDING = 1e-9


def fisher_interval(
    correlation: str, value: float, pairs: int, confidence_level: float, *, noun: str = "pairs"
) -> tuple[Interval | None, str | None]:
    """The interval tanh(artanh r -+ z s), or None and why; `correlation` is the name of the coefficient.

    With n pairs the variance s^2 is 1 / (n - 3) for Pearson's r (Fisher 1921), (1 + r^2 / 2) / (n - 3) for
    Spearman's rho (Bonett and Wright 2000), .437 / (n - 4) for Kendall's tau-b (Fieller, Hartley and Pearson
    1957). It assumes pairs that are independent and nearly normal, and holds its level from 6 pairs on, where
    leaving out each in turn does not. None where r is -1 or 1: z is infinite.
    """
    least = 5 if correlation == "kendall_tau_b" else 4
    if pairs < least:
        return None, f"{pairs} {noun} are too few for an interval, which needs {least}."
    if abs(value) > 1 - _ROUNDING:
        return None, f"At {value:.0f} Fisher’s z is infinite, so {pairs} {noun} give no interval."
    variances = {
        "pearson": 1 / (pairs - 3),
        "spearman": (1 + value**2 / 2) / (pairs - 3),
        "kendall_tau_b": 0.437 / max(pairs - 4, 1),
    }
    reach = float(scipy.special.ndtri((1 + confidence_level) / 2)) * math.sqrt(variances[correlation])
    middle = math.atanh(value)
    low, high = math.tanh(middle - reach), math.tanh(middle + reach)
    return Interval(low, high, f"Fisher’s z of {pairs} {noun}", confidence_level), None
