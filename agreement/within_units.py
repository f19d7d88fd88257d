"""How the values of a unit differ: their entropy, and the part of the differences that severity explains."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Resampling, Statistic
from agreement.coefficient import Coefficient, count
from agreement.data import FloatArray, ReliabilityData, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness

MOST_RATERS, MOST_GROUPS = 20, 20_000
"""Of more raters, or more documents, the share has no interval: each needs a table of raters by raters."""
_SOURCE = "share of the variance within units, adjusted for degrees of freedom (Ezekiel 1930)"
_WHY = "Every unit's values are the same; there is no variance within units to explain."


def rater_effects(values: FloatArray) -> FloatArray:
    """(raters,): the difference of each rater from the others on the same units, in points, with mean 0.

    values: (raters, units), NaN for a gap. Least squares of value = unit + rater. 0 for a rater who shares no
    unit with others.
    """
    laplacian, sums, _ = _normal_equations(values)
    effects = np.linalg.pinv(laplacian, hermitian=True) @ sums
    shares = laplacian.diagonal() > 0
    return np.where(shares, effects - effects[shares].mean() if shares.any() else 0.0, 0.0)


def severity_share(
    data: ReliabilityData, *, generator: Randomness | None = None, resampling: Resampling | None = None
) -> Coefficient:
    """The share of the variance within units that the raters' main effects explain.

    1 - MS_rest / MS_within, cut at 0: MS_within is the mean square of the values around their unit's mean,
    MS_rest what remains after each rater's effect (`rater_effects`), each divided by its degrees of freedom.
    Over units with two values or more. 1: raters differ only by a constant shift; 0: they differ only unit by
    unit. The interval resamples documents, or units; there is none with more than 20 raters. Undefined
    without such units, without variation, and without degrees of freedom for the rest.
    """
    plan = resampling or Resampling()
    pairable = data.of_units(data.ratings_per_unit >= 2)
    counts = count(data)
    by_documents = plan.by == "documents"
    labels = pairable.documents if by_documents else np.arange(pairable.values.shape[1])
    if labels is None:
        raise ValueError("Resampling by documents needs the document of each unit.")
    raters = np.flatnonzero((~np.isnan(pairable.values)).any(axis=1))
    number, of_unit = np.unique(labels, return_inverse=True)
    few = len(raters) <= MOST_RATERS and len(number) <= MOST_GROUPS
    groups = of_unit if few else np.zeros_like(of_unit)
    size = len(number) if few else min(len(number), 1)
    found = Weighted(
        "severity_share",
        "Share of severity in the variance within units",
        _SOURCE,
        _share_of_sums(pairable.values[raters], groups, size),
        size,
        plan.by if few else "units",
        (0.0, 1.0),
    ).coefficient(counts, _WHY, generator if few else None, plan)
    if few or not found.defined:
        return found
    why = f"With more than {MOST_RATERS} raters or {MOST_GROUPS:,} {plan.by} no interval is computed."
    return replace(found, interval_reason=why)


def _normal_equations(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (raters, raters), (raters,), (raters, units): the equations of effects, and centred values."""
    given = ~np.isnan(values)
    number = given.sum(axis=0)
    counted = (given & (number > 1)).astype(float)
    means = np.nansum(values, axis=0) / np.maximum(number, 1)
    centred = np.where(counted > 0, values - means, 0.0)
    table = np.diag(counted.sum(axis=1)) - (counted / np.maximum(number, 1)) @ counted.T
    return table, centred.sum(axis=1), centred


def _share_of_sums(values: FloatArray, groups: npt.NDArray[np.intp], size: int) -> Statistic:
    """Return the share as a function of weights (replicates, groups); groups: (units,)."""
    raters = len(values)
    tables = np.zeros((size, raters * raters))
    sums, squares, freedom = np.zeros((size, raters)), np.zeros(size), np.zeros(size)
    for group in range(size):
        own = values[:, groups == group]
        table, of_raters, centred = _normal_equations(own)
        tables[group], sums[group] = table.ravel(), of_raters
        squares[group] = float((centred**2).sum())
        freedom[group] = (~np.isnan(own)).sum() - own.shape[1]

    def shares(weights: FloatArray) -> FloatArray:
        table = (weights @ tables).reshape(-1, raters, raters)
        own = weights @ sums
        effects = (np.linalg.pinv(table, hermitian=True) @ own[:, :, None])[:, :, 0]
        explained = (effects * own).sum(axis=1)
        within, total = weights @ squares, weights @ freedom
        rest = total - np.linalg.matrix_rank(table, hermitian=True)
        known = (rest > 0) & (within > 0)
        of_rest = divide_where(known, (within - explained) * total, rest * np.maximum(within, 1e-300))
        return np.where(known, np.clip(1 - of_rest, 0.0, 1.0), np.nan)

    return shares


def normalised_entropy(values: FloatArray, points: int) -> float:
    """The entropy of values (n,), divided by the largest possible entropy of n values on a scale of `points`
    points.

    0 if all values are equal, 1 if they are spread as evenly as possible. 0 for one value or one point.
    """
    counts = np.unique(values, return_counts=True)[1]
    whole, left = divmod(len(values), points)
    most = _entropy(np.array([whole + (index < left) for index in range(points)]))
    return _entropy(counts) / most if most > 0 else 0.0


def _entropy(counts: npt.NDArray[np.integer]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return max(float(-(shares * np.log(shares)).sum()), 0.0)
