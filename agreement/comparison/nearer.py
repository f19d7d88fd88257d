"""Which of two judges is nearer to people, document by document."""

import numpy as np

from agreement.comparison.scores import Scores
from agreement.data import FloatArray
from agreement.groups import means_by_group

_DECIMALS = 9  # distances that differ behind these differ by rounding


def nearness_by_document(first: Scores, second: Scores, *, is_named: bool = False) -> FloatArray:
    """(documents,): the share of items on which the first is nearer minus the share of the second, from -1 to
    1.

    Nearer is a smaller distance to the mean human score; equal distances count for neither. is_named: for
    names of categories the share is the share of an item's raters with the judge's value, first minus second.
    Documents are in the order of `document_labels`; NaN if none of their items has a value of both judges and
    of people. Raises ValueError for judges of different items.
    """
    if is_named:
        return _average_by_document(first, _accuracy(first) - _accuracy(_like(first, second)))
    distances = [
        np.round(np.abs(each.judge - each.human_means), _DECIMALS) for each in (first, _like(first, second))
    ]
    return _average_by_document(first, np.sign(distances[1] - distances[0]))


def error_difference_by_document(first: Scores, second: Scores) -> FloatArray:
    """(documents,): the mean squared error of the first minus the error of the second, against mean human
    scores.

    Against single raters instead of their mean the difference is the same. The order of documents is that in
    `nearness_by_document`.
    """
    one, other = ((each.judge - each.human_means) ** 2 for each in (first, _like(first, second)))
    return _average_by_document(first, one - other)


def _like(first: Scores, second: Scores) -> Scores:
    if len(first.judge) != len(second.judge):
        raise ValueError("Judges are compared on the same items.")
    return second


def _accuracy(scores: Scores) -> FloatArray:
    given = ~np.isnan(scores.human)
    equal = np.sum((scores.human == scores.judge) & given, axis=0)
    counts = given.sum(axis=0)
    known = (counts > 0) & ~np.isnan(scores.judge)
    return np.where(known, equal / np.maximum(counts, 1), np.nan)


def _average_by_document(scores: Scores, values: FloatArray) -> FloatArray:
    return np.asarray(means_by_group(values, scores.documents, len(scores.document_labels)), dtype=float)
