"""Differences of systems or judges with intervals and tests that are valid at every look."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray
from agreement.ranks import holm_by_key

_STAKES = np.array([0.98, 0.7, 0.5, 0.35, 0.25, 0.12])  # of the largest stake that cannot lose everything
_LOG_SHARES = np.log(_STAKES**2 / np.sum(_STAKES**2) / 2)  # one half for each direction
_HALVINGS = 14  # of the scale: an end is exact to 1/16,000 of it, and is rounded outwards
MOST_TIMES = 20
"""The forecast ends after this many times the documents seen."""
NO_DOCUMENT = "No finished document has a value of both."


@dataclass(frozen=True)
class AlwaysValidDifference:
    """The mean of the first minus the second over documents, valid at every look.

    low, high: an interval that covers the mean at all looks and for all pairs together. p_value: for no
    difference, for this pair alone; adjusted_p_value: by Holm over the pairs. more_documents: the number of
    further documents that makes the difference sure if they are like those seen; None if it is sure already
    or needs more than `MOST_TIMES` as many. Without documents value and interval are None with a `reason`.
    """

    first: str
    second: str
    documents: int
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None = None
    is_sure: bool = False
    more_documents: int | None = None
    reason: str = ""


def always_valid_differences(
    pairs: Sequence[tuple[str, str, npt.ArrayLike]],
    *,
    reach: float,
    confidence_level: float = 0.95,
) -> tuple[AlwaysValidDifference, ...]:
    """Compare pairs from differences (documents,) in the documents' order of completion.

    pairs: the two names and their differences, NaN for a document that does not count. reach: the largest
    size of a difference. For a mean m, values z scaled to 0..1 and k stakes l between 0 and 1 with weights w
    in proportion to l^2, the capital of two gamblers is

        K+(m) = sum_k w_k prod_t (1 + l_k (z_t - m) / m)
        K-(m) = sum_k w_k prod_t (1 - l_k (z_t - m) / (1 - m))

    m stays in the interval while max(K+, K-) / 2 has never reached 1 / a. If documents come in random order,
    the true mean leaves it at any look with a maximum probability of a, for any distribution. Intervals take
    a = (1 - confidence level) / pairs (Bonferroni). p is the smallest 2 / max(K+, K-) over all looks, at a
    difference of 0, cut at 1. Holm's correction of such p values is valid at every look, and a rejection is
    never undone. The mean is over documents like these with these raters; it does not cover other raters.
    Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting, JRSS B 86,
    section 4, with their average over a grid of constant stakes. Raises ValueError for differences beyond the
    reach.
    """
    significance_level = 1 - confidence_level
    each_level = significance_level / max(len(pairs), 1)
    scaled = [_scale(differences, reach) for _, _, differences in pairs]
    found = [
        _compare(first, second, values, reach, each_level)
        for (first, second, _), values in zip(pairs, scaled, strict=True)
    ]
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    decided = [adjusted.get(index, 1.0) <= significance_level for index in range(len(found))]
    return tuple(
        replace(
            each,
            adjusted_p_value=adjusted.get(index),
            is_sure=is_sure,
            more_documents=None if is_sure else _forecast_documents(values, each_level),
        )
        for index, (each, is_sure, values) in enumerate(zip(found, decided, scaled, strict=True))
    )


def _scale(differences: npt.ArrayLike, reach: float) -> FloatArray:
    given = np.asarray(differences, dtype=float)
    given = given[~np.isnan(given)]
    if reach <= 0 or (np.abs(given) > reach * (1 + 1e-9)).any():
        raise ValueError(f"Every difference must lie between {-reach:g} and {reach:g}.")
    return np.asarray(np.clip((given / reach + 1) / 2, 0, 1))


def _compare(
    first: str, second: str, scaled: FloatArray, reach: float, significance_level: float
) -> AlwaysValidDifference:
    if not len(scaled):
        return AlwaysValidDifference(first, second, 0, None, None, None, None, reason=NO_DOCUMENT)
    ends = [_find_end(scaled, significance_level), 1 - _find_end(1 - scaled, significance_level)]
    low, high = (float(reach * (2 * end - 1)) for end in ends)
    most = max(_log_capital(scaled, 0.5).max(), _log_capital(1 - scaled, 0.5).max())
    value = float(reach * (2 * scaled.mean() - 1))
    return AlwaysValidDifference(first, second, len(scaled), value, low, high, float(min(1.0, np.exp(-most))))


def _log_capital(scaled: FloatArray, mean: float) -> FloatArray:
    """(documents,): the logarithm of K+ / 2 after each document, at this mean between 0 and 1."""
    gains = np.cumsum(np.log1p(np.outer(scaled / mean - 1, _STAKES)), axis=0)
    return np.asarray(np.logaddexp.reduce(gains + _LOG_SHARES, axis=1))


def _find_end(scaled: FloatArray, significance_level: float) -> float:
    """Return the largest mean known to be beaten by K+, which falls as the mean grows; 0 if there is none."""
    beaten, kept = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (beaten + kept) / 2
        is_beaten = _log_capital(scaled, middle).max() >= -np.log(significance_level)
        beaten, kept = (middle, kept) if is_beaten else (beaten, middle)
    return beaten


def _forecast_documents(scaled: FloatArray, significance_level: float) -> int | None:
    """Return the number of further documents if those seen repeat; None beyond `MOST_TIMES`."""
    if not len(scaled) or scaled.mean() == 0.5:
        return None
    repeated = np.tile(scaled if scaled.mean() > 0.5 else 1 - scaled, MOST_TIMES)
    enough = np.flatnonzero(_log_capital(repeated, 0.5) >= -np.log(significance_level))
    return max(int(enough[0]) + 1 - len(scaled), 1) if len(enough) else None
