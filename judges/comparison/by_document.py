"""Figures of people and a judge as statistics of weighted documents."""

import numpy as np

from annotate.agreement import PairMeasure, values_within_documents
from annotate.agreement.bootstrap import Statistic, add_up_groups, population
from annotate.agreement.data import FloatArray, IntArray
from annotate.agreement.measure import pair_data
from annotate.agreement.patterns import Patterns
from judges.comparison.correlations import Level


def weigh_documents(patterns: Patterns, statistic: Statistic, documents: IntArray) -> Statistic:
    """From a statistic of weighted patterns to one of weighted documents.

    documents: (units,), of the units that have patterns, numbered from 0 without gaps.
    """
    of_groups, drawn = add_up_groups(statistic, population(patterns, documents, "documents"))
    return lambda weights: of_groups(drawn.weights(weights))


def correlation_statistic(
    measure: PairMeasure, level: Level, human: FloatArray, judge: FloatArray, documents: IntArray
) -> Statistic:
    """The measure of two arrays (items,) without gaps, over all items or as the mean within documents.

    documents: (items,), numbered from 0 without gaps. Documents in which it is undefined are left out.
    Raises ValueError for the level of systems, which are no documents.
    """
    if level is Level.SYSTEM:
        raise ValueError("Systems are not weighted by documents.")
    if level is Level.DATASET:
        patterns = measure.estimator.patterns(pair_data(human, judge))
        return weigh_documents(patterns, measure.estimator.statistic(patterns), documents)
    values = values_within_documents(measure, human, judge, documents)
    return mean_of_documents(values)


def mean_of_documents(values: FloatArray) -> Statistic:
    """The mean of values (documents,) over the documents that have one; NaN where none of those drawn has."""
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)

    def means(weights: FloatArray) -> FloatArray:
        total = weights @ known
        found = np.full(len(weights), np.nan)
        np.divide(weights @ filled, total, out=found, where=total > 0)
        return found

    return means
