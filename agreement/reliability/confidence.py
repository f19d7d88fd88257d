"""A judge's confidence in a unit, and its losses against people: what counts as an error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.streams import Randomness, generator_of

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
    table = np.asarray(samples, dtype=float)
    given = ~np.isnan(table)
    number = np.maximum(given.sum(axis=1), 1)
    means = np.sum(table, axis=1, where=given) / number
    squares = np.sum((table - means[:, None]) ** 2, axis=1, where=given)
    return np.where(given.sum(axis=1) >= 2, _tidy(-np.sqrt(squares / number)), np.nan)


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
    scales = np.where(scales > 0, scales, 1.0)
    standardised = (table - centres) / scales
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
    return np.where(np.isnan(distance), np.nan, np.round(distance, _DECIMALS) > limit)


def _round_values(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(np.round(np.asarray(values, dtype=float), _DECIMALS))
