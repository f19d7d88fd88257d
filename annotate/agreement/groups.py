"""A measure within each document, averaged over the documents in which it is defined."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Resampling, Statistic, independent, resampled_interval
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, IntArray, ReliabilityData
from annotate.agreement.estimate import drawn_population
from annotate.agreement.measure import PairMeasure, pair_data
from annotate.agreement.streams import Randomness, substream

_BATCH = 512  # units computed at a time


def within_documents(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The mean over documents of a measure of two arrays (units,) within each; "summary-level" in papers.

    `documents` is (units,), any labels. Documents in which the measure is undefined are left out and counted
    (`counts.undefined_groups`). The interval resamples the documents with a value. Undefined where none has
    one.
    """
    return mean_within_documents(measure, pair_data(first, second, documents), generator, resampling)


def mean_within_documents(
    measure: PairMeasure,
    data: ReliabilityData,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`within_documents` of the values of two raters; undefined where it is in each document."""
    overall = measure.of(data)
    each = _values_of_documents(measure, data)
    values = each[~np.isnan(each)]
    result = replace(
        overall,
        name=f"{overall.name}_within_documents",
        label=f"{overall.label}, mean within documents",
        value=float(values.mean()) if len(values) else None,
        reason=None if len(values) else _why_undefined(overall, len(each)),
        counts=replace(overall.counts, groups=len(each), undefined_groups=len(each) - len(values)),
    )
    drawn_with = substream(generator, result.name)
    if drawn_with is None or not len(values):
        return result
    interval, interval_reason = resampled_interval(
        _mean_of(values),
        independent(len(values), "documents"),
        drawn_with,
        resampling or Resampling(by="documents"),
        measure.estimator.bounds,
    )
    return replace(result, interval=interval, interval_reason=interval_reason)


def _mean_of(values: FloatArray) -> Statistic:
    sums = np.stack([values, np.ones_like(values)], axis=1)

    def means(weights: FloatArray) -> FloatArray:
        totals, sizes = (weights @ sums).T
        return np.asarray(totals / sizes)

    return means


def values_within_documents(
    measure: PairMeasure, first: npt.ArrayLike, second: npt.ArrayLike, documents: npt.ArrayLike
) -> FloatArray:
    """(documents,): the measure within each document, in the order of their labels; NaN where undefined."""
    return _values_of_documents(measure, pair_data(first, second, documents))


def _values_of_documents(measure: PairMeasure, data: ReliabilityData) -> FloatArray:
    """A document is one weighting of the distinct pairs of values: many go through one matrix product."""
    if data.documents is None:
        raise ValueError("The document of each unit is needed.")
    values = np.full(int(data.documents.max(initial=-1)) + 1, np.nan)
    rated = np.flatnonzero(data.ratings_per_unit == 2)
    if not len(rated):
        return values
    # Where values hardly repeat, nearly each unit is a pattern, so that the weights of all documents together
    # would be nearly all 0: then some documents at a time.
    few = len(measure.estimator.patterns(data).unit_counts) <= _BATCH
    batches = [data] if few else map(data.of_units, _batches(rated, data.documents[rated]))
    each = [_values(measure, batch) for batch in batches]
    values[np.unique(data.documents[rated])] = np.concatenate(each)
    return values


def _values(measure: PairMeasure, data: ReliabilityData) -> FloatArray:
    patterns = measure.estimator.patterns(data)
    counts = drawn_population(data, patterns, "documents", least_ratings=2).pattern_counts
    assert counts is not None  # documents have patterns
    return measure.estimator.statistic(patterns)(
        counts if isinstance(counts, np.ndarray) else counts.toarray()
    )


def _batches(units: IntArray, documents: IntArray) -> Iterator[IntArray]:
    """The units of whole documents, about `_BATCH` at a time; documents: (units,), that of each."""
    order = np.argsort(documents, kind="stable")
    starts = np.flatnonzero(np.diff(documents[order], prepend=-1))
    start = 0
    for end in [*starts[1:], len(order)]:
        if end - start >= _BATCH or end == len(order):
            yield units[order[start:end]]
            start = end


def _why_undefined(overall: Coefficient, documents: int) -> str:
    if overall.reason is not None:
        return overall.reason
    return (
        f"{overall.label} is undefined within each of the {documents} documents: "
        "none has values that differ on both sides."
    )
