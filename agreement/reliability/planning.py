"""The number of calibration ratings that a guarantee needs, before anything is rated."""

from dataclasses import dataclass

import numpy as np

from agreement.data import FloatArray, IntArray
from agreement.reliability import bounds
from agreement.reliability.fixed_sequence import Guarantee

_LARGEST_SAMPLE = 20_000
_FIRST_BLOCK = 256  # sizes tried at a time; most answers are small


@dataclass(frozen=True)
class CalibrationPlan:
    """A sample size, or None with a reason.

    ratings: units to sample at random and rate. accepted: the expected number of them among the units that
    the judge keeps. errors_allowed: the number of these that may count against it. power: the chance to pass
    at the assumed error rate. least_ratings: below this number even a judge without an error does not pass.
    """

    ratings: int | None
    accepted: int | None
    errors_allowed: int | None
    power: float | None
    least_ratings: int | None
    reason: str | None = None


def least_accepted_ratings(guarantee: Guarantee, *, errors: int = 0, units: int | None = None) -> int | None:
    """The fewest accepted calibration ratings that pass with `errors` errors among them.

    Without errors and without a batch ceil(ln delta / ln(1 - risk)): 22 at risk .1 and delta .1. units: the
    accepted units of a closed batch. None if even rating them all would not suffice. Source: Jung, Brahman
    and Choi 2025; Hahn and Meeker 1991, Statistical Intervals, chapter 9.
    """
    start, block = max(errors, 1), _FIRST_BLOCK
    largest = _LARGEST_SAMPLE if units is None else units
    while start <= largest:
        accepted = np.arange(start, min(start + block, largest + 1))
        passes = _p_values(np.full(len(accepted), errors), accepted, units, guarantee)
        found = np.flatnonzero(passes <= guarantee.significance_level)
        if len(found):
            return int(accepted[found[0]])
        start, block = start + block, 4 * block
    return None


def plan_calibration(
    guarantee: Guarantee,
    *,
    expected_error: float,
    accepted_share: float = 1,
    power: float = 0.8,
    units: int | None = None,
) -> CalibrationPlan:
    """The smallest sample at which a judge with this error rate passes with this power.

    For units of a closed batch, or one unit of each document: with more units of a document and without a
    batch, the test of `calibrate` needs more.

    expected_error: the error rate supposed among the units that shall stay, from a pilot or from other
    projects. accepted_share: the share of all units that shall stay with the judge. units: of the closed
    batch, all of them; then bounds are hypergeometric. Power is the power of one exact test; since errors are
    whole numbers, power rises in a sawtooth. The returned size keeps it at every larger size up to twice its
    number. Raises ValueError for shares and rates outside 0..1.
    """
    if not 0 <= expected_error < 1:
        raise ValueError(f"The expected error must be at least 0 and below 1, but is {expected_error}.")
    if not 0 < accepted_share <= 1:
        raise ValueError(f"The accepted share must be above 0 and at most 1, but is {accepted_share}.")
    if not 0 < power < 1:
        raise ValueError(f"Power must lie between 0 and 1, but is {power}.")
    kept = None if units is None else round(units * accepted_share)
    least = least_accepted_ratings(guarantee, units=kept)
    if least is None:
        reason = "Even rating every unit that the judge keeps would not allow this guarantee."
        return CalibrationPlan(None, None, None, None, None, reason)
    least_ratings = _ratings_to_draw(max(least, guarantee.least_accepted), accepted_share)
    if expected_error >= guarantee.risk:
        reason = (
            "A judge that errs as often as the risk allows passes no sample; allow more, or keep fewer units."
        )
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    tried = _first_with_power(max(least, guarantee.least_accepted), kept, guarantee, expected_error, power)
    if tried is None:
        reason = "No sample is large enough: the expected error lies too near the risk."
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    accepted, allowed, reached = tried
    return CalibrationPlan(
        ratings=_ratings_to_draw(accepted, accepted_share),
        accepted=accepted,
        errors_allowed=allowed,
        power=reached,
        least_ratings=least_ratings,
    )


def errors_allowed(accepted: IntArray, guarantee: Guarantee, *, units: int | None = None) -> IntArray:
    """Return (sizes,): the most errors that still pass the test of `guarantee`; -1 where not even 0 pass.

    accepted: (sizes,), numbers of accepted ratings. units: the size of a finite batch
    (hypergeometric distribution); None for an endless one (binomial).
    """
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
    """(sizes,): P(number of errors <= `allowed`) at this error rate."""
    some = np.maximum(allowed, 0)
    if units is None:
        reached = bounds.binomial_p_value(some, accepted, error) if error > 0 else np.ones(len(accepted))
    else:
        wrong = int(np.ceil(np.round(units * error, 9)))
        reached = bounds.hypergeometric_cdf(some, units, wrong, accepted)
    return np.where(allowed >= 0, reached, 0.0)


def _first_with_power(
    least: int, kept: int | None, guarantee: Guarantee, error: float, power: float
) -> tuple[int, int, float] | None:
    """The smallest size that keeps the power up to twice its size, its errors allowed, its power; or None.

    Sizes are tried up to a limit that grows until it is twice the size found: most answers are small.
    """
    largest = 2 * _LARGEST_SAMPLE if kept is None else kept
    limit = min(4 * least, largest)
    while True:
        sizes = np.arange(min(least, largest), limit + 1)
        allowed = errors_allowed(sizes, guarantee, units=kept)
        reached = _power(sizes, allowed, error, kept)
        chosen = _first_lasting(sizes, reached >= power)
        if limit == largest or (chosen is not None and 2 * sizes[chosen] <= limit):
            break
        limit = min(4 * limit, largest)
    if chosen is None:
        return None
    return int(sizes[chosen]), int(allowed[chosen]), float(reached[chosen])


def _first_lasting(sizes: IntArray, enough: np.ndarray) -> int | None:
    """The first index from which on `enough` holds up to twice the size; None if there is none."""
    gaps = np.flatnonzero(~enough)
    for index in np.flatnonzero(enough):
        following = gaps[gaps > index]
        if not len(following) or sizes[following[0]] > 2 * sizes[index]:
            return int(index)
    return None


def _ratings_to_draw(accepted: int, accepted_share: float) -> int:
    return int(np.ceil(np.round(accepted / accepted_share, 9)))
