"""Values of raters, one by one, as the rating scale model takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RatedPoints:
    """Values one by one, by unit: (values,) rater, unit and point as indices; systems and documents of units.

    rater_indices: (raters,), those with values, as indices into all.
    """

    rater: IntArray
    unit: IntArray
    code: IntArray
    points: FloatArray
    systems: tuple[str, ...]
    system_of_unit: IntArray
    document_of_unit: IntArray
    rater_indices: IntArray

    @classmethod
    def of(
        cls, values: FloatArray, points: Sequence[float], systems: Sequence[str], documents: npt.NDArray[Any]
    ) -> "RatedPoints":
        """From values (raters, units), NaN for gaps; raters and units without any are left out."""
        kept = ~np.isnan(values).all(axis=0)
        raters = np.flatnonzero(~np.isnan(values).all(axis=1))
        table = values[raters][:, kept]
        unit, rater = np.nonzero(~np.isnan(table).T)
        names, of_unit = np.unique(np.asarray(systems)[kept], return_inverse=True)
        scale = np.array(sorted(points), dtype=float)
        return cls(
            rater,
            unit,
            np.searchsorted(scale, table[rater, unit]),
            scale,
            tuple(names.tolist()),
            of_unit,
            np.unique(documents[kept], return_inverse=True)[1],
            raters,
        )

    @property
    def number_of_documents(self) -> int:
        """How many documents have values."""
        return int(self.document_of_unit.max()) + 1

    def means_of_systems(self) -> FloatArray:
        """(systems,): the mean over a system's units of the mean over their raters."""
        sums = np.bincount(self.unit, self.points[self.code])
        means = sums / np.bincount(self.unit)
        return np.bincount(self.system_of_unit, means) / np.bincount(self.system_of_unit)
