"""Values of judges: mapped from an own scale to a dimension, and the probability of an answer."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from judges.methods.scales import OwnScale, Scaled

LogProbabilities = Mapping[str, float] | None
"""As `Judgment.log_probabilities` has them."""


def map_values(values: npt.ArrayLike, scale: OwnScale, dimension: Scaled) -> npt.NDArray[np.float64]:
    """Map values of a judge's own scale (any shape, NaN for a gap) to values of the dimension.

    The map is the line through the end points, or the scale's table with linear interpolation between its
    points. A value beyond the last point of a table takes that point's value.
    """
    # `interp` passes NaN on, and gives values beyond the last corner that corner's value.
    return np.asarray(np.interp(np.asarray(values, dtype=float), *scale.corners(dimension)))


def nearest_point(value: float, scale: OwnScale, dimension: Scaled) -> int:
    """Return the point of an own scale nearest to a dimension's value; the lower one of two."""
    # `argmin` returns the first of equal distances, which is the lower point.
    points = np.arange(scale.minimum, scale.maximum + 1)
    return int(points[np.argmin(np.abs(map_values(points, scale, dimension) - value))])


def chosen_probabilities(rows: Iterable[LogProbabilities]) -> npt.NDArray[np.float64]:
    """Return the probability of each row's likeliest answer at the token of the answer; NaN if unknown.

    It is the model's probability, not a share among the answers of the scale. So it is low, too, if the model
    was likely to write something else.
    """
    # Not 0: a judgment without probabilities is unknown, not unlikely.
    likeliest = [max(found.values()) if found else math.nan for found in rows]
    return np.exp(np.array(likeliest, dtype=np.float64))
