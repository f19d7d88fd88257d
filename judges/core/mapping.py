"""Mapping of a judge's own scale to the scale of a dimension."""

import numpy as np
import numpy.typing as npt

from judges.methods.scales import OwnScale, Scaled


def map_values(values: npt.ArrayLike, scale: OwnScale, dimension: Scaled) -> npt.NDArray[np.float64]:
    """Map values of a judge's own scale (any shape, NaN for a gap) to values of the dimension.

    The map is the line through the end points, or the scale's table with linear interpolation between its
    points. A value beyond the last point of a table takes that point's value.
    """
    return np.asarray(np.interp(np.asarray(values, dtype=float), *scale.corners(dimension)))


def nearest_point(value: float, scale: OwnScale, dimension: Scaled) -> int:
    """Return the point of an own scale nearest to a dimension's value; the lower one of two."""
    points = np.arange(scale.minimum, scale.maximum + 1)
    return int(points[np.argmin(np.abs(map_values(points, scale, dimension) - value))])
