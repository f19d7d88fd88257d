"""How severe raters are, and what systems would score with raters of one severity: many-facet Rasch.

`severity_misfit` tests whether systems' means and raters' residuals are as the model predicts. `bridge` puts
new raters on the scale of the first raters, who rated the same items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from agreement.coefficient import Estimated, Interval
from agreement.data import FloatArray, divide_where
from agreement.ranks import holm_by_key
from agreement.severity_likelihood import LOG_SPREADS, RatedPoints, SeverityLikelihood
from agreement.student import t_p_value, t_reach

NO_VARIANCE = "This difference hardly varies between documents, so it is not tested."
_LEAST_ERROR = 1e-4
"""Of the error that values alone bring; below it, value and error are numerical noise."""


@dataclass(frozen=True, eq=False)
class SeverityMisfit:
    """expected_means: (systems,), the model's prediction from the raters of each unit.

    p_values, adjusted: (systems + raters,), of systems' means and raters' infit, and by Holm over all; None
    for `NO_VARIANCE`.
    """

    expected_means: FloatArray
    p_values: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]


def severity_misfit(
    likelihood: SeverityLikelihood, parameters: FloatArray, inverse: FloatArray
) -> SeverityMisfit:
    """Test the fitted model's predictions against the values, systems by means and raters by infit.

    inverse: (parameters, parameters), of the loss's curvature, 0 if a parameter is fixed. A sum over
    documents of values minus predictions has the mean 0 if the model holds. Its variance is the variance of
    the parts of documents, each with its part in the parameters; p by Student's t, with documents minus one
    degrees of freedom. No p value if the error is below 1e-4 of the largest error with known parameters, or
    of one standard deviation of the values in each document: both value and error are then numerical noise.
    Sources: Hausman 1978, Econometrica 46, 1251-1271, for two estimates of one mean; Newey 1985, Econometrica
    53, 1047-1070, for moments of a fitted model; Holm 1979.
    """
    scores = likelihood.scores_by_document(parameters) @ inverse
    rated = likelihood.rated
    deviation = float(np.std(rated.points[rated.code]))

    def p_values(moments: Callable[[FloatArray], FloatArray], unit: float) -> list[float | None]:
        by_document = moments(parameters)
        _, slopes = likelihood.with_slopes(lambda at: moments(at).sum(axis=0), parameters)
        # The sum also varies through the fitted parameters, by each document's score (Newey 1985).
        moved = by_document + scores @ slopes.T
        documents = len(moved)
        errors, known = (np.sqrt(documents) * each.std(axis=0, ddof=1) for each in (moved, by_document))
        least = _LEAST_ERROR * max(float(known.max()), np.sqrt(documents) * unit)
        sums = zip(by_document.sum(axis=0).tolist(), errors.tolist(), strict=True)
        return [t_p_value(each, error, documents - 1) if error > least else None for each, error in sums]

    # The units are one standard deviation of the values, in a part of a mean and in a sum of squares.
    found = [
        *p_values(likelihood.mean_residuals, deviation / rated.number_of_documents),
        *p_values(likelihood.excess_squares, deviation**2),
    ]
    adjusted = holm_by_key(dict(enumerate(found)))
    expected = rated.means_of_systems() - likelihood.mean_residuals(parameters).sum(axis=0)
    return SeverityMisfit(expected, tuple(found), tuple(adjusted.get(index) for index in range(len(found))))


LEAST_DOCUMENTS = 5
NO_END = "The search for the most likely severities did not end, so none are given."
PENALTY = 0.25
"""Half of it is what each squared severity and threshold costs, so that none is infinite."""
SAME_SHARE = 0.01
"""The part of a system's values that other raters gave another; below it, panels count as the same."""
SHOWN = 0.005
"""The least difference that two decimals show."""
_STEPS = 500
_CLOSE = 1e-6  # differences of log-likelihoods that distinguish nothing
MOST_POINTS = 11
"""Points of a scale up to which each has a threshold of its own."""


@dataclass(frozen=True)
class RaterSeverity:
    """A rater: the number of values, their mean, and the rater's severity.

    severity: in logits, 0 being the raters' mean. fair_mean: the mean that the rater would give to all units.
    infit, outfit: mean squares of residuals, 1 under the model, larger if the rater is less regular.
    adjusted_p_value: that infit is 1, see `severity_misfit`; None if it is not tested (`NO_VARIANCE`).
    """

    rater: str
    values: int
    mean: float
    severity: Estimated
    fair_mean: Estimated
    infit: float
    outfit: float
    adjusted_p_value: float | None


@dataclass(frozen=True)
class FairAverage:
    """A system: the mean of its items, and the mean with raters of average severity, each with its rank.

    expected: the model's prediction of the mean by the same raters. adjusted_p_value: that both are equal,
    see `severity_misfit`; None if it is not tested (`NO_VARIANCE`).
    """

    system: str
    items: int
    mean: float
    expected: float
    adjusted_p_value: float | None
    fair: Estimated
    rank: int
    fair_rank: int


@dataclass(frozen=True)
class Severity:
    """raters and systems by the model; without them `reason` gives the reason.

    spread: the standard deviation of units within a system, in logits, None with a reason. same_raters: if
    the raters' shares of any two systems' values differ by less than 1 % in total variation (half the sum of
    absolute differences), so that plain means are fair. share_rated: the share of pairs of unit and rater
    with a value.
    """

    raters: tuple[RaterSeverity, ...]
    systems: tuple[FairAverage, ...]
    spread: float | None
    documents: int
    same_raters: bool = True
    share_rated: float = 1.0
    reason: str = ""

    @property
    def rated_everything(self) -> bool:
        """Whether raters rated more than 99 % of all units."""
        return self.share_rated > 1 - SAME_SHARE

    @property
    def misfit_p_value(self) -> float | None:
        """The smallest adjusted p value of a system's mean or a rater's infit; None without any."""
        found = [each.adjusted_p_value for each in self.systems]
        found += [each.adjusted_p_value for each in self.raters]
        return min((each for each in found if each is not None), default=None)

    def finds_misfit(self, significance_level: float = 0.05) -> bool:
        """Return True if a significant difference also shows at two decimals."""
        found = [(each.adjusted_p_value, each.mean - each.expected) for each in self.systems]
        found += [(each.adjusted_p_value, each.infit - 1) for each in self.raters]
        return any(
            p_value is not None and p_value < significance_level and abs(difference) >= SHOWN
            for p_value, difference in found
        )


def why_not_severity(values: FloatArray, points: Sequence[float], documents: npt.NDArray[Any]) -> str:
    """Return the reason why `rater_severity` cannot fit values (raters, units); empty if it can.

    points: of the scale. documents: (units,), any labels.
    """
    given = ~np.isnan(values)
    if given.any(axis=1).sum() < 2:
        return "Fewer than two raters gave values."
    rated = np.unique(documents[given.any(axis=0)])
    if len(rated) < LEAST_DOCUMENTS:
        return f"There are values on {len(rated)} documents; {LEAST_DOCUMENTS} are needed."
    if len(points) > MOST_POINTS:
        return f"The scale has {len(points)} points; the model takes {MOST_POINTS} at most."
    if np.ptp(values[given]) == 0:
        return "Every value is the same."
    return ""


def rater_severity(
    values: FloatArray,
    points: Sequence[float],
    systems: Sequence[str],
    documents: npt.NDArray[Any],
    raters: Sequence[str],
    *,
    penalty: float = PENALTY,
    confidence_level: float = 0.95,
) -> Severity:
    """The rating scale model with raters as a facet, from values (raters, units), NaN for gaps.

    ln P(point k) / P(point k - 1) = unit - severity of the rater - threshold k

    A unit (systems, documents: (units,), the source of its output) is normal around the mean of its system
    with one standard deviation, and is integrated out (21 points of Gauss and Hermite), so that few raters
    for a unit do not bias the rest. Severities and thresholds have the mean 0 and, so that none is infinite,
    the penalty `penalty` / 2 times their square. Units of one document are not independent: variances are the
    sandwich's, summed within documents, with t. Residuals compare each value with the prediction from the
    other raters of its unit. A standard deviation at an end of the search range (e^-5 and e^3) is fixed
    there, without a variance. No values if the search does not end. Sources: Linacre 1989, Many-Facet Rasch
    Measurement; Andrich 1978, Psychometrika 43, 561-573; Bock and Aitkin 1981, Psychometrika 46, 443-459;
    Wright and Masters 1982 for infit and outfit. Raises ValueError if `why_not_severity` gives a reason.
    """
    if reason := why_not_severity(values, points, documents):
        raise ValueError(reason)
    rated = RatedPoints.of(values, points, systems, documents)
    fit = fit_severities(rated, penalty, confidence_level)
    if fit is None:
        return Severity((), (), None, rated.number_of_documents, reason=NO_END)
    misfit = severity_misfit(fit.likelihood, fit.parameters, fit.inverse)
    # The total variation between the raters' shares of each pair of systems.
    pairs = combinations(rated.shares_of_raters(), 2)
    apart = max((float(np.abs(one - other).sum()) / 2 for one, other in pairs), default=0.0)
    return Severity(
        tuple(_raters(fit, rated, raters, misfit)),
        tuple(_systems(fit, rated, misfit)),
        float(np.exp(fit.parameters[-1])),
        rated.number_of_documents,
        same_raters=apart < SAME_SHARE,
        share_rated=rated.share_rated,
    )


def fit_severities(rated: RatedPoints, penalty: float, confidence_level: float) -> "SeverityFit | None":
    """Return the model at the maximum of its penalised likelihood, None if the search does not end."""
    likelihood = SeverityLikelihood(rated, penalty)
    found = scipy.optimize.minimize(
        likelihood.loss,
        likelihood.start,
        jac=True,
        method="L-BFGS-B",
        bounds=likelihood.bounds,
        options={"maxiter": _STEPS, "ftol": 1e-11, "gtol": 1e-5},
    )
    return SeverityFit(likelihood, found, confidence_level) if found.success else None


class SeverityFit:
    """Parameters at the maximum of the penalised likelihood, their covariance, and intervals of derived
    values.
    """

    def __init__(
        self, likelihood: SeverityLikelihood, found: "scipy.optimize.OptimizeResult", confidence_level: float
    ) -> None:
        self.likelihood, self.parameters = likelihood, np.asarray(found.x)
        # Which parameters are inside their bounds. The likelihood is so flat before a bound of the spread
        # that the search may end there; a tie goes to the bound, as the data do not distinguish the two.
        free = np.ones(len(self.parameters), dtype=bool)
        for bound in LOG_SPREADS:
            moved = np.append(self.parameters[:-1], bound)
            if likelihood.loss(moved)[0] <= float(found.fun) + _CLOSE:
                self.parameters, free[-1] = moved, False
        documents = likelihood.rated.number_of_documents
        # A spread at its bound has no variance, so the sandwich has the free parameters only.
        curvature = likelihood.curvature(self.parameters)[np.ix_(free, free)]
        inverse = np.linalg.pinv(curvature, hermitian=True)
        sums = likelihood.scores_by_document(self.parameters)[:, free]
        self.inverse, self.covariance = np.zeros((2, len(free), len(free)))
        self.inverse[np.ix_(free, free)] = inverse
        # The sandwich sums scores by document, as units of one document are not independent.
        self.covariance[np.ix_(free, free)] = (
            inverse @ (sums.T @ sums) @ inverse * documents / (documents - 1)
        )
        # For an error of 1: `of` multiplies it by each error.
        self.reach = t_reach(1.0, documents - 1, confidence_level)

    def of(self, values: FloatArray, slopes: FloatArray) -> list[Estimated]:
        """Return values (n,) with intervals, given their derivatives (n, parameters)."""
        errors = self.reach * np.sqrt(np.einsum("ip,pq,iq->i", slopes, self.covariance, slopes))
        return [Estimated.within(*each) for each in zip(values.tolist(), errors.tolist(), strict=True)]

    def of_means(self, values: FloatArray, slopes: FloatArray) -> list[Estimated]:
        """Return `of` values on the scale; intervals are cut at its ends."""
        points = self.likelihood.rated.points
        low, high = float(points.min()), float(points.max())
        return [
            Estimated(each.value, max(each.low, low), min(each.high, high))
            for each in self.of(values, slopes)
        ]


def _raters(
    fit: SeverityFit, rated: RatedPoints, names: Sequence[str], misfit: SeverityMisfit
) -> list[RaterSeverity]:
    likelihood = fit.likelihood
    severities = fit.of(*likelihood.with_slopes(likelihood.severities, fit.parameters))
    fair = fit.of_means(*likelihood.with_slopes(likelihood.means_of_raters, fit.parameters))
    infit, outfit = likelihood.fit_of_raters(fit.parameters)
    points = [rated.points[rated.code[rated.rater == each]] for each in range(len(rated.rater_indices))]
    return [
        RaterSeverity(
            names[index],
            len(points[at]),
            float(points[at].mean()),
            severities[at],
            fair[at],
            float(infit[at]),
            float(outfit[at]),
            misfit.adjusted[len(rated.systems) + at],
        )
        for at, index in enumerate(rated.rater_indices.tolist())
    ]


def _systems(fit: SeverityFit, rated: RatedPoints, misfit: SeverityMisfit) -> list[FairAverage]:
    likelihood = fit.likelihood
    fair = fit.of_means(*likelihood.with_slopes(likelihood.means_of_systems, fit.parameters))
    means = rated.means_of_systems()
    # Means that differ only by rounding share a rank.
    ranks = [
        scipy.stats.rankdata(-np.round(each, 10), method="min").astype(int).tolist()
        for each in (means, np.array([one.value for one in fair]))
    ]
    items = np.bincount(rated.system_of_unit, minlength=len(rated.systems)).tolist()
    return [
        FairAverage(
            name,
            items[index],
            float(means[index]),
            float(misfit.expected_means[index]),
            misfit.adjusted[index],
            fair[index],
            ranks[0][index],
            ranks[1][index],
        )
        for index, name in enumerate(rated.systems)
    ]


FEWEST_DOCUMENTS = 5
_JACKKNIFE = "jackknife of documents, t with {freedom} degrees of freedom"


@dataclass(frozen=True)
class Offset:
    """The mean difference of values from the first raters' means; negative: new raters give less.

    items, documents: the numbers it rests on. interval: None with fewer than two documents.
    """

    value: float
    items: int
    documents: int
    interval: Interval | None = None


@dataclass(frozen=True)
class Bridge:
    """The severity of new raters on items that the first raters rated, too; `reason` if it is undefined.

    by_rater: an offset for each row of the values, None for raters without any. before, after: root mean
    square difference from the first raters' means, and with the rater's offset taken off. slope: of new
    values on old means within raters; errors of the old means make it smaller, so below 1 it does not show a
    narrower scale.
    """

    offset: Offset | None
    by_rater: Sequence[Offset | None] = ()
    before: float | None = None
    after: float | None = None
    slope: float | None = None
    reason: str = ""


def bridge(
    values: npt.ArrayLike,
    old: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Bridge:
    """Compare new raters with the first raters on bridging items.

    values: (raters, items), NaN for a gap. old: (items,), means of the first raters. documents: (items,), any
    labels. The offset is the mean over raters of their mean difference new - old, so each rater counts alike.
    The interval treats these raters as fixed and leaves out one document in turn: variance (D - 1) / D sum
    (theta_-d - mean)^2, t with D - 1 degrees of freedom (Tukey 1958; Efron and Tibshirani 1993, section
    11.5). `after` subtracts an offset that is computed without the item's document. Undefined with fewer than
    5 documents. Raises ValueError for arrays that do not fit together.
    """
    new, first = np.asarray(values, dtype=float), np.asarray(old, dtype=float)
    labels = np.asarray(documents)
    if new.ndim != 2 or first.shape != new.shape[1:] or labels.shape != first.shape:
        raise ValueError("The values are (raters, items); the old means and documents are (items,).")
    differences = new - first
    rated = ~np.isnan(differences)
    # Sums and numbers of differences, by rater and document.
    column = np.unique(labels, return_inverse=True)[1]
    number = int(column.max(initial=-1)) + 1
    in_document = np.equal(column[:, None], np.arange(number)).astype(float)
    totals, counts = np.where(rated, differences, 0.0) @ in_document, rated.astype(float) @ in_document
    found = int((counts.sum(axis=0) > 0).sum())
    by_rater = [
        _offset(totals[[row]], counts[[row]], int(rated[row].sum()), confidence_level)
        for row in range(len(new))
    ]
    if found < FEWEST_DOCUMENTS:
        reason = (
            f"Raters have values on bridging items of {found} documents; their severity needs "
            f"{FEWEST_DOCUMENTS} or more."
        )
        return Bridge(None, by_rater, reason=reason)
    # Each difference is corrected by an offset in which its own document has no part.
    without = _means(_leave_out(totals), _leave_out(counts))
    left = differences - without[:, column]
    usable = rated & ~np.isnan(left)
    items = int(rated.any(axis=0).sum())
    return Bridge(
        offset=_offset(totals, counts, items, confidence_level),
        by_rater=by_rater,
        before=float(np.sqrt((differences[usable] ** 2).mean())) if usable.any() else None,
        after=float(np.sqrt((left[usable] ** 2).mean())) if usable.any() else None,
        slope=_slope(new, first, rated),
    )


def _offset(totals: FloatArray, counts: FloatArray, items: int, confidence_level: float) -> Offset | None:
    """totals, counts: (raters, documents), sums and numbers of differences."""
    there = counts.sum(axis=0) > 0
    totals, counts, documents = totals[:, there], counts[:, there], int(there.sum())
    if not documents:
        return None
    value = float(np.nanmean(_means(totals.sum(axis=1), counts.sum(axis=1))))
    if documents < 2:
        return Offset(value, items, documents)
    # Every document left out leaves some rater with values: another document has them.
    replicates = np.nanmean(_means(_leave_out(totals), _leave_out(counts)), axis=0)
    variance = (documents - 1) / documents * float(((replicates - replicates.mean()) ** 2).sum())
    reach = t_reach(float(np.sqrt(variance)), documents - 1, confidence_level)
    method = _JACKKNIFE.format(freedom=documents - 1)
    interval = Interval(value - reach, value + reach, method, confidence_level, documents)
    return Offset(value, items, documents, interval)


def _leave_out(by_document: FloatArray) -> FloatArray:
    """(raters, documents): the sums without each document."""
    return np.asarray(by_document.sum(axis=1, keepdims=True) - by_document)


def _means(totals: FloatArray, counts: FloatArray) -> FloatArray:
    # Counts are sums of floats, so the limit between 0 and 1 allows for rounding.
    return divide_where(counts >= 0.5, totals, counts)


def _slope(new: FloatArray, first: FloatArray, rated: npt.NDArray[np.bool_]) -> float | None:
    """Least squares within raters; None if the old means do not vary."""
    # Centring old and new values within raters leaves their severity out of the slope.
    own = np.where(rated, np.broadcast_to(first, new.shape), np.nan)
    rows = rated.any(axis=1)
    old = own[rows] - np.nanmean(own[rows], axis=1, keepdims=True)
    given = new[rows] - np.nanmean(np.where(rated, new, np.nan)[rows], axis=1, keepdims=True)
    variation = float(np.nansum(old**2))
    return float(np.nansum(old * given)) / variation if variation > 1e-12 else None
