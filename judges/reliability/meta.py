"""The meta-correlation M with an interval over documents."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotate.agreement import Coefficient, PairMeasure, Resampling
from annotate.agreement.bootstrap import Statistic, count_patterns, independent, resampled_interval
from annotate.agreement.correlation import correlations_of_rows
from annotate.agreement.data import FloatArray, IntArray, ReliabilityData
from annotate.agreement.streams import Randomness, substream
from judges.comparison import Scores


def with_interval_of_documents(
    found: Coefficient,
    scores: Scores,
    measure: PairMeasure,
    generator: Randomness,
    resampling: Resampling | None = None,
) -> Coefficient:
    """M of `judges.comparison.meta_correlation` with the interval over resampled documents.

    In each resample every P_i and Q_i is computed anew over the drawn documents, the same for all systems,
    and M from them; a system whose P_i is then undefined is left out of it. So the interval is about other
    documents for these systems, not about other systems. Source: Efron and Tibshirani 1993, chapter 13.
    """
    if not found.defined:
        return found
    plan = replace(resampling or Resampling(), by="documents")
    used = ~np.isnan(scores.human_means)
    numbers = np.unique(scores.documents[used], return_inverse=True)[1]
    interval, reason = resampled_interval(
        _statistic(scores.of_items(used), numbers, measure),
        independent(int(numbers.max()) + 1, "documents"),
        substream(generator, found.name, "over documents"),
        plan,
        measure.estimator.bounds,
    )
    return replace(found, interval=interval, interval_reason=reason)


_DECIMALS = 10  # numbers that differ behind these are ties


@dataclass(frozen=True, eq=False)
class _System:
    """P_i as a statistic of weights of patterns, and what weights of documents are multiplied by.

    patterns: (documents, patterns), items with both values. quality: (documents,), the sum of mean human
    scores; rated: (documents,), how many items have one.
    """

    correlation: Statistic
    patterns: "FloatArray | scipy.sparse.csr_array"  # in quotes, as it would load 14 MB
    quality: FloatArray
    rated: FloatArray


def _statistic(scores: Scores, documents: IntArray, measure: PairMeasure) -> Statistic:
    """From weights (replicates, documents) to M (replicates,); every item has a mean human score."""
    pairs, number = scores.pairs_of_systems(scores.human_means, scores.as_read), int(documents.max()) + 1
    systems = [
        _system(of_system, documents[items], scores.human_means[items], number, measure)
        for items, of_system in zip(scores.items_of_systems, pairs, strict=True)
    ]

    def meta_correlations(weights: FloatArray) -> FloatArray:
        sides = np.full((2, len(weights), len(systems)), np.nan)
        for index, system in enumerate(systems):
            drawn = np.asarray((system.patterns.T @ weights.T).T)
            sides[0, :, index] = system.correlation(drawn)
            rated = weights @ system.rated
            np.divide(weights @ system.quality, rated, out=sides[1, :, index], where=rated > 0)
        return correlations_of_rows(measure, *np.round(sides, _DECIMALS))

    return meta_correlations


def _system(
    pairs: ReliabilityData, documents: IntArray, quality: FloatArray, number: int, measure: PairMeasure
) -> _System:
    patterns = measure.estimator.patterns(pairs)
    both = pairs.ratings_per_unit == 2
    return _System(
        correlation=measure.estimator.statistic(patterns),
        patterns=count_patterns(documents[both], number, patterns),
        quality=np.bincount(documents, quality, number).astype(float),
        rated=np.bincount(documents, minlength=number).astype(float),
    )
