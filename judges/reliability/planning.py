"""How many calibration ratings a guarantee needs, told before anything is rated."""

from dataclasses import dataclass

import numpy as np

from annotate.agreement.data import FloatArray, IntArray
from judges.reliability import bounds
from judges.reliability.selective import Guarantee

_LARGEST_SAMPLE = 20_000


@dataclass(frozen=True)
class CalibrationPlan:
    """A sample size, or None with a reason.

    ratings: units to draw at random and rate. accepted: how many of them are expected among the units that
    the judge keeps, and errors_allowed: how many of those may count against it. power: the chance to pass at
    the error rate supposed. least_ratings: below this not even a judge without an error passes.
    """

    ratings: int | None
    accepted: int | None
    errors_allowed: int | None
    power: float | None
    least_ratings: int | None
    reason: str | None = None


def least_accepted_ratings(guarantee: Guarantee, *, errors: int = 0, units: int | None = None) -> int | None:
    """The fewest accepted calibration ratings that pass with so many errors among them.

    Without errors and without a batch ceil(ln delta / ln(1 - risk)): 22 at risk .1 and delta .1. units: the
    accepted units of a closed batch. None where even rating them all would not do.
    Source: Jung, Brahman and Choi 2025; Hahn and Meeker 1991, Statistical Intervals, chapter 9.
    """
    accepted = np.arange(max(errors, 1), (_LARGEST_SAMPLE if units is None else units) + 1)
    passes = _p_values(np.full(len(accepted), errors), accepted, units, guarantee)
    found = np.flatnonzero(passes <= guarantee.significance_level)
    return int(accepted[found[0]]) if len(found) else None


def plan_calibration(
    guarantee: Guarantee,
    *,
    expected_error: float,
    accepted_share: float = 1,
    power: float = 0.8,
    units: int | None = None,
) -> CalibrationPlan:
    """The smallest sample at which a judge with this error rate passes with this power.

    expected_error: the error rate supposed among the units that shall stay, from a pilot or from other
    projects. accepted_share: the share of all units that shall stay with the judge. units: of the closed
    batch, all of them; then bounds are hypergeometric. Power is that of one exact test; since errors are
    whole numbers it goes up in a saw, and the size given keeps it at every larger size up to twice as many.
    ValueError for shares and rates outside 0..1.
    """
    _check(expected_error, accepted_share, power)
    kept = None if units is None else round(units * accepted_share)
    least = least_accepted_ratings(guarantee, units=kept)
    if least is None:
        reason = "Even rating every unit that the judge keeps would not allow this guarantee."
        return CalibrationPlan(None, None, None, None, None, reason)
    least_ratings = _drawn(max(least, guarantee.least_accepted), accepted_share)
    if expected_error >= guarantee.risk:
        reason = (
            "A judge that errs as often as the risk allows passes no sample; allow more, or keep fewer units."
        )
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    accepted = _planned_sizes(max(least, guarantee.least_accepted), kept)
    allowed = errors_allowed(accepted, guarantee, units=kept)
    reached = _power(accepted, allowed, expected_error, kept)
    chosen = _first_lasting(accepted, reached >= power)
    if chosen is None:
        reason = "No sample is large enough: the expected error lies too near the risk."
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    return CalibrationPlan(
        ratings=_drawn(int(accepted[chosen]), accepted_share),
        accepted=int(accepted[chosen]),
        errors_allowed=int(allowed[chosen]),
        power=float(reached[chosen]),
        least_ratings=least_ratings,
    )


def errors_allowed(accepted: IntArray, guarantee: Guarantee, *, units: int | None = None) -> IntArray:
    """(sizes,): the most errors among so many accepted ratings that still pass; -1 where none do."""
    low, high = np.full(len(accepted), -1), accepted.copy()
    while (low < high).any():
        middle = (low + high + 1) // 2
        passes = _p_values(np.maximum(middle, 0), accepted, units, guarantee) <= guarantee.significance_level
        low, high = np.where(passes, middle, low), np.where(passes, high, middle - 1)
    return np.asarray(low, dtype=np.intp)


def _p_values(errors: IntArray, accepted: IntArray, units: int | None, guarantee: Guarantee) -> FloatArray:
    if units is None:
        return bounds.binomial_p_value(errors, accepted, guarantee.risk)
    return bounds.hypergeometric_p_value(errors, accepted, np.full(len(accepted), units), guarantee.risk)


def _power(accepted: IntArray, allowed: IntArray, error: float, units: int | None) -> FloatArray:
    """(sizes,): P(at most so many errors) at this error rate."""
    some = np.maximum(allowed, 0)
    if units is None:
        reached = bounds.binomial_p_value(some, accepted, error) if error > 0 else np.ones(len(accepted))
    else:
        wrong = int(np.ceil(np.round(units * error, 9)))
        reached = bounds.hypergeometric_cdf(some, units, wrong, accepted)
    return np.where(allowed >= 0, reached, 0.0)


def _planned_sizes(least: int, kept: int | None) -> IntArray:
    largest = 2 * _LARGEST_SAMPLE if kept is None else kept
    return np.arange(min(least, largest), largest + 1)


def _first_lasting(sizes: IntArray, enough: np.ndarray) -> int | None:
    """The first index from which on `enough` holds up to twice the size; None where none does."""
    gaps = np.flatnonzero(~enough)
    for index in np.flatnonzero(enough):
        following = gaps[gaps > index]
        if not len(following) or sizes[following[0]] > 2 * sizes[index]:
            return int(index)
    return None


def _drawn(accepted: int, accepted_share: float) -> int:
    return int(np.ceil(np.round(accepted / accepted_share, 9)))


def _check(expected_error: float, accepted_share: float, power: float) -> None:
    if not 0 <= expected_error < 1:
        raise ValueError(f"The expected error must be at least 0 and below 1, but is {expected_error}.")
    if not 0 < accepted_share <= 1:
        raise ValueError(f"The accepted share must be above 0 and at most 1, but is {accepted_share}.")
    if not 0 < power < 1:
        raise ValueError(f"Power must lie between 0 and 1, but is {power}.")
