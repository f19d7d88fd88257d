"""What counts as a judge's error against the people's value of a unit; chosen before looking."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray
from agreement.pairs import mean_values

Loss = Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]
"""From the judge's values and the people's (units,) to losses between 0 and 1, NaN where one is missing."""

_DECIMALS = 9  # thirds that differ by one point differ from 1 after these decimals


def another_point(judge: npt.ArrayLike, people: npt.ArrayLike, *, step: float = 1) -> FloatArray:
    """1 if the judge's value is not the point nearest to the people's, 0 otherwise, NaN without both.

    judge, people: (units,), NaN if missing, as for the other losses. |f - h| > step / 2, so that a mean
    halfway between two points is matched by either. `step`: the distance between points of the scale.
    """
    return _exceeds_limit(judge, people, step / 2)


def more_than_one_point(judge: npt.ArrayLike, people: npt.ArrayLike, *, step: float = 1) -> FloatArray:
    """1 where the judge is more than one point away from the people: |f - h| > step; NaN without both.

    judge, people, step: as of `another_point`.
    """
    return _exceeds_limit(judge, people, step)


def other_side(judge: npt.ArrayLike, people: npt.ArrayLike, *, cut: float) -> FloatArray:
    """1 if only one of the two is at or above the cut ("good enough"); NaN without both.

    judge, people: (units,), NaN if missing. cut: a point of the scale.
    """
    first, second = _round_values(judge), _round_values(people)
    differs = (first >= cut) != (second >= cut)
    return np.where(np.isnan(first) | np.isnan(second), np.nan, differs)


def squared_distance(judge: npt.ArrayLike, people: npt.ArrayLike, *, span: float) -> FloatArray:
    """((f - h) / span)^2, between 0 and 1 if `span` is the length of the scale (4 for 1 to 5).

    judge, people: (units,), NaN if missing. span: in points.
    """
    first, second = _round_values(judge), _round_values(people)
    return np.asarray(np.minimum(((first - second) / span) ** 2, 1))


def at_cut(cut: float) -> Loss:
    """`other_side` with this cut, a point of the scale, as a loss of two arrays (units,)."""
    return partial(other_side, cut=cut)


@dataclass(frozen=True)
class Ceiling:
    """The disagreement between people by the same loss.

    risk: the mean loss of one person against the mean of the others, over `units`; None with a reason.
    """

    risk: float | None
    units: int
    reason: str | None = None


def human_ceiling(human: npt.ArrayLike, loss: Loss) -> Ceiling:
    """The loss of one more person instead of the judge: each against the mean of the others.

    human: (raters, units), NaN for a gap. The mean is over persons within a unit, then over units. You can
    hardly require less disagreement from a judge than people have among themselves. Undefined if no unit has
    two values.
    """
    table = np.asarray(human, dtype=float)
    several = (~np.isnan(table)).sum(axis=0) >= 2
    if not several.any():
        return Ceiling(None, 0, "No unit was rated by two people, so their agreement is unknown.")
    rated = table[:, several]
    others = [mean_values(np.delete(rated, rater, axis=0)) for rater in range(len(rated))]
    losses = np.stack([loss(own, mean) for own, mean in zip(rated, others, strict=True)])
    return Ceiling(float(mean_values(losses).mean()), int(several.sum()))


def _exceeds_limit(judge: npt.ArrayLike, people: npt.ArrayLike, limit: float) -> FloatArray:
    distance = np.abs(_round_values(judge) - _round_values(people))
    return np.where(np.isnan(distance), np.nan, np.round(distance, _DECIMALS) > limit)


def _round_values(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(np.round(np.asarray(values, dtype=float), _DECIMALS))
