"""A judge's confidence in a unit, and its losses against people: what counts as an error.

The controls are values from the system or the length of an output alone, fitted on other documents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray, divide_where
from agreement.groups import mean_values
from agreement.streams import Randomness, generator_of
from agreement.summary import deviations_within_units

_DECIMALS = 9


def closeness(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """-|RTS - MCQ| of each unit (units,); NaN if a value is missing; such a unit is never accepted.

    Source: the item-level form of R in Shen and others 2023.
    """
    one, other = (np.asarray(each, dtype=float) for each in (first, second))
    return _tidy(-np.abs(one - other))


def steadiness(samples: npt.ArrayLike) -> FloatArray:
    """-(standard deviation over samples) of each unit; (units, samples), NaN for a gap, divisor n.

    NaN if a unit has fewer than two samples.
    """
    return _tidy(-deviations_within_units(np.asarray(samples, dtype=float).T))


def largest_probability(probabilities: npt.ArrayLike) -> FloatArray:
    """The largest option probability of each unit; (units, options).

    Source: Jung, Brahman and Choi 2025, section 2.
    """
    return np.asarray(np.asarray(probabilities, dtype=float).max(axis=1))


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """A ridge regression of the loss on features; `expected_loss` is its prediction, unbounded."""

    intercept: float
    slopes: FloatArray
    centres: FloatArray
    scales: FloatArray

    def expected_loss(self, features: npt.ArrayLike) -> FloatArray:
        """(units,): the loss expected of each unit from its features (units, features)."""
        table = _features(features)
        return np.asarray(self.intercept + (table - self.centres) / self.scales @ self.slopes)

    def confidence(self, features: npt.ArrayLike) -> FloatArray:
        """(units,): minus the expected loss."""
        return _tidy(-self.expected_loss(features))


def fit_error_model(features: npt.ArrayLike, losses: npt.ArrayLike, *, penalty: float = 1) -> ErrorModel:
    """Ridge regression of losses (rated,) on standardised features (rated, features).

    Minimises sum (loss - a - b z)^2 + penalty b^2. The caller chooses the features: distances, R of the
    system, the output's length. Units without a loss or with a gap in their features are excluded. A
    certificate needs a confidence that was fixed before calibration, so fit on ratings that do not calibrate.
    Raises ValueError with fewer than two usable units. Source: Hoerl and Kennard 1970.
    """
    table, target = _features(features), np.asarray(losses, dtype=float)
    usable = ~np.isnan(target) & ~np.isnan(table).any(axis=1)
    if usable.sum() < 2:
        raise ValueError("An error model needs two rated units or more with all features.")
    table, target = table[usable], target[usable]
    centres, scales = table.mean(axis=0), table.std(axis=0)
    # A constant feature gets the slope 0; a divisor of 0 would make it NaN.
    scales = np.where(scales > 0, scales, 1.0)
    standardised = (table - centres) / scales
    # (Z'Z + penalty I) b = Z'(y - mean y): the penalty does not shrink the intercept.
    gram = standardised.T @ standardised + penalty * np.eye(table.shape[1])
    slopes = np.linalg.solve(gram, standardised.T @ (target - target.mean()))
    return ErrorModel(float(target.mean()), slopes, centres, scales)


def cross_fitted_loss(
    features: npt.ArrayLike,
    losses: npt.ArrayLike,
    folds: Sequence[int] | npt.NDArray[np.integer],
    *,
    penalty: float = 1,
) -> FloatArray:
    """(units,): the loss expected of each unit by a model that has not seen its fold.

    folds: (units,), any small numbers; give every unit of a batch one, rated or not (from `fold_numbers`),
    and keep whole documents in one fold if items share one. For active sampling, and for an unbiased
    comparison of a model with closeness as a predictor of errors. A certificate over it is not exact, since
    the ratings of one fold shape the confidences of the others: see `fit_error_model`. Source: Zrnic and
    Candes 2024, Cross-prediction-powered inference.
    """
    table, target, fold = _features(features), np.asarray(losses, dtype=float), np.asarray(folds)
    expected = np.full(len(table), np.nan)
    for number in np.unique(fold):
        own = fold == number
        model = fit_error_model(table[~own], target[~own], penalty=penalty)
        expected[own] = model.expected_loss(table[own])
    return expected


def fold_numbers(units: int, folds: int, generator: Randomness) -> npt.NDArray[np.intp]:
    """(units,): a fold 0 to folds - 1 for each unit, at random and equally often up to one.

    ValueError for fewer than two folds.
    """
    if folds < 2:
        raise ValueError("Cross-fitting needs two folds or more.")
    return np.asarray(generator_of(generator, "folds").permutation(np.arange(units) % folds), dtype=np.intp)


def _features(features: npt.ArrayLike) -> FloatArray:
    table = np.asarray(features, dtype=float)
    return table[:, None] if table.ndim == 1 else table


def _tidy(values: FloatArray) -> FloatArray:
    """Without the rounding of a computer, so that equal confidences fall on the same side of a threshold."""
    # The sum with 0.0 turns -0.0, which a negated distance of 0 is, into 0.0.
    return np.asarray(np.round(values, _DECIMALS) + 0.0)


Loss = Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]
"""From the judge's values and the people's (units,) to losses between 0 and 1, NaN where one is missing."""


def another_point(judge: npt.ArrayLike, people: npt.ArrayLike, *, step: float = 1) -> FloatArray:
    """1 if the judge's value is not the point nearest to the people's, 0 otherwise, NaN without both.

    judge, people: (units,), NaN if missing, as for the other losses. |f - h| > step / 2, so that a mean
    halfway between two points is matched by either. `step`: the distance between points of the scale.
    """
    return _exceeds_limit(judge, people, step / 2)


def more_than_one_point(judge: npt.ArrayLike, people: npt.ArrayLike, *, step: float = 1) -> FloatArray:
    """1 where the judge is more than one point away from the people: |f - h| > step; NaN without both.

    judge, people, step: as of `another_point`.
    """
    return _exceeds_limit(judge, people, step)


def other_side(judge: npt.ArrayLike, people: npt.ArrayLike, *, cut: float) -> FloatArray:
    """1 if only one of the two is at or above the cut ("good enough"); NaN without both.

    judge, people: (units,), NaN if missing. cut: a point of the scale.
    """
    first, second = _round_values(judge), _round_values(people)
    differs = (first >= cut) != (second >= cut)
    return np.where(np.isnan(first) | np.isnan(second), np.nan, differs)


def squared_distance(judge: npt.ArrayLike, people: npt.ArrayLike, *, span: float) -> FloatArray:
    """((f - h) / span)^2, between 0 and 1 if `span` is the length of the scale (4 for 1 to 5).

    judge, people: (units,), NaN if missing. span: in points.
    """
    first, second = _round_values(judge), _round_values(people)
    return np.asarray(np.minimum(((first - second) / span) ** 2, 1))


def at_cut(cut: float) -> Loss:
    """`other_side` with this cut, a point of the scale, as a loss of two arrays (units,)."""
    return partial(other_side, cut=cut)


@dataclass(frozen=True)
class Ceiling:
    """The disagreement between people by the same loss.

    risk: the mean loss of one person against the mean of the others, over `units`; None with a reason.
    """

    risk: float | None
    units: int
    reason: str | None = None


def human_ceiling(human: npt.ArrayLike, loss: Loss) -> Ceiling:
    """The loss of one more person instead of the judge: each against the mean of the others.

    human: (raters, units), NaN for a gap. The mean is over persons within a unit, then over units. You can
    hardly require less disagreement from a judge than people have among themselves. Undefined if no unit has
    two values.
    """
    table = np.asarray(human, dtype=float)
    several = (~np.isnan(table)).sum(axis=0) >= 2
    if not several.any():
        return Ceiling(None, 0, "No unit was rated by two people, so their agreement is unknown.")
    rated = table[:, several]
    others = [mean_values(np.delete(rated, rater, axis=0)) for rater in range(len(rated))]
    losses = np.stack([loss(own, mean) for own, mean in zip(rated, others, strict=True)])
    return Ceiling(float(mean_values(losses).mean()), int(several.sum()))


def _exceeds_limit(judge: npt.ArrayLike, people: npt.ArrayLike, limit: float) -> FloatArray:
    distance = np.abs(_round_values(judge) - _round_values(people))
    # A distance that exceeds the limit by rounding alone is no error.
    return np.where(np.isnan(distance), np.nan, np.round(distance, _DECIMALS) > limit)


def _round_values(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(np.round(np.asarray(values, dtype=float), _DECIMALS))


Score = Callable[[float], FloatArray]
"""From a point of the scale to how good it is on each unit (units,), larger is better, NaN where unknown."""

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
        # A larger score is better, so errors are negative.
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
    nearest = points[np.abs(fitted[:, None] - points).argmin(axis=1)]
    # argmin finds a position also for a unit without a fit.
    nearest = np.where(np.isnan(fitted), np.nan, nearest)
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
    # Folds consist of whole documents; with a single one there is nothing to fit on.
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
    # isotonic_regression and np.interp both need values in the order of the predictor.
    order = np.argsort(predictor, kind="stable")
    for fold in np.unique(folds):
        others = order[(folds[order] != fold) & ~np.isnan(values[order])]
        if not len(others):
            continue
        target = values[others]
        # A longer output may be better or worse, so both directions are fitted.
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
    # One index for each pair of a group and a document.
    cells = groups * (int(documents.max()) + 1) + documents

    def elsewhere(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Sums without the unit's own document: over its group, and over all groups.
        in_group = np.bincount(groups, numbers)[groups] - np.bincount(cells, numbers)[cells]
        return in_group, numbers.sum() - np.bincount(documents, numbers)[documents]

    (total, of_all), (size, _) = elsewhere(np.where(given, values, 0.0)), elsewhere(given.astype(float))
    # Sums in another order differ behind these decimals.
    return np.asarray(np.round(np.where(size > 0, total, of_all), _DECIMALS), dtype=float)
