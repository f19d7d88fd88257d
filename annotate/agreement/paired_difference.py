"""Two figures of the same units or documents: how far apart they are, and how sure that is."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from annotate.agreement.bootstrap import Resampling, Statistic, draw_weights, independent
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness, substream

_TINY = 1e-12


@dataclass(frozen=True)
class PairedDifference:
    """The first figure minus the second over the same material; without an interval `reason` says why.

    size: how many documents (systems) it rests on. p_value: two-sided, for no difference. how: how interval
    and p value were made.
    """

    value: float | None
    size: int
    first: float | None = None
    second: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    how: str = ""
    reason: str = ""


def difference_of_figures(
    figures: tuple[Statistic, Statistic],
    size: int,
    generator: Randomness,
    *,
    noun: str = "documents",
    replicates: int = 2000,
    confidence_level: float = 0.95,
) -> PairedDifference:
    """The difference of two figures of weighted documents, each drawing of documents serving both.

    figures: from weights (replicates, size) to values (replicates,), NaN where undefined. The interval holds
    the middle of the differences' replicates (paired percentile bootstrap); p is the level at which it begins
    to hold 0, 2 (1 + k) / (replicates + 1) with k the smaller number of replicates on one side of 0. Below 20
    documents each is left out in turn instead, with Student's t. Source: Efron and Tibshirani 1993, chapters
    11, 13 and 16. Undefined where either figure is; no interval where more replicates are without variation
    than one tail holds, or where all are the same.
    """
    first, second = (float(each(np.ones((1, size)))[0]) if size else np.nan for each in figures)
    if np.isnan(first) or np.isnan(second):
        return PairedDifference(None, size, reason="A figure of the two is undefined on what both have.")
    found = PairedDifference(first - second, size, first, second)
    plan = Resampling(replicates=replicates, confidence_level=confidence_level)
    if size < 2:
        return _without(found, f"An interval needs at least two {noun}.")
    few = size < plan.jackknife_below
    weights: Iterable[FloatArray] = (
        [1 - np.eye(size)]
        if few
        else draw_weights(independent(size, noun), substream(generator, "paired"), replicates)
    )
    differences = np.concatenate([figures[0](each) - figures[1](each) for each in weights])
    varied = differences[~np.isnan(differences)]
    tail = (1 - confidence_level) / 2
    if len(differences) - len(varied) > (0 if few else tail * len(differences)):
        return _without(found, f"Too many resamples of {noun} leave no variation: judge more of them.")
    if np.ptp(varied) < _TINY:
        return _without(found, f"The difference is the same in every resample of {noun}.")
    return _by_leaving_out(found, varied, noun, tail) if few else _by_drawing(found, varied, noun, tail)


def _by_leaving_out(
    found: PairedDifference, without_one: FloatArray, noun: str, tail: float
) -> PairedDifference:
    assert found.value is not None
    size = len(without_one)
    error = np.sqrt((size - 1) / size * np.sum((without_one - without_one.mean()) ** 2))
    reach = float(error * scipy.special.stdtrit(size - 1, 1 - tail))
    p_value = float(2 * scipy.special.stdtr(size - 1, -abs(found.value) / error))
    how = f"jackknife of {noun}, t with {size - 1} degrees of freedom"
    return _with_interval(found, (found.value - reach, found.value + reach), p_value, how)


def _by_drawing(found: PairedDifference, drawn: FloatArray, noun: str, tail: float) -> PairedDifference:
    low, high = np.quantile(drawn, [tail, 1 - tail])
    beyond = min(np.sum(drawn <= _TINY), np.sum(drawn >= -_TINY))
    p_value = min(1.0, float(2 * (1 + beyond) / (len(drawn) + 1)))
    how = f"paired percentile bootstrap of {noun}, {len(drawn)} replicates"
    return _with_interval(found, (float(low), float(high)), p_value, how)


def _with_interval(
    found: PairedDifference, limits: tuple[float, float], p_value: float, how: str
) -> PairedDifference:
    return PairedDifference(found.value, found.size, found.first, found.second, *limits, p_value, how)


def _without(found: PairedDifference, reason: str) -> PairedDifference:
    return PairedDifference(found.value, found.size, found.first, found.second, reason=reason)
