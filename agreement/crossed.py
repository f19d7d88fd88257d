"""Differences of systems if raters count as a sample like documents: the crossed model of ratings.

y = system + document + rater + rater:system + document:system + rater:document + residual; systems are fixed,
all else is random. Effects that two systems share (document, rater, rater on a document) cancel in their
difference, which leaves three variances. `VariancesBySystem` has them for single systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from agreement.crossed_fit import (
    CrossedModelError,
    ErrorVariances,
    fit_by_mean_squares,
    fit_by_reml,
)
from agreement.data import FloatArray
from agreement.system_differences import (
    LEAST_DOCUMENTS,
    SystemDifference,
    adjust_p_values,
    levels_of,
    too_few,
    with_t_interval,
)

MOST_CELLS = 400
"""Pairs of a rater and a system up to which gaps are allowed: time grows with the third power of them."""
_TINY = 1e-9  # in points: smaller values are rounding errors


@dataclass(frozen=True)
class CrossedDifferences:
    """Every pair of systems by the crossed model, and the variances that it found.

    variances: common to all systems. systems, raters, documents: numbers of those with values. method: how
    variances were estimated. outlying: the systems on which raters, or documents, differ more than on the
    others.
    """

    differences: tuple[SystemDifference, ...]
    variances: ErrorVariances
    systems: int
    raters: int
    documents: int
    method: str
    outlying: tuple["OutlyingSystem", ...] = ()


class VarianceSource(StrEnum):
    """Raters or documents, which both can rank systems differently."""

    RATERS = "raters"
    DOCUMENTS = "documents"


@dataclass(frozen=True)
class OutlyingSystem:
    """A system with a mean square that is `ratio` times the common one of the others."""

    system: str
    source: VarianceSource
    ratio: float


def why_not_crossed(values: FloatArray) -> str:
    """Return the reason why values (raters, documents, systems) show no rater differences; empty if they
    do.
    """
    given = ~np.isnan(values)
    twice = (given.sum(axis=0) >= 2).any(axis=1).sum()
    if given.any(axis=(1, 2)).sum() < 2:
        return "Fewer than two raters gave values."
    if twice < LEAST_DOCUMENTS:
        return f"Two raters rated the same items on {twice} documents; {LEAST_DOCUMENTS} are needed."
    if given.any(axis=(0, 1)).sum() < 2:
        return "Fewer than two systems have values."
    part = _rated_part(values)
    if np.isnan(part).any() and given.any(axis=1).sum() > MOST_CELLS:
        return f"With gaps, at most {MOST_CELLS} pairs of a rater and a system can be taken into account."
    if _have_same_differences(part):
        return "Every rater gives the same differences on every document."
    return ""


def crossed_differences(
    values: FloatArray,
    systems: Sequence[str],
    *,
    confidence_level: float = 0.95,
    by_system: bool = True,
    tests: int | None = None,
) -> CrossedDifferences:
    """Every pair of systems, from values (raters, documents, systems), NaN for gaps.

    Without gaps means are compared, with variances from mean squares; else both are by restricted maximum
    likelihood, which is the same without gaps if no variance is 0 (Patterson and Thompson 1971). Intervals
    and tests by t with Satterthwaite's degrees of freedom; Holm and Bonferroni as in `system_differences`.
    by_system: with three systems or more, a system whose mean square is larger than the others' uses its own
    (`VariancesBySystem`); without, one variance holds for all, as in lme4. tests: the number of tests that
    simultaneous intervals cover, by default the pairs. No interval for a pair with fewer than 3 documents
    rated for both. Raises CrossedModelError with the reason of `why_not_crossed`, or if the fit leaves no
    error variance.
    """
    if reason := why_not_crossed(values):
        raise CrossedModelError(reason)
    part = _rated_part(values)
    fit = fit_by_reml(part) if np.isnan(part).any() else fit_by_mean_squares(part)
    given = (~np.isnan(values)).any(axis=0).astype(int)
    # The numbers of documents with both systems, and each system's index in `part`.
    documents, positions = given.T @ given, np.cumsum(given.any(axis=0)) - 1
    pairs = list(combinations(range(len(systems)), 2))
    levels = levels_of(confidence_level, tests or len(pairs))
    found = []
    for one, other in pairs:
        each = SystemDifference(systems[one], systems[other], int(documents[one, other]), None)
        if each.documents < LEAST_DOCUMENTS:
            found.append(too_few(each))
        else:
            pair = int(positions[one]), int(positions[other])
            value, variance, freedom = fit.difference(*pair)
            errors: Sequence[tuple[float, float]] = [(variance, freedom)]
            if by_system and fit.by_system:
                errors = fit.by_system.errors_of_pair(*pair, fit.parts_of_pair(*pair))
            found.append(with_t_interval(each, value, errors, levels))
    raters, rated, number = part.shape
    rated_systems = [systems[each] for each in np.flatnonzero(given.any(axis=0)).tolist()]
    outlying: list[OutlyingSystem] = []
    if by_system and fit.by_system:
        sources = (
            (VarianceSource.RATERS, fit.by_system.raters),
            (VarianceSource.DOCUMENTS, fit.by_system.documents),
        )
        outlying = [
            OutlyingSystem(rated_systems[each], source, float(squares.ratios[each]))
            for source, squares in sources
            for each in np.flatnonzero(squares.is_outlying).tolist()
        ]
    adjusted = adjust_p_values(found)
    return CrossedDifferences(adjusted, fit.variances, number, raters, rated, fit.method, tuple(outlying))


def _have_same_differences(part: FloatArray) -> bool:
    """Return True if every value is the effect of its system plus one number for its rater and document.

    part: (raters, documents, systems), NaN for gaps. The effects are least squares estimates. Also False if
    too few raters rated two systems on one document: then these effects fit any values.
    """
    rows = part.reshape(-1, part.shape[2])
    rows = rows[(~np.isnan(rows)).sum(axis=1) >= 2]
    given = (~np.isnan(rows)).astype(float)
    # Normal equations of systems, with the number of each rater and document eliminated.
    own = given / given.sum(axis=1, keepdims=True)
    normal = np.diag(given.sum(axis=0)) - given.T @ own
    if given.sum() - len(rows) <= np.linalg.matrix_rank(normal):
        return False
    centred = np.where(np.isnan(rows), 0.0, rows - np.nanmean(rows, axis=1, keepdims=True))
    # The equations leave a common constant open, so the shortest solution is as good as any.
    left = rows - np.linalg.pinv(normal) @ centred.sum(axis=0)
    return bool(np.nanmax(np.abs(left - np.nanmean(left, axis=1, keepdims=True))) < _TINY)


def _rated_part(values: FloatArray) -> FloatArray:
    """(raters, documents, systems) that have values."""
    given = ~np.isnan(values)
    return values[np.ix_(given.any(axis=(1, 2)), given.any(axis=(0, 2)), given.any(axis=(0, 1)))]
