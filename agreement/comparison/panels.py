"""Several judges as one: their values combined by a rule, with their spread."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray

MEAN, MEDIAN, MAJORITY, WEIGHTS = "mean", "median", "majority", "weights"
UNITS_A_JUDGE = 5  # rated units for each judge that weights are learned from, at least


@dataclass(frozen=True)
class Weights:
    """value = intercept + sum of weight x value of each judge; learned from `units` units."""

    weights: tuple[float, ...]
    intercept: float
    units: int


@dataclass(frozen=True)
class NoWeights:
    """Why no weights can be learned."""

    reason: str


def learn_weights(values: FloatArray, human: FloatArray) -> Weights | NoWeights:
    """Return the weights, none below 0, whose sum is nearest to people's means by least squares.

    values: (judges, units), human: (units,), people's means; NaN for a gap, and a unit with any gap is
    excluded. Solved after centring, so that the intercept is free: min ||(X - mean X) w - (h - mean h)||, w
    >= 0 (Lawson and Hanson 1974, ch. 23). Undefined with fewer than five units for each judge, or if neither
    people nor judges vary.
    """
    whole = ~np.isnan(values).any(axis=0) & ~np.isnan(human)
    known, wanted = values[:, whole], human[whole]
    needed = UNITS_A_JUDGE * len(values)
    if len(wanted) < needed:
        return NoWeights(
            f"Weights need {needed} units with values of all judges and people; {len(wanted)} have."
        )
    centred = known - known.mean(axis=1, keepdims=True)
    if not np.ptp(wanted) or not centred.any():
        return NoWeights("All values are the same, so no weight tells more than another.")
    weights, _ = scipy.optimize.nnls(centred.T, wanted - wanted.mean())
    intercept = float(wanted.mean() - weights @ known.mean(axis=1))
    return Weights(tuple(float(weight) for weight in weights), intercept, int(whole.sum()))


def combine(values: FloatArray, rule: str, weights: Weights | None = None) -> FloatArray:
    """Return (items,): the combined value of several judges; NaN if any of them has no value.

    values: (judges, items). rule: `mean`, `median`, `majority` (the most frequent value after rounding to
    whole numbers; of several, the value nearest to the mean; of two equally near, the lower) or `weights`.
    NaN, because otherwise the judges of a panel would change from item to item.
    """
    found = np.full(values.shape[1], np.nan)
    whole = ~np.isnan(values).any(axis=0)
    known = values[:, whole]
    if rule == WEIGHTS:
        assert weights is not None
        found[whole] = weights.intercept + np.asarray(weights.weights) @ known
    elif rule == MAJORITY:
        found[whole] = [_majority(column) for column in np.floor(known + 0.5).T]
    else:
        found[whole] = np.median(known, axis=0) if rule == MEDIAN else known.mean(axis=0)
    return found


def majority_of_categories(values: FloatArray) -> FloatArray:
    """Return (items,): the most frequent category; NaN if several are equally frequent, or a value is
    missing.

    Categories have no mean that could decide a tie.
    """
    found = np.full(values.shape[1], np.nan)
    for item in np.flatnonzero(~np.isnan(values).any(axis=0)):
        names, counts = np.unique(values[:, item], return_counts=True)
        if (counts == counts.max()).sum() == 1:
            found[item] = names[counts.argmax()]
    return found


def spread(values: FloatArray) -> FloatArray:
    """Return (items,): the standard deviation among judges (n - 1); NaN if any has no value, or with one
    judge.
    """
    if len(values) < 2:
        return np.full(values.shape[1], np.nan)
    return np.asarray(np.std(values, axis=0, ddof=1))


def _majority(column: Sequence[float] | FloatArray) -> float:
    values, counts = np.unique(column, return_counts=True)
    tied = values[counts == counts.max()]
    return float(tied[np.argmin(np.abs(tied - np.mean(column)))])
