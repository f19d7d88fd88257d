"""Every pair of raters, and every rater with the mean."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, ReliabilityData, divide_where
from agreement.groups import mean_within_documents
from agreement.measures import PairMeasure, pair_data
from agreement.streams import Randomness, substream

MEAN = "mean"


@dataclass(frozen=True)
class ComparedRaters:
    """A measure between two raters; `first` is "mean" if a rater is compared with the mean."""

    first: str
    second: str
    coefficient: Coefficient


def between_raters(
    data: ReliabilityData,
    measure: PairMeasure,
    *,
    within: npt.ArrayLike | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """Return the measure for every pair of raters, in the order of `data.raters`.

    within: (units,), a document for each unit; each value is then the mean over documents, as of
    `within_documents`. An undefined value has its reason, as the measure alone.
    """
    grouped = _group_within(data, within)
    return tuple(
        _compare(
            measure,
            (data.raters[one], data.raters[other]),
            grouped.of_raters((one, other)),
            within is not None,
            generator,
            resampling,
        )
        for one, other in combinations(range(len(data.values)), 2)
    )


def with_mean(
    data: ReliabilityData,
    measure: PairMeasure,
    *,
    within: npt.ArrayLike | None = None,
    of_others: bool = False,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """The measure between the mean of the raters and each rater; within the documents of `within` (units,).

    The mean holds the rater's own values too, as in published tables, which raises a correlation; `of_others`
    takes them out.
    """
    grouped = _group_within(data, within)
    return tuple(
        _compare(
            measure,
            (MEAN, name),
            grouped.once(
                ("with mean", of_others, rater), partial(_pair_with_mean, grouped, rater, of_others)
            ),
            within is not None,
            generator,
            resampling,
        )
        for rater, name in enumerate(data.raters)
    )


def mean_values(values: FloatArray) -> FloatArray:
    """(units,): the mean of the available values (raters, units), NaN without any."""
    given = ~np.isnan(values)
    totals = np.sum(values, axis=0, where=given)
    return divide_where(given.any(axis=0), totals, given.sum(axis=0))


def _pair_with_mean(data: ReliabilityData, rater: int, of_others: bool) -> ReliabilityData:
    averaged = [other for other in range(len(data.values)) if not (of_others and other == rater)]
    return pair_data(mean_values(data.values[averaged]), data.values[rater], data.documents)


def _group_within(data: ReliabilityData, within: npt.ArrayLike | None) -> ReliabilityData:
    return data if within is None or within is data.documents else data.in_documents(within)


def _compare(
    measure: PairMeasure,
    raters: tuple[str, str],
    pair: ReliabilityData,
    within: bool,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> ComparedRaters:
    compare = partial(mean_within_documents, measure) if within else measure.of
    return ComparedRaters(*raters, compare(pair, substream(generator, *raters), resampling))
