"""A measure compares two arrays of values for the same units: two raters, a rater and the mean."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Resampling
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import MeasurementLevel, ReliabilityData, observed_domain
from annotate.agreement.estimate import Estimator, estimate
from annotate.agreement.patterns import Patterns, by_rater
from annotate.agreement.streams import Randomness


@dataclass(frozen=True)
class PairMeasure:
    """A coefficient of two arrays; call it with them."""

    estimator: Estimator

    def __call__(
        self,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        *,
        documents: npt.ArrayLike | None = None,
        generator: Randomness | None = None,
        resampling: Resampling | None = None,
    ) -> Coefficient:
        """The coefficient of two arrays (units,), NaN for a gap, over the units that have both values.

        With a generator also its interval, by units or, where `documents` (units,) are given, by documents.
        """
        return self.of(pair_data(first, second, documents), generator, resampling)

    def of(
        self,
        data: ReliabilityData,
        generator: Randomness | None = None,
        resampling: Resampling | None = None,
    ) -> Coefficient:
        """The coefficient of the values of two raters; with a generator also its interval."""
        return estimate(self.estimator, data, generator, resampling)


def units_with_both(data: ReliabilityData) -> Patterns:
    """The distinct pairs of values among units that have both."""
    return by_rater(data, least_ratings=2)


def pair_data(
    first: npt.ArrayLike, second: npt.ArrayLike, documents: npt.ArrayLike | None = None
) -> ReliabilityData:
    """Two arrays (units,) as the reliability data of two raters; ValueError where their shapes differ."""
    arrays = [np.asarray(first, dtype=float), np.asarray(second, dtype=float)]
    if arrays[0].ndim != 1 or arrays[0].shape != arrays[1].shape:
        raise ValueError(
            "Two lists of equal length are needed, "
            f"but their shapes are {arrays[0].shape} and {arrays[1].shape}."
        )
    table = np.stack(arrays)
    domain = observed_domain(table)
    return ReliabilityData(
        table,
        measurement_level=MeasurementLevel.INTERVAL,
        value_domain=domain if len(domain) else [0.0],
        documents=documents,
    )
