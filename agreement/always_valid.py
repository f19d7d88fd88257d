"""An interval of alpha that stays valid at a look after every document:

bets against each possible value of alpha.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, MeasurementLevel

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
    You may stop as soon unchanged narrow enough. Source: Waudby-Smith and Ramdas 2024, Estimating means of
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
    between = (total @ total - (means**2).sum()) / (number * (number - 1))
    expected = 2 * squares.mean() - 2 * between
    if expected <= 0:
        return AlwaysValid(None, -1.0, 1.0, number, "All values are the same.")
    low, high = _unbeaten(within, squares, means, 1 - confidence_level)
    return AlwaysValid(float(1 - within.mean() / expected), low, high, number)


def _features(level: MeasurementLevel, value_domain: Sequence[float]) -> dict[float, FloatArray]:
    """Points whose squared distance is the distance of values, up to 1."""
    values = [float(value) for value in value_domain]
    if level == MeasurementLevel.NOMINAL:
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
    pairs = len(within) // 2 * 2
    first, second = slice(0, pairs, 2), slice(1, pairs, 2)
    apart = squares[first] + squares[second] - 2 * (means[first] * means[second]).sum(axis=1)
    below = np.maximum(1 - _LEVELS, 1e-9)  # largest distance of z below 0
    z = ((within[first] + within[second]) / 2)[:, None] - (1 - _LEVELS) * apart[:, None]
    scaled, middle = np.clip((z + below) / (1 + below), 0, 1), below / (1 + below)
    stakes = _stakes(scaled, middle, significance_level)
    gains = [
        np.cumsum(np.log1p(sign * np.minimum(stakes, _CAP / most) * (scaled - middle)), axis=0)
        for sign, most in ((1, middle), (-1, 1 - middle))
    ]
    capital = np.logaddexp(*gains).max(axis=0) - np.log(2)
    kept = np.flatnonzero(capital < np.log(1 / significance_level))
    if not len(kept):
        return -1.0, 1.0
    return float(_LEVELS[max(kept[0] - 1, 0)]), float(_LEVELS[min(kept[-1] + 1, len(_LEVELS) - 1)])


def _stakes(scaled: FloatArray, middle: FloatArray, significance_level: float) -> FloatArray:
    """(pairs, levels): l_t = sqrt(2 ln(2 / a) / (var_{t-1} t ln(t + 1))), of values before t only."""
    number = np.arange(1, len(scaled) + 1)[:, None]
    running = (middle + np.cumsum(scaled, axis=0)) / (number + 1)
    variances = (_PRIOR + np.cumsum((scaled - running) ** 2, axis=0)) / (number + 1)
    before = np.vstack([np.full((1, scaled.shape[1]), _PRIOR), variances[:-1]])
    stakes = np.sqrt(2 * np.log(2 / significance_level) / (before * number * np.log(number + 1)))
    return np.asarray(stakes)
