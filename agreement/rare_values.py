"""An interval for alpha where nearly all values are the same, so that a sample may lack the rare ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import scipy

from agreement.bootstrap import Resampling, Statistic
from agreement.coefficient import Interval
from agreement.data import FloatArray, IntArray, ReliabilityData, UnitParts
from agreement.patterns import Patterns

LARGEST_MODAL_SHARE = 0.8
"""The share of one value above which intervals that only draw what is in the sample are too short."""
_BLOCK = 2**20  # numbers held at a time
_SHAPES_ADD_UP_TO = 1.0  # the addition counts as one unit


def modal_share(data: ReliabilityData) -> float:
    """The share of the most frequent value among the values of units with two values or more; 0 without
    any.
    """
    return data.once("modal share", lambda: float(modal_shares_of_parts(data, UnitParts.whole(data))[0]))


def modal_shares_of_parts(data: ReliabilityData, parts: UnitParts) -> FloatArray:
    """(parts,): `modal_share` of each part of the data."""
    gap = len(data.value_domain)
    codes = np.where(data.ratings_per_unit >= 2, data.codes, gap)[:, parts.units]
    counts = parts.counts(codes, gap + 1)[:, :-1]
    return np.asarray(counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1))


def smoothed_interval(
    patterns_of: Callable[[ReliabilityData], Patterns],
    statistic_of: Callable[[Patterns], Statistic],
    data: ReliabilityData,
    value: float,
    generator: np.random.Generator,
    resampling: Resampling,
    least_ratings: int = 2,
) -> Interval:
    """Quantiles of a coefficient under the Bayesian bootstrap with one unit more, spread over possibly
    missing values.

    Each unit (document) has a weight from an exponential distribution (Rubin 1981, Annals of Statistics 9,
    130-134). The unit more is divided evenly: for every used value but the most frequent, a unit on which all
    raters gave it and a unit on which one did and the others gave the most frequent one; their weights are
    gamma. So raters may agree on a rare value or not, independent of the sample. The sample's own `value` is
    always inside. Needs two used values. least_ratings: of the units that `patterns_of` uses.
    """
    added = _rare_units(data)
    patterns = patterns_of(replace(data, values=np.concatenate([data.values, added], axis=1), documents=None))
    number = added.shape[1]
    kinds = len(patterns.unit_counts)
    shapes = np.bincount(patterns.of_unit[-number:], minlength=kinds) * _SHAPES_ADD_UP_TO / number
    documents = None
    if resampling.by == "documents" and data.documents is not None:
        documents = data.documents[data.ratings_per_unit >= least_ratings]
    statistic = statistic_of(patterns)
    weights = _weights(patterns.of_unit[:-number], documents, shapes, generator, resampling.replicates)
    tail = (1 - resampling.confidence_level) / 2
    low, high = np.quantile(np.concatenate([statistic(each) for each in weights]), [tail, 1 - tail])
    return Interval(
        min(float(low), value),
        max(float(high), value),
        f"smoothed Bayesian bootstrap of {resampling.by}, as nearly all values are the same",
        resampling.confidence_level,
        replicates=resampling.replicates,
    )


def _rare_units(data: ReliabilityData) -> FloatArray:
    """(raters, added units): as many values in each as a unit usually has, gaps for the other raters."""
    rated = data.ratings_per_unit >= 2
    values = data.values[:, rated]
    used, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    modal = used[counts.argmax()]
    rare = used[used != modal]
    size = int(np.median(data.ratings_per_unit[rated]))
    added = np.full((len(values), 2 * len(rare)), np.nan)
    added[:size, : len(rare)] = rare
    added[:size, len(rare) :] = modal
    added[0, len(rare) :] = rare
    return added


def _weights(
    of_unit: IntArray,
    documents: IntArray | None,
    shapes: FloatArray,
    generator: np.random.Generator,
    replicates: int,
) -> Iterator[FloatArray]:
    """Yield blocks (replicates, patterns) of weights."""
    if documents is None:
        yield generator.standard_gamma(
            np.bincount(of_unit, minlength=len(shapes)) + shapes, size=(replicates, len(shapes))
        )
        return
    number = int(documents.max()) + 1
    counts = scipy.sparse.csr_array(
        (np.ones(len(of_unit)), (documents, of_unit)), shape=(number, len(shapes))
    )
    block = max(1, _BLOCK // max(number, len(shapes)))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        drawn = np.asarray((counts.T @ generator.standard_exponential((size, number)).T).T)
        yield drawn + generator.standard_gamma(shapes, size=drawn.shape)
