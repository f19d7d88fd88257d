"""Every pair of raters, and every rater with the mean."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Resampling
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, ReliabilityData
from annotate.agreement.groups import within_documents
from annotate.agreement.measure import Measure
from annotate.agreement.streams import Randomness, substream

MEAN = "mean"


@dataclass(frozen=True)
class ComparedRaters:
    """A measure between two raters; `first` is "mean" where a rater is compared with the mean."""

    first: str
    second: str
    coefficient: Coefficient


def between_raters(
    data: ReliabilityData,
    measure: Measure,
    *,
    within: npt.ArrayLike | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """The measure for every pair of raters; averaged within documents where `within` gives them, (units,)."""
    compare = _comparison(data, measure, within, resampling)
    return tuple(
        ComparedRaters(
            data.raters[one],
            data.raters[other],
            compare(
                data.values[one],
                data.values[other],
                generator=substream(generator, data.raters[one], data.raters[other]),
            ),
        )
        for one, other in combinations(range(len(data.values)), 2)
    )


def with_mean(
    data: ReliabilityData,
    measure: Measure,
    *,
    within: npt.ArrayLike | None = None,
    of_others: bool = False,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """The measure between the mean of the raters and each rater; averaged within documents as above.

    The mean holds the rater's own values too, as in published tables, which raises a correlation; `of_others`
    takes them out.
    """
    compare = _comparison(data, measure, within, resampling)
    everyone = range(len(data.values))
    compared = []
    for rater in everyone:
        averaged = [other for other in everyone if not (of_others and other == rater)]
        drawn_with = substream(generator, MEAN, data.raters[rater])
        coefficient = compare(mean_values(data.values[averaged]), data.values[rater], generator=drawn_with)
        compared.append(ComparedRaters(MEAN, data.raters[rater], coefficient))
    return tuple(compared)


def mean_values(values: FloatArray) -> FloatArray:
    """(units,): the mean of the values (raters, units) that are there, NaN where there are none."""
    given = ~np.isnan(values)
    totals = np.sum(values, axis=0, where=given)
    means = np.full(values.shape[1], np.nan)
    np.divide(totals, given.sum(axis=0), out=means, where=given.any(axis=0))
    return means


def _comparison(
    data: ReliabilityData,
    measure: Measure,
    within: npt.ArrayLike | None,
    resampling: Resampling | None,
) -> Callable[..., Coefficient]:
    if within is None:
        return partial(measure, documents=data.documents, resampling=resampling)
    return partial(within_documents, measure, documents=within, resampling=resampling)
