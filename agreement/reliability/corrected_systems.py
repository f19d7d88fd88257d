"""Means of systems that a judge corrects, with documents and raters as samples, and the ranks that follow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt

from agreement.comparison.scores import numbers
from agreement.data import FloatArray, IntArray
from agreement.groups import mean_values
from agreement.reliability.correction_gain import (
    CenteredScores,
    center_scores,
    fit_slopes,
    fit_slopes_elsewhere,
    judge_gaps,
)
from agreement.reliability.estimates import check_level
from agreement.student import t_reach
from agreement.summary import NO_SPREAD
from agreement.system_differences import (
    KNOWN,
    LEAST_DOCUMENTS,
    SystemDifference,
    adjust_p_values,
    levels_of,
    ranks_and_letters,
    with_t_interval,
)
from agreement.variance_components import VarianceComponents, variance_components, why_no_components

_NO_SHARE = 1e-12


def why_raters_are_given(values: FloatArray) -> str:
    """Return the reason why values (raters, documents, systems) show no variance between raters; empty if
    they do.
    """
    given = ~np.isnan(values)
    raters = int(given.any(axis=(1, 2)).sum())
    if raters < 2:
        return "Only one rater gave values, so intervals are about this rater."
    if given.any(axis=(0, 1)).sum() < 2:
        return "Only one system has enough ratings, so intervals are about these raters."
    if reason := why_no_components(values):
        return f"{reason} Intervals are about these raters."
    return ""


@dataclass(frozen=True, eq=False)
class RaterVariances:
    """Variances of raters and of raters by systems, and the share of each in a mean of a system.

    shared: (systems, systems), the factor of the variance of raters in the covariance of two means, beyond
    the part that differences between documents already show. Its diagonal is also the factor of the variance
    of raters by systems. documents: the mean number of documents of a system that a rater rated.
    """

    components: VarianceComponents
    shared: FloatArray
    raters: int
    documents: float

    @classmethod
    def of(cls, values: FloatArray) -> Self:
        """Estimate both from values (raters, documents, systems), NaN for gaps, 2 documents a system.

        With w_rd the share of a rating in the mean of a system, W_r its sum over documents and n the rated
        documents: n / (n - 1) (sum_r W_ra W_rb - sum_rd w_rda w_rdb), 1 / R if R raters rate everything and 0
        if every document has different raters. Variances by `variance_components`. Source: expectation of the
        variance between documents under the crossed model of `crossed`.
        """
        given = ~np.isnan(values)
        number = given.any(axis=0).sum(axis=0)
        # (raters, documents, systems): 1 / (raters of the output x rated documents of the system).
        weights = np.where(given, 1 / np.maximum(given.sum(axis=0), 1), 0.0) / number
        # W_r, (raters, systems): the share of a rater in the mean of a system.
        totals = weights.sum(axis=1)
        # The root for each of two systems; their product is n / (n - 1) if both have n documents.
        each = np.sqrt(number / (number - 1))
        # Minus the products within a document, which differences between documents already contain.
        shared = (totals.T @ totals - np.einsum("rda,rdb->ab", weights, weights)) * np.outer(each, each)
        raters = int(given.any(axis=(1, 2)).sum())
        rated = float(given.sum()) / (raters * values.shape[2])
        return cls(variance_components(values), shared, raters, rated)

    def of_contrast(self, weights: FloatArray) -> tuple[float, float]:
        """Return the contribution of raters to the variance of weights (systems,) @ means, and its sum v^2 /
        f.

        The parts v are the mean squares of the balanced crossed model times their coefficients, each with its
        degrees of freedom f. Source: Satterthwaite 1946, Biometrics Bulletin 2, 110-114.
        """
        found, systems, documents = self.components, len(weights), self.documents
        main = float(weights @ self.shared @ weights)
        # The main effect of raters cancels in a contrast of systems that they all rated.
        main = main if main > _NO_SHARE else 0.0
        own = float(weights**2 @ np.diag(self.shared))
        of_raters, of_cells = main / (documents * systems), own / documents
        rest = found.rest
        # Expected mean squares of the crossed model, from its variance components.
        by_system = rest + documents * found.raters_by_systems
        by_document = rest + systems * found.raters_by_documents
        between = by_system + by_document - rest + documents * systems * found.raters
        one, other, third = self.raters - 1, systems - 1, max(documents - 1, 1)
        terms = (
            (between * of_raters, one),
            (by_system * (of_cells - of_raters), one * other),
            (by_document * of_raters, one * third),
            (rest * (of_raters - of_cells), one * other * third),
        )
        lost = sum(part**2 / freedom for part, freedom in terms)
        return main * found.raters + own * found.raters_by_systems, lost


_TINY = 1e-9  # in points: smaller values are rounding errors


class About(StrEnum):
    """The subject of corrected means: other raters and documents, these raters, or these outputs alone."""

    RATERS = "raters"
    DOCUMENTS = "documents"
    TEXTS = "texts"


@dataclass(frozen=True)
class CorrectedMean:
    """The mean human score of a system, corrected by the judge; None with a reason.

    people: the mean of the rated outputs. ratings, texts: the numbers of rated and of all outputs.
    rater_variance: the part of the squared standard error that comes from raters. best, worst: its possible
    ranks. letters: the letters that it shares with the systems from which it does not surely differ.
    """

    system: str
    value: float | None
    people: float | None
    ratings: int
    texts: int
    reason: str = ""
    low: float | None = None
    high: float | None = None
    interval_reason: str = ""
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    rater_variance: float = 0.0
    best: int | None = None
    worst: int | None = None
    letters: str = ""


@dataclass(frozen=True, eq=False)
class CorrectedSystems:
    """All systems on one dimension in the order given, and all pairs of those with a mean.

    slopes: (2,), of people's scores on the judge's mean of a document and on the rest of its score.
    why_not_corrected: why the means are people's own, or empty. why_raters_given: why raters are not a
    sample although they should be, or empty.
    """

    means: tuple[CorrectedMean, ...]
    differences: tuple[SystemDifference, ...]
    slopes: FloatArray
    why_not_corrected: str = ""
    why_raters_given: str = ""


def correct_systems(
    ratings: npt.ArrayLike,
    judge: npt.ArrayLike,
    systems: Sequence[str],
    *,
    about: About = About.RATERS,
    confidence_level: float = 0.95,
) -> CorrectedSystems:
    """The mean human score of every system, corrected by a judge, with all differences, ranks and letters.

    ratings: (raters, documents, systems), NaN for gaps. judge: (documents, systems), NaN for gaps; an output
    counts if either scored it. The rated outputs of a system are a simple random sample of all N. theta =
    ybar + b (fbar_N - fbar_n) with two slopes b (`fit_slopes`), pooled over systems. Covariance over
    documents: of residuals by delete-one-document jackknife, times sqrt((1 - n / N) of both systems), with
    the variation of slopes; plus the covariance of people's scores / N unless it is about these outputs.
    Raters add their variance and the variance of raters by systems (`RaterVariances`). t with Satterthwaite's
    degrees of freedom, n - 1 for documents. Pairs have Holm's p values and Bonferroni's simultaneous
    intervals, ranks invert these, and letters join pairs with an adjusted p above 1 - confidence_level.
    Sources: Cochran 1977, sections 7.1 to 7.5; Angelopoulos, Duchi and Zrnic 2023 (PPI++); Satterthwaite
    1946; Holm 1979; Chatzi and others 2024; Piepho 2004. No mean for a system with fewer than 3 rated
    outputs. Raises ValueError for shapes that differ.
    """
    check_level(confidence_level)
    values, scores = np.asarray(ratings, dtype=float), numbers(judge, "The judge's scores", dimensions=2)
    if values.ndim != 3 or values.shape[1:] != scores.shape or len(systems) != scores.shape[1]:
        raise ValueError(
            f"Ratings (raters, documents, systems) have the shape {values.shape}, the judge’s scores "
            f"{scores.shape}, for {len(systems)} systems."
        )
    # Means over raters, with the numbers of rated outputs and of all outputs.
    people = mean_values(values.reshape(len(values), scores.size)).reshape(scores.shape)
    rated = (~np.isnan(people)).sum(axis=0)
    texts = (~np.isnan(people) | ~np.isnan(scores)).sum(axis=0)
    means = [
        _undefined_mean(name, people[:, index], int(rated[index]), int(texts[index]))
        for index, name in enumerate(systems)
    ]
    # Systems with too few ratings do not enter the common slopes and variances either.
    kept = np.flatnonzero(rated >= LEAST_DOCUMENTS).tolist()
    if not kept:
        return CorrectedSystems(tuple(means), (), np.zeros(2))
    errors = _Errors(values[:, :, kept], people[:, kept], scores[:, kept], about)
    for position, index in enumerate(kept):
        means[index] = errors.add_interval(means[index], position, confidence_level)
    names = [systems[index] for index in kept]
    differences = _compare_pairs(errors, names, confidence_level)
    # Ranks and letters, from the largest mean down.
    ordered = sorted(
        (each for each in means if each.value is not None), key=lambda each: -(each.value or 0.0)
    )
    ranks = ranks_and_letters([each.system for each in ordered], differences, 1 - confidence_level)
    ranked = tuple(replace(each, **ranks.get(each.system, {})) for each in means)
    return CorrectedSystems(
        ranked, differences, errors.slopes, errors.why_not_corrected, errors.why_raters_given
    )


def _undefined_mean(system: str, people: FloatArray, ratings: int, texts: int) -> CorrectedMean:
    own = float(np.nanmean(people)) if ratings else None
    few = f"Only {ratings} of {texts} texts are rated; a corrected mean needs {LEAST_DOCUMENTS}."
    return CorrectedMean(system, None, own, ratings, texts, few)


class _Errors:
    """Means (systems,) with the covariance (systems, systems) over documents, and the contribution of raters.

    both: (systems, systems), the number of documents with ratings of both.
    """

    def __init__(self, values: FloatArray, people: FloatArray, judge: FloatArray, about: About) -> None:
        scores = center_scores(people, judge)
        self.slopes, gaps = fit_slopes(scores), judge_gaps(scores)
        given = scores.rated.astype(np.intp)
        self.both: IntArray = given.T @ given
        self.means = np.nanmean(people, axis=0) + self.slopes @ gaps
        self.covariance = _covariance_over_documents(scores, self.slopes, gaps, about)
        self.why_raters_given = why_raters_are_given(values) if about == About.RATERS else ""
        of_raters = about == About.RATERS and not self.why_raters_given
        self.raters = RaterVariances.of(values) if of_raters else None
        self.is_known = about == About.TEXTS and np.array_equal(scores.rated, scores.texts)
        self.why_not_corrected = ""
        if np.array_equal(scores.rated, scores.texts):
            self.why_not_corrected = (
                "People rated every text, so a correction gains nothing: these are people’s own means."
            )
        elif not np.any(np.abs(scores.judge) > _TINY):
            self.why_not_corrected = (
                "The judge gives all rated texts of a system the same score: these are people’s own means."
            )
        elif not self.slopes.any():
            self.why_not_corrected = (
                "Within systems the judge’s scores do not rise with people’s: these are people’s own means."
            )

    def of_contrast(self, weights: FloatArray, documents: int) -> tuple[float, float, float]:
        """Return the variance of weights (systems,) @ means, its degrees of freedom and the raters' part."""
        # Documents and raters contribute independent parts, which add up like their v^2 / f.
        within = float(weights @ self.covariance @ weights)
        of_raters, lost = self.raters.of_contrast(weights) if self.raters else (0.0, 0.0)
        lost += within**2 / max(documents - 1, 1)
        total = within + of_raters
        return total, total**2 / lost if lost > 0 else np.inf, of_raters

    def add_interval(self, mean: CorrectedMean, index: int, confidence_level: float) -> CorrectedMean:
        """Return the mean of the system at this position with its interval."""
        value = float(self.means[index])
        weights = np.eye(len(self.means))[index]
        variance, freedom, of_raters = self.of_contrast(weights, mean.ratings)
        found = replace(mean, value=value, reason="", rater_variance=of_raters)
        if self.is_known:
            return replace(found, interval_reason=KNOWN_MEAN)
        if variance <= _TINY**2:
            return replace(found, interval_reason=NO_SPREAD)
        error = float(np.sqrt(variance))
        reach = t_reach(error, freedom, confidence_level)
        return replace(
            found, low=value - reach, high=value + reach, standard_error=error, degrees_of_freedom=freedom
        )


KNOWN_MEAN = "Every output is rated, so this mean is known and nothing is estimated."


def _covariance_over_documents(
    scores: CenteredScores, slopes: FloatArray, gaps: FloatArray, about: About
) -> FloatArray:
    """(systems, systems): from what every document changes in the means."""
    number, texts = scores.ratings, scores.texts.sum(axis=0)
    unrated = 1 - number / texts
    residuals = scores.people - np.einsum("p,pds->ds", slopes, scores.judge)
    # Without a document, the mean of the n - 1 other rated outputs moves by -deviation / (n - 1).
    without_each = gaps[:, None, :] + scores.judge / (number - 1)
    # A slope that changes moves a mean by the change times the gap.
    moved = np.einsum("dp,pds->ds", fit_slopes_elsewhere(scores) - slopes, without_each)
    # In a fully rated system a slope has nothing to correct.
    changes = np.where(unrated > 0, moved, 0.0) - residuals * np.sqrt(unrated) / (number - 1)
    # The jackknife's factor (n - 1) / n, as a root in each of the two systems of a product.
    changes *= np.sqrt((number - 1) / number)
    found = changes.T @ changes
    if about != About.TEXTS:
        # Documents are a sample themselves: plus the covariance of people's scores over N.
        own = scores.people / np.sqrt((number - 1) * texts)
        found += own.T @ own
    return np.asarray(found)


def _compare_pairs(
    errors: _Errors, names: Sequence[str], confidence_level: float
) -> tuple[SystemDifference, ...]:
    pairs = list(combinations(range(len(names)), 2))
    levels = levels_of(confidence_level, len(pairs))
    found = []
    for one, other in pairs:
        weights = np.zeros(len(names))
        weights[[one, other]] = 1, -1
        value = float(errors.means[one] - errors.means[other])
        # The system with fewer rated documents gives the degrees of freedom.
        least = int(min(errors.both[one, one], errors.both[other, other]))
        variance, freedom, _ = errors.of_contrast(weights, least)
        each = SystemDifference(names[one], names[other], int(errors.both[one, other]), value)
        if errors.is_known:
            each = replace(each, reason=KNOWN)
        elif variance <= _TINY**2:
            each = replace(each, reason="The difference is the same on every rated document.")
        else:
            each = with_t_interval(each, value, [(variance, freedom)], levels)
        found.append(each)
    return adjust_p_values(found)
