"""Position in a pair: outcomes that move towards the text in one place when the texts are swapped."""

from dataclasses import dataclass

import numpy as np
import scipy

from annotate.agreement.streams import Randomness
from judges.biases.measures import Bias, BiasMeasure, Control, ratio
from judges.comparison import Verdicts
from judges.comparison.head_to_head import points_by_order

_DECIMALS = 9
_MEASURE = BiasMeasure(
    "place_preference",
    "Outcomes that move to the text shown second minus those to the first, of all that move",
    "Shi and others 2024, Judging the Judges (arXiv 2406.07791), preference fairness",
    0.0,
    (-1.0, 1.0),
)
_WHY = "No outcome changed when the texts were swapped, or no pair was judged in both orders."


@dataclass(frozen=True)
class PlacePreference:
    """The bias, the numbers of changed outcomes by place, and McNemar's exact p (two-sided)."""

    bias: Bias
    to_first: int
    to_second: int
    p_value: float | None


def place_preference(verdicts: Verdicts, *, generator: Randomness) -> PlacePreference:
    """(to second - to first) / changed, over pairs of systems and documents judged in both orders.

    -1: every change is in favour of the text shown first; 0: as many one way as the other; 1: the
    second. The interval resamples documents; p is McNemar's exact one, for changes that are independent of
    each other. The control is a judge that changes as often, each time to either place by a toss of a coin:
    its central 95 %.
    Undefined where nothing changes.
    """
    orders = points_by_order(verdicts, verdicts.pairs)
    both = ~np.isnan(orders).any(axis=0)
    forward, backward = np.sign(np.round(np.where(both, orders, 0.5) - 0.5, _DECIMALS))
    to_first, to_second = (forward > backward), (forward < backward)
    changed = (to_first | to_second).sum(axis=1)
    used = changed > 0
    parts = (to_second.sum(axis=1) - to_first.sum(axis=1)).astype(float)
    measured = _MEASURE.of_documents(
        ratio(parts[used], changed[used].astype(float)), int(used.sum()), int(both.sum()), _WHY, generator
    )
    number = int(changed.sum())
    first, second = int(to_first.sum()), int(to_second.sum())
    if not number:
        return PlacePreference(Bias(measured, 0.0), first, second, None)
    low, high = (float(2 * each - number) / number for each in _coin(number))
    control = Control(0.0, low, high, "a judge that changes as often, by a toss of a coin")
    p_value = min(1.0, 2 * float(scipy.special.bdtr(min(first, second), number, 0.5)))
    return PlacePreference(Bias(measured, 0.0, control), first, second, p_value)


def _coin(number: int) -> tuple[int, int]:
    """The central 95 % of heads among so many tosses."""
    cumulated = scipy.special.bdtr(np.arange(number + 1), number, 0.5)
    low = int(np.searchsorted(cumulated, 0.025))
    return low, number - low
