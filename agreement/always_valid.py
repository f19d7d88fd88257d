"""Intervals that stay valid at a look after every document: of alpha, and of differences of systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, MeasurementLevel
from agreement.ranks import holm_by_key

_LEVELS = np.linspace(-1, 1, 401)
_CAP = 0.9  # of the largest stake that cannot lose everything
_PRIOR = 0.005  # the variance that is expected of scaled values before any is seen
LEAST_DOCUMENTS = 4


@dataclass(frozen=True)
class AlwaysValid:
    """Alpha and an interval that contains it at all looks together. documents: the number it rests on.

    value is None, with a reason, if nothing varies or there are too few documents.
    """

    value: float | None
    low: float
    high: float
    documents: int
    reason: str = ""

    @property
    def width(self) -> float:
        """How wide the interval is."""
        return self.high - self.low


def always_valid_alpha(
    documents: Iterable[npt.ArrayLike],
    *,
    level: MeasurementLevel,
    value_domain: Sequence[float],
    confidence_level: float = 0.95,
) -> AlwaysValid:
    """Alpha's interval from documents in order of completion, each (raters, its units).

    Nominal alpha at the nominal level, else interval alpha: unlike ordinal distances, its distances do not
    depend on other ratings. Documents count equally: alpha = 1 - E[x] / E[y], with x the mean distance of two
    raters on a unit of a document, y the mean distance of values of two documents. Of documents 1 and 2, 3
    and 4, ... z = (x_1 + x_2) / 2 - (1 - a) y_12 is between -(1 - a) and 1. Its mean is 0 if alpha is a and
    documents come in random order. Two gamblers bet on each a, with stakes that follow from earlier z only; a
    stays in the interval as long as their mean capital has never reached 1 / (1 - confidence level). So the
    interval contains alpha at all looks together with at least this confidence level, for any distribution.
    You may stop as soon as it is narrow enough. Source: Waudby-Smith and Ramdas 2024, Estimating means of
    bounded random variables by betting, JRSS B 86, section 4, on the estimating equation of alpha.
    """
    points = _features(level, value_domain)
    found = [each for each in (_moments(values, points) for values in documents) if each is not None]
    number = len(found)
    if number < LEAST_DOCUMENTS:
        reason = f"{number} documents are finished; {LEAST_DOCUMENTS} are needed."
        return AlwaysValid(None, -1.0, 1.0, number, reason)
    within = np.array([each[0] for each in found])
    squares = np.array([each[1] for each in found])
    means = np.array([each[2] for each in found])
    total = means.sum(axis=0)
    # The mean product of the mean points of two documents, without the products of one with itself.
    between = (total @ total - (means**2).sum()) / (number * (number - 1))
    # The mean distance of values of two documents, 2 E|v|^2 - 2 E[v v'].
    expected = 2 * squares.mean() - 2 * between
    if expected <= 0:
        return AlwaysValid(None, -1.0, 1.0, number, "All values are the same.")
    low, high = _unbeaten(within, squares, means, 1 - confidence_level)
    return AlwaysValid(float(1 - within.mean() / expected), low, high, number)


def _features(level: MeasurementLevel, value_domain: Sequence[float]) -> dict[float, FloatArray]:
    """Points whose squared distance is the distance of values, up to 1."""
    values = [float(value) for value in value_domain]
    if level == MeasurementLevel.NOMINAL:
        # Two different categories then have the squared distance 1.
        return dict(zip(values, np.eye(len(values)) / np.sqrt(2), strict=True))
    low, high = min(values), max(values)
    return {value: np.array([(value - low) / (high - low or 1.0)]) for value in values}


def _moments(
    values: npt.ArrayLike, points: dict[float, FloatArray]
) -> tuple[float, float, FloatArray] | None:
    """(mean distance within units, mean square, mean point) of a document; None if it has no pairable
    values.
    """
    table = np.asarray(values, dtype=float)
    distances, weights, used = [], [], []
    for unit in table.T:
        own = np.array([points[float(value)] for value in unit[~np.isnan(unit)]])
        if len(own) >= 2:
            spread = (own**2).sum() / len(own) - (own.mean(axis=0) ** 2).sum()
            # The mean distance of two values is twice the variance with divisor m - 1.
            distances.append(2 * spread * len(own) / (len(own) - 1))
            weights.append(len(own))
            used.append(own)
    if not used:
        return None
    of_document = np.concatenate(used)
    within = float(np.average(distances, weights=weights))
    return within, float((of_document**2).sum(axis=1).mean()), of_document.mean(axis=0)


def _unbeaten(
    within: FloatArray, squares: FloatArray, means: FloatArray, significance_level: float
) -> tuple[float, float]:
    """The least and the greatest alpha that no gambler has beaten, moved out by a step of the grid."""
    # An odd last document waits for the next one.
    pairs = len(within) // 2 * 2
    first, second = slice(0, pairs, 2), slice(1, pairs, 2)
    # y_12, the mean of |v - w|^2 over values v and w of the two documents.
    apart = squares[first] + squares[second] - 2 * (means[first] * means[second]).sum(axis=1)
    below = np.maximum(1 - _LEVELS, 1e-9)  # largest distance of z below 0
    z = ((within[first] + within[second]) / 2)[:, None] - (1 - _LEVELS) * apart[:, None]
    # Scaled to 0..1, the point z = 0, its mean under a, becomes `middle`.
    scaled, middle = np.clip((z + below) / (1 + below), 0, 1), below / (1 + below)
    stakes = _stakes(scaled, middle, significance_level)
    # One gambler bets on more than the mean and one on less, and neither can lose everything.
    gains = [
        np.cumsum(np.log1p(sign * np.minimum(stakes, _CAP / most) * (scaled - middle)), axis=0)
        for sign, most in ((1, middle), (-1, 1 - middle))
    ]
    # The mean of both capitals, at its highest over all looks.
    capital = np.logaddexp(*gains).max(axis=0) - np.log(2)
    kept = np.flatnonzero(capital < np.log(1 / significance_level))
    # If every level is beaten, the whole range is the only safe interval.
    if not len(kept):
        return -1.0, 1.0
    # The true ends are between two levels, so each end moves out by one.
    return float(_LEVELS[max(kept[0] - 1, 0)]), float(_LEVELS[min(kept[-1] + 1, len(_LEVELS) - 1)])


def _stakes(scaled: FloatArray, middle: FloatArray, significance_level: float) -> FloatArray:
    """(pairs, levels): l_t = sqrt(2 ln(2 / a) / (var_{t-1} t ln(t + 1))), of values before t only."""
    number = np.arange(1, len(scaled) + 1)[:, None]
    running = (middle + np.cumsum(scaled, axis=0)) / (number + 1)
    variances = (_PRIOR + np.cumsum((scaled - running) ** 2, axis=0)) / (number + 1)
    # A stake that knew the pair it bets on would not be fair.
    before = np.vstack([np.full((1, scaled.shape[1]), _PRIOR), variances[:-1]])
    stakes = np.sqrt(2 * np.log(2 / significance_level) / (before * number * np.log(number + 1)))
    return np.asarray(stakes)


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
    scaled = []
    for _, _, differences in pairs:
        given = np.asarray(differences, dtype=float)
        given = given[~np.isnan(given)]
        if reach <= 0 or (np.abs(given) > reach * (1 + 1e-9)).any():
            raise ValueError(f"Every difference must lie between {-reach:g} and {reach:g}.")
        scaled.append(np.clip((given / reach + 1) / 2, 0, 1))
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


def _compare(
    first: str, second: str, scaled: FloatArray, reach: float, significance_level: float
) -> AlwaysValidDifference:
    if not len(scaled):
        return AlwaysValidDifference(first, second, 0, None, None, None, None, reason=NO_DOCUMENT)
    # K- at m is K+ of the mirrored values at 1 - m.
    ends = [_find_end(scaled, significance_level), 1 - _find_end(1 - scaled, significance_level)]
    low, high = (float(reach * (2 * end - 1)) for end in ends)
    # `_log_capital` has the half for two gamblers, so this is ln(max(K+, K-) / 2).
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
    # Mirrored if the mean is below the middle, where K- is the capital that grows.
    repeated = np.tile(scaled if scaled.mean() > 0.5 else 1 - scaled, MOST_TIMES)
    enough = np.flatnonzero(_log_capital(repeated, 0.5) >= -np.log(significance_level))
    return max(int(enough[0]) + 1 - len(scaled), 1) if len(enough) else None
