"""A measure within each document, averaged over the documents in which it is defined."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Resampling, independent, population, resampled_interval
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, IntArray, ReliabilityData
from annotate.agreement.measure import Measure, pair_data
from annotate.agreement.streams import Randomness, substream

_BATCH = 512  # units computed at a time


def within_documents(
    measure: Measure,
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
    overall = measure(first, second)
    each = values_within_documents(measure, first, second, documents)
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
        lambda weights: weights @ values / weights.sum(axis=1),
        independent(len(values), "documents"),
        drawn_with,
        resampling or Resampling(by="documents"),
        measure.estimator.bounds,
    )
    return replace(result, interval=interval, interval_reason=interval_reason)


def values_within_documents(
    measure: Measure, first: npt.ArrayLike, second: npt.ArrayLike, documents: npt.ArrayLike
) -> FloatArray:
    """(documents,): the measure within each document, in the order of their labels; NaN where undefined.

    A document is one weighting of the distinct pairs of values, so that many go through one matrix product.
    """
    data = pair_data(first, second, documents)
    if data.documents is None:
        raise ValueError("The document of each unit is needed.")
    number = int(data.documents.max(initial=-1)) + 1
    values = np.full(number, np.nan)
    for units in _batches(data.documents):
        batch = data.of_units(units)
        rated = batch.ratings_per_unit == 2
        if rated.any():
            documents_of_batch = data.documents[units][rated]
            values[np.unique(documents_of_batch)] = _values(measure, batch, documents_of_batch)
    return values


def _values(measure: Measure, batch: ReliabilityData, documents: IntArray) -> FloatArray:
    patterns = measure.estimator.patterns(batch)
    counts = population(patterns, documents, "documents").pattern_counts
    assert counts is not None  # documents have patterns
    return measure.estimator.statistic(patterns)(counts.toarray())


def _batches(documents: IntArray) -> Iterator[IntArray]:
    """Units of whole documents, about `_BATCH` at a time."""
    order = np.argsort(documents, kind="stable")
    starts = np.flatnonzero(np.diff(documents[order], prepend=-1))
    start = 0
    for end in [*starts[1:], len(order)]:
        if end - start >= _BATCH or end == len(order):
            yield order[start:end]
            start = end


def _why_undefined(overall: Coefficient, documents: int) -> str:
    if overall.reason is not None:
        return overall.reason
    return (
        f"{overall.label} is undefined within each of the {documents} documents: "
        "none has values that differ on both sides."
    )
