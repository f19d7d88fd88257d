"""Values from the system or the length of an output alone, fitted on other documents."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from agreement.data import FloatArray, IntArray, divide_where
from agreement.groups import mean_values
from agreement.reliability.confidence import fold_numbers
from agreement.streams import Randomness

Score = Callable[[float], FloatArray]
"""From a point of the scale to how good it is on each unit (units,), larger is better, NaN where unknown."""

_DECIMALS = 9
_FOLDS = 10
_GROUPS_OF_LENGTHS = 10


def values_by_group(
    human: FloatArray, scores: Sequence[Score], groups: IntArray, documents: IntArray
) -> list[FloatArray]:
    """Values (units,) of each rule that gives a group one value, fitted on the other documents.

    human: (raters, units). groups, documents: (units,), indices from 0. The rules are the best point by each
    score, the points with the least squared and the least absolute error, and the mean. With few documents
    any of them can be the strongest. A group without other documents uses the best value over all their
    units.
    """
    points, means = np.unique(human[~np.isnan(human)]), mean_values(human)
    rules: list[Score] = [
        *scores,
        lambda point: -((point - means) ** 2),
        lambda point: -mean_values(np.abs(point - human)),
    ]
    found = [_best_points(points, rule, groups, documents) for rule in rules]
    return [*found, means_elsewhere(means, groups, documents)]


def means_elsewhere(values: FloatArray, groups: IntArray, documents: IntArray) -> FloatArray:
    """(units,): the mean of the group's values (units,) in the other documents, as `values_by_group`."""
    total = _total_elsewhere(values, groups, documents)
    number = _total_elsewhere(np.where(np.isnan(values), np.nan, 1.0), groups, documents)
    return divide_where(number > 0, total, number)


def values_by_length(
    human: FloatArray,
    scores: Sequence[Score],
    lengths: FloatArray,
    documents: IntArray,
    generator: Randomness,
) -> list[FloatArray]:
    """Values (units,) of each rule that uses the length of an output alone, fitted on the other documents.

    lengths: (units,). Isotonic regression of people's means gives two, exact and at the nearest point. The
    others are the rules of `values_by_group` for ten groups by length.
    """
    points = np.unique(human[~np.isnan(human)])
    fitted = _fit_to_lengths(mean_values(human), lengths, documents, generator)
    nearest = points[np.abs(np.nan_to_num(fitted)[:, None] - points).argmin(axis=1)]
    return [fitted, nearest, *values_by_group(human, scores, _groups_of_lengths(lengths), documents)]


def means_by_length(
    values: FloatArray, lengths: FloatArray, documents: IntArray, generator: Randomness
) -> list[FloatArray]:
    """Two fits (units,) of values (units,) to lengths: isotonic, and means of ten groups of lengths."""
    fitted = _fit_to_lengths(values, lengths, documents, generator)
    return [fitted, means_elsewhere(values, _groups_of_lengths(lengths), documents)]


def _fit_to_lengths(
    values: FloatArray, lengths: FloatArray, documents: IntArray, generator: Randomness
) -> FloatArray:
    number = int(documents.max()) + 1
    folds = fold_numbers(number, min(_FOLDS, number), generator)[documents] if number > 1 else documents
    return monotone_fit(values, lengths, folds)


def _groups_of_lengths(lengths: FloatArray) -> IntArray:
    cuts = np.quantile(lengths, np.arange(1, _GROUPS_OF_LENGTHS) / _GROUPS_OF_LENGTHS)
    return np.searchsorted(cuts, lengths)


def monotone_fit(values: FloatArray, predictor: FloatArray, folds: IntArray) -> FloatArray:
    """(units,): the value that isotonic regression on the predictor gives, fitted on the other folds.

    values: (units,), NaN if missing. predictor: (units,). folds: (units,), each document in one fold. The
    same folds decide by least squares whether the value rises or falls. Between two predictors the fit is
    linear. NaN if the other folds have no value. Source: Barlow, Bartholomew, Bremner and Brunk 1972,
    Statistical Inference under Order Restrictions.
    """
    fitted = np.full(len(values), np.nan)
    order = np.argsort(predictor, kind="stable")
    for fold in np.unique(folds):
        others = order[(folds[order] != fold) & ~np.isnan(values[order])]
        if not len(others):
            continue
        target = values[others]
        fits = [scipy.optimize.isotonic_regression(target, increasing=rises).x for rises in (True, False)]
        best = min(fits, key=lambda fit: float(np.sum((fit - target) ** 2)))
        own = folds == fold
        fitted[own] = np.interp(predictor[own], predictor[others], best)
    return fitted


def _best_points(points: FloatArray, score: Score, groups: IntArray, documents: IntArray) -> FloatArray:
    """(units,): the point with the largest total of its group elsewhere, the first of equally good ones."""
    best, chosen = np.full(len(groups), -np.inf), np.full(len(groups), np.nan)
    for point in points:
        total = _total_elsewhere(score(float(point)), groups, documents)
        chosen[total > best] = point
        best = np.maximum(best, total)
    return chosen


def _total_elsewhere(values: FloatArray, groups: IntArray, documents: IntArray) -> FloatArray:
    """(units,): the sum over the group's units in other documents; over all units there if it has none."""
    given = ~np.isnan(values)
    cells = groups * (int(documents.max()) + 1) + documents

    def elsewhere(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
        in_group = np.bincount(groups, numbers)[groups] - np.bincount(cells, numbers)[cells]
        return in_group, numbers.sum() - np.bincount(documents, numbers)[documents]

    (total, of_all), (size, _) = elsewhere(np.where(given, values, 0.0)), elsewhere(given.astype(float))
    # Sums in another order differ behind these decimals.
    return np.asarray(np.round(np.where(size > 0, total, of_all), _DECIMALS), dtype=float)
