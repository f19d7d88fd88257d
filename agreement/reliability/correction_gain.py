"""The number of human ratings that a judge saves when its scores correct the means of systems.

People's scores have two slopes on a judge's: between documents, and between the outputs of a document. A
judge may know which documents are hard without knowing which system is better on one, or the reverse. Both
slopes are pooled over systems and never below 0: a judge that contradicts people is not used in reverse.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.comparison.scores import numbers
from agreement.data import FloatArray, divide_where
from agreement.reliability.estimates import NO_JUDGE, check_level
from agreement.student import t_reach

_NOT_SINGULAR = 1e-9  # a smaller determinant, as a share of its diagonal, has no inverse
PARTS = 2
"""The judge's mean on a document, and the rest of its score of a text."""


@dataclass(frozen=True, eq=False)
class CenteredScores:
    """Scores of the rated outputs as deviations from the means of their systems.

    people: (documents, systems), 0 without a score of people. judge: (2, documents, systems), its two parts,
    0 in the same cells. rated: (documents, systems), 1 if people gave a score. `texts`: (documents, systems),
    1 for every output. parts: (2, documents, systems), the judge's parts of all outputs, 0 without an output.
    """

    people: FloatArray
    judge: FloatArray
    rated: FloatArray
    texts: FloatArray
    parts: FloatArray

    @property
    def ratings(self) -> FloatArray:
        """(systems,): the number of rated outputs."""
        return np.asarray(self.rated.sum(axis=0))


def center_scores(people: FloatArray, judge: FloatArray) -> CenteredScores:
    """Center people's and the judge's scores (documents, systems), NaN for gaps, by system.

    An output counts if either has scored it. An output without a judge's score gets the judge's mean of its
    system.
    """
    texts = ~np.isnan(people) | ~np.isnan(judge)
    own = judge - _column_means(judge)
    # An output without a judge's score gets the judge's mean of its system, a deviation of 0.
    own = np.where(np.isnan(own), 0.0, own)
    of_document = divide_where(texts.any(axis=1), own.sum(axis=1), texts.sum(axis=1))
    of_document = np.where(np.isnan(of_document), 0.0, of_document)[:, None]
    # The first part is the same for all outputs of a document; the second sums to 0 within it.
    parts = np.where(texts, np.stack([np.broadcast_to(of_document, own.shape), own - of_document]), 0.0)
    rated = ~np.isnan(people)
    centered = np.where(rated, people - _column_means(people), 0.0)
    given = rated.astype(float)
    # Slopes are fitted to rated outputs alone, so the means of these are subtracted.
    means = divide_where(given.any(axis=0), (parts * given).sum(axis=1), given.sum(axis=0))
    inside = np.where(rated, parts - means[:, None], 0.0)
    return CenteredScores(centered, inside, given, texts.astype(float), parts)


def fit_slopes(scores: CenteredScores) -> FloatArray:
    """(2,): the least-squares slopes of people's deviations on both parts of the judge's, each 0 or more."""
    products, targets = _sums_by_document(scores)
    # One equation with a leading axis, as solve_slopes takes many at once.
    slopes = solve_slopes(products.sum(axis=0)[None], targets.sum(axis=0)[None])
    return np.asarray(slopes[0])


def fit_slopes_elsewhere(scores: CenteredScores) -> FloatArray:
    """(documents, 2): the slopes without each document in turn, with the means of the other documents.

    Leaving x of n values out takes n / (n - 1) (x - mean) (z - mean) from the sum of products about means.
    """
    products, targets = _sums_by_document(scores)
    factor = divide_where(scores.ratings > 1, scores.ratings, scores.ratings - 1)
    # The root, since weights multiply both factors of each product.
    weights = np.sqrt(np.where(np.isnan(factor), 0.0, factor))
    lost_products, lost_targets = _sums_by_document(scores, weights)
    return solve_slopes(products.sum(axis=0) - lost_products, targets.sum(axis=0) - lost_targets)


def judge_gaps(scores: CenteredScores) -> FloatArray:
    """(2, systems): the mean of the judge's parts over all outputs minus their mean over the rated ones."""
    every = scores.parts.sum(axis=1) / scores.texts.sum(axis=0)
    return np.asarray(every - (scores.parts * scores.rated).sum(axis=1) / scores.ratings)


def solve_slopes(products: FloatArray, targets: FloatArray) -> FloatArray:
    """(n, 2): least-squares slopes of 0 or more from sums of products (n, 2, 2) and targets (n, 2).

    If a slope would be below 0, the other is fitted alone; a part without variation has the slope 0.
    """
    # The three different elements of each symmetric matrix.
    (first, cross), second = products[:, 0].T, products[:, 1, 1]
    determinant = first * second - cross**2
    regular = determinant > _NOT_SINGULAR * np.maximum(first * second, _NOT_SINGULAR)
    safe = np.where(regular, determinant, 1.0)
    # Cramer's rule for both slopes.
    both = np.stack(
        [
            (second * targets[:, 0] - cross * targets[:, 1]) / safe,
            (first * targets[:, 1] - cross * targets[:, 0]) / safe,
        ],
        axis=1,
    )
    spread = np.stack([first, second], axis=1)
    alone = np.where(spread > _NOT_SINGULAR, targets / np.where(spread > _NOT_SINGULAR, spread, 1.0), 0.0)
    alone = np.maximum(alone, 0.0)
    # Of the two fits with one part, the one that explains more of people's deviations.
    better = (alone * targets).argmax(axis=1)
    single = np.where(np.arange(PARTS) == better[:, None], alone, 0.0)
    inside = regular & (both >= 0).all(axis=1)
    return np.where(inside[:, None], both, single)


def _sums_by_document(
    scores: CenteredScores, weights: FloatArray | float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return (documents, 2, 2) products of the judge's parts and (documents, 2) products with people's.

    weights: (systems,), by which deviations are multiplied.
    """
    judge, people = scores.judge * weights, scores.people * weights
    return np.einsum("pds,qds->dpq", judge, judge), np.einsum("pds,ds->dp", judge, people)


def _column_means(values: FloatArray) -> FloatArray:
    given = ~np.isnan(values)
    return divide_where(given.any(axis=0), np.nansum(values, axis=0), given.sum(axis=0))


LEAST_FOR_GAIN = 5
"""Rated documents, observed and supposed; slopes from fewer vary too much."""
_LEAST_OF_SYSTEM = 3
_TINY = 1e-12


@dataclass(frozen=True)
class Gain:
    """Variance with people alone divided by variance with the judge's help, of the same ratings.

    value: 1.25 means that people alone need 1.25 times as many ratings for the same precision; below 1 the
    judge makes it worse. low, high: None with value None, or if nothing varies between documents.
    """

    value: float
    low: float | None
    high: float | None

    @property
    def saving(self) -> float:
        """The share of ratings that the judge saves: 1 - 1 / value, below 0 if it costs precision."""
        return 1 - 1 / self.value

    @property
    def saving_interval(self) -> tuple[float, float] | None:
        """The interval of the saving; None without the interval of the gain."""
        return None if self.low is None or self.high is None else (1 - 1 / self.low, 1 - 1 / self.high)


@dataclass(frozen=True)
class CorrectionGain:
    """The saving by a judge on one dimension, on average over systems; None with a reason.

    means: of the systems' means. differences: of the differences of all pairs; None for one system. share:
    the share of the documents that people rate. documents: the rated documents it rests on.
    """

    means: Gain | None
    differences: Gain | None
    share: float | None
    documents: int
    reason: str = ""


def correction_gain(
    people: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    share: float | None = None,
    confidence_level: float = 0.95,
) -> CorrectionGain:
    """The gain of correcting people's means of systems by a judge, from people's scores of some documents.

    people: (documents, systems), the mean over raters, NaN for an output without ratings. judge: (documents,
    systems), NaN for a gap. share: the share of the documents that people would rate; by default the share
    that they rated. With fully rated data, you can thus see the saving if people rated a fifth (share=.2), or
    5 documents if that is more. A system has N outputs, n of them rated; s^2 is the variance of people's
    scores, e^2 the variance of residuals by the judge. V(people) = s^2 / n and V(corrected) = e^2 (1 / n - 1
    / N) + s^2 / N are summed over systems; documents are a sample. Variances are within systems: a judge that
    only identifies the better system gains nothing. Residuals use the slopes of the other documents. A
    smaller supposed n adds the larger variance of its slopes. Differences: the same of deviations from the
    mean over a document's rated outputs. The interval is a delete-one-document jackknife of the logarithm
    with t of n - 1 degrees of freedom. Source: Cochran 1977, section 7.5; Angelopoulos, Duchi and Zrnic 2023
    (PPI++); Quenouille 1956. Undefined with fewer than 5 rated documents, and if the judge or people give all
    outputs of a system the same score. Also undefined without a share if every output is rated. Raises
    ValueError for shapes that differ, or a share that is not above 0 and below 1.
    """
    check_level(confidence_level)
    scores = numbers(people, "People's scores", dimensions=2)
    values = numbers(judge, "The judge's scores", dimensions=2)
    if scores.shape != values.shape:
        raise ValueError(f"People's scores have the shape {scores.shape}, the judge's {values.shape}.")
    if share is not None and not 0 < share < 1:
        raise ValueError(f"The share of rated documents must lie between 0 and 1, but is {share}.")
    enough = (~np.isnan(scores)).sum(axis=0) >= _LEAST_OF_SYSTEM
    scores, values = scores[:, enough], values[:, enough]
    documents = int((~np.isnan(scores)).any(axis=1).sum())
    if reason := why_no_gain(scores, values, share):
        return CorrectionGain(None, None, share, documents, reason)
    return _measure(center_scores(scores, values), share, documents, confidence_level)


def why_no_gain(people: FloatArray, judge: FloatArray, share: float | None) -> str:
    """Return the reason why scores (documents, systems) give no gain; every system has 3 rated outputs or
    more.
    """
    rated = ~np.isnan(people)
    documents = int(rated.any(axis=1).sum())
    if documents < LEAST_FOR_GAIN:
        return f"People rated {documents} documents; the gain needs {LEAST_FOR_GAIN}."
    if np.isnan(judge).all():
        return NO_JUDGE
    scores = center_scores(people, judge)
    if not np.any(np.abs(scores.judge) > _TINY):
        return "The judge gives all rated texts of a system the same score, so it cannot correct a mean."
    if not np.any(np.abs(scores.people) > _TINY):
        return "People give all texts of a system the same score, so its mean does not vary."
    if share is not None and scores.texts.sum(axis=0).min() <= LEAST_FOR_GAIN:
        return f"A share of the documents needs more than {LEAST_FOR_GAIN} documents of every system."
    if share is None and np.array_equal(scores.rated, scores.texts):
        return "People rated every text, so a correction gains nothing."
    return ""


def _measure(
    scores: CenteredScores, share: float | None, documents: int, confidence_level: float
) -> CorrectionGain:
    texts, given = scores.texts.sum(axis=0), scores.ratings
    planned = given if share is None else np.clip(share * texts, LEAST_FOR_GAIN, None)
    slopes = fit_slopes_elsewhere(scores)
    residuals = scores.people - np.einsum("dp,pds->ds", slopes, scores.judge)
    # The divisors of sums of squares: variances (n - 1) over the ratings planned, and over all texts.
    per_rating, per_text = 1 / ((given - 1) * planned), 1 / ((given - 1) * texts)
    within, left_within = _deviations(scores.people, scores.rated), _deviations(residuals, scores.rated)
    # V(people), and the two terms of V(corrected): s^2 / N and e^2 (1 / n - 1 / N).
    alone, fixed, reduced = (
        (own**2 * weights).sum(axis=1)
        for own, weights in (
            (scores.people, per_rating),
            (scores.people, per_text),
            (residuals, per_rating - per_text),
        )
    )
    # What all outputs of a document share cancels in differences of systems.
    of_pairs = (left_within**2 * (per_rating - per_text)).sum(axis=1)
    between = ((residuals - left_within) ** 2 * scores.rated * (per_rating - per_text)).sum(axis=1)
    # Residuals contain the cost of slopes from the given documents; a smaller plan adds the rest.
    costs = _slope_costs(float(planned.mean()), len(given)) - _slope_costs(float(given.mean()), len(given))
    costs = np.where(fit_slopes(scores) > 0, costs, 0.0)  # a judge that is not used costs nothing
    reduced += costs[0] * between + costs[1] * of_pairs
    of_pairs *= 1 + costs[1]
    pairs_alone, pairs_fixed = ((within**2 * each).sum(axis=1) for each in (per_rating, per_text))
    return CorrectionGain(
        _gain(alone, reduced + fixed, documents, confidence_level),
        _gain(pairs_alone, of_pairs + pairs_fixed, documents, confidence_level) if len(given) > 1 else None,
        float(planned.sum() / texts.sum()),
        documents,
    )


def _slope_costs(documents: float, systems: int) -> FloatArray:
    """(2,): the increase of both parts of the residual variance from slopes on this number of documents.

    1 / (n - 3) for a regression on one normal predictor with n - 1 degrees of freedom about its mean. Source:
    Cochran 1977, section 7.8.
    """
    freedoms = np.array([documents - 1, (documents - 1) * max(systems - 1, 1)])
    return np.asarray(1 / np.maximum(freedoms - 2, 1))


def _deviations(values: FloatArray, rated: FloatArray) -> FloatArray:
    """(documents, systems): values minus the mean over a document's rated outputs, 0 for others."""
    means = values.sum(axis=1) / np.maximum(rated.sum(axis=1), 1)
    return np.asarray((values - means[:, None]) * rated)


def _gain(alone: FloatArray, corrected: FloatArray, documents: int, confidence_level: float) -> Gain | None:
    """Return the ratio of two sums over documents; None if either is 0."""
    totals = np.array([alone.sum(), corrected.sum()])
    if not (totals > _TINY).all():
        return None
    rated = alone + corrected > 0
    without = totals[:, None] - np.stack([alone, corrected])[:, rated]
    value = totals[0] / totals[1]
    if not (without > _TINY).all():
        return Gain(float(value), None, None)
    logarithms = np.log(without[0] / without[1])
    # The variance of the delete-one jackknife over documents.
    spread = (documents - 1) / documents * float(np.sum((logarithms - logarithms.mean()) ** 2))
    reach = t_reach(np.sqrt(spread), documents - 1, confidence_level)
    return Gain(float(value), float(value * np.exp(-reach)), float(value * np.exp(reach)))
