"""Values of judges with a scale of their own, as values of a dimension."""

import numpy as np
import numpy.typing as npt

from judges.methods.own_scale import OwnScale, Scaled


def map_values(values: npt.ArrayLike, scale: OwnScale, dimension: Scaled) -> npt.NDArray[np.float64]:
    """Return values of a judge's own scale (any shape, NaN for a gap) as values of the dimension.

    By a line through the ends, or by the scale's table, between whose points lines are drawn; a value beyond
    the last point of a table has that point's value.
    """
    return np.asarray(np.interp(np.asarray(values, dtype=float), *scale.corners(dimension)))


def nearest_point(value: float, scale: OwnScale, dimension: Scaled) -> int:
    """Return the point of an own scale that is nearest to a dimension's value; of two the lower."""
    points = np.arange(scale.minimum, scale.maximum + 1)
    return int(points[np.argmin(np.abs(map_values(points, scale, dimension) - value))])
