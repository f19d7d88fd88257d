"""Slopes of people's scores on a judge's, one between documents and one between the outputs of a document.

A judge may know which documents are hard without knowing which system is better on one, or the reverse, so
each of the two parts of its score has a slope. Both are pooled over systems. They are never below 0: a judge
that contradicts people is not used in reverse.
"""

from dataclasses import dataclass

import numpy as np

from agreement.data import FloatArray, divide_where

_TINY = 1e-9
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
    own = np.where(np.isnan(own), 0.0, own)
    of_document = divide_where(texts.any(axis=1), own.sum(axis=1), texts.sum(axis=1))
    of_document = np.where(np.isnan(of_document), 0.0, of_document)[:, None]
    parts = np.where(texts, np.stack([np.broadcast_to(of_document, own.shape), own - of_document]), 0.0)
    rated = ~np.isnan(people)
    centered = np.where(rated, people - _column_means(people), 0.0)
    given = rated.astype(float)
    means = divide_where(given.any(axis=0), (parts * given).sum(axis=1), given.sum(axis=0))
    inside = np.where(rated, parts - means[:, None], 0.0)
    return CenteredScores(centered, inside, given, texts.astype(float), parts)


def fit_slopes(scores: CenteredScores) -> FloatArray:
    """(2,): the least-squares slopes of people's deviations on both parts of the judge's, each 0 or more."""
    products, targets = _sums_by_document(scores)
    slopes = solve_slopes(products.sum(axis=0)[None], targets.sum(axis=0)[None])
    return np.asarray(slopes[0])


def fit_slopes_elsewhere(scores: CenteredScores) -> FloatArray:
    """(documents, 2): the slopes without each document in turn, with the means of the other documents.

    Leaving x of n values out takes n / (n - 1) (x - mean) (z - mean) from the sum of products about means.
    """
    products, targets = _sums_by_document(scores)
    factor = divide_where(scores.ratings > 1, scores.ratings, scores.ratings - 1)
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
    (first, cross), second = products[:, 0].T, products[:, 1, 1]
    determinant = first * second - cross**2
    regular = determinant > _TINY * np.maximum(first * second, _TINY)
    safe = np.where(regular, determinant, 1.0)
    both = np.stack(
        [
            (second * targets[:, 0] - cross * targets[:, 1]) / safe,
            (first * targets[:, 1] - cross * targets[:, 0]) / safe,
        ],
        axis=1,
    )
    spread = np.stack([first, second], axis=1)
    alone = np.where(spread > _TINY, targets / np.where(spread > _TINY, spread, 1.0), 0.0)
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
