"""Anchoring between dimensions, or halo: one impression in the values of several dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from agreement.biases.measures import (
    CONTROLS,
    DEALT,
    JUDGE_IS_CONSTANT,
    NO_COMMON_QUALITY,
    Bias,
    BiasMeasure,
    control_of,
    instruments,
    minus_means,
    moments_within,
    with_reason_of_interval,
    without_severity,
)
from agreement.bootstrap import Statistic, nothing
from agreement.comparison import Scores
from agreement.data import FloatArray, IntArray, divide_where
from agreement.streams import Randomness, generator_of

_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, sec. 3.3; Thorndike 1920 (halo); two-stage least squares"
MOST_RANGES = 10
Range = tuple[float, float]
"""Part of a scale, by its lowest and highest point."""
_NEEDS = "Values of the judge and of two people on two dimensions of the same items are needed."
_NO_REMAINDER = "The judge’s values are people’s means, so there are no errors to correlate."
_LEAST = 1e-9  # a smaller range or variance is rounding of 0


def correlated_errors(dimensions: Sequence[Scores], *, generator: Randomness) -> Bias:
    """The mean over pairs of dimensions of the correlation of the residuals of the judge's values.

    dimensions: the same items and raters on each dimension, in the same order; items with a value of the
    judge and two raters on all dimensions count. With f = a + b q + e on each dimension and b estimated with
    one rater as the instrument for the others, it is cov(e, e') over the product of the standard deviations
    of f - b v, v being people's mean. Covariances of people's ratings take different raters for the two
    dimensions, so it excludes a rater's own halo, and a narrow range (b below 1) is no bias. Only a linear
    slope is removed: a judge with a ceiling below people's can show a correlation. The measure assumes that a
    rater's severity is the same on all items. It estimates and removes severities once, and removes means
    within teams of linked raters. The deviations contain people's errors, so the value is nearer to 0 than
    the correlation of e and e'. At 0 the judge's errors on the dimensions are independent; above 0 one
    impression affects several. The interval resamples documents. The control permutes the residuals of each
    dimension separately. Undefined without two dimensions whose values vary and on which raters agree beyond
    chance.
    """
    measure = BiasMeasure(
        "correlated_errors", "Correlation of errors between dimensions", _SOURCE, 0.0, (-1, 1)
    )
    halo = _whole_items(dimensions)
    found = _of_documents(measure, halo, halo.of_errors, generator)
    if not found.measured.defined:
        return found
    dice = generator_of(generator, measure.name, "control")
    whole, remainders = np.ones((1, halo.size)), halo.remainders()
    controls = (
        # Each column is permuted by itself, which breaks the link between dimensions.
        float(replace(halo, judge=dice.permuted(remainders, axis=0)).of_errors(whole)[0])
        for _ in range(CONTROLS)
    )
    return replace(found, control=control_of(controls, f"{DEALT}, in each dimension"))


def correlation_beyond_people(dimensions: Sequence[Scores], *, generator: Randomness) -> Bias:
    """The mean over pairs of dimensions of r between the judge's values, minus the r that quality explains.

    dimensions, b: as in `correlated_errors`. A judge that follows quality with the slopes b and b', and errs
    on each dimension by itself, has r = b b' cov(q, q') over its standard deviations, whatever its slopes and
    its errors. Above 0 its dimensions go together more than that: by common errors, or since one dimension's
    quality enters the other's value. The value without bias needs no control. Undefined as there.
    """
    label = "Correlation between dimensions beyond that of people"
    measure = BiasMeasure("correlation_beyond_people", label, _SOURCE, 0.0, (-1, 1))
    halo = _whole_items(dimensions)
    return _of_documents(measure, halo, halo.beyond_people, generator)


@dataclass(frozen=True, eq=False)
class _Dimensions:
    """Values of judge (items, dimensions) and people (raters, items, dimensions); documents, teams (items,).

    People's values are without severity, and means are removed within teams (`without_severity`).
    """

    judge: FloatArray
    human: FloatArray
    documents: IntArray
    teams: IntArray
    size: int

    def of_errors(self, weights: FloatArray) -> FloatArray:
        """(replicates,): `correlated_errors`."""
        judge, crossed, means, people, slopes = self._moments(weights)
        # cov(f - b q, f' - b' q'), expanded; cov(q, q') is the covariance of different raters.
        with_other = crossed * slopes[:, None, :]
        common = judge - with_other - with_other.swapaxes(1, 2)
        common += slopes[:, :, None] * slopes[:, None, :] * people
        # The variances of f - b v, with people's mean v instead of q, which is not observed.
        own, own_crossed, own_means = (_diagonal(each) for each in (judge, crossed, means))
        return self._mean_of_pairs(common, own - 2 * slopes * own_crossed + slopes**2 * own_means)

    def beyond_people(self, weights: FloatArray) -> FloatArray:
        """(replicates,): `correlation_beyond_people`."""
        judge, _, _, people, slopes = self._moments(weights)
        beyond = judge - slopes[:, :, None] * slopes[:, None, :] * people
        return self._mean_of_pairs(beyond, _diagonal(judge))

    def remainders(self) -> FloatArray:
        """(items, dimensions): f - b v, minus the mean of its team."""
        slopes = self._moments(np.ones((1, self.size)))[-1][0]
        # A dimension on which raters do not agree has no slope; its values stay as they are.
        known = np.where(np.isnan(slopes), 0.0, slopes)
        return minus_means(self.judge - known * np.nanmean(self.human, axis=0), self.teams)

    def agreement(self, weights: FloatArray) -> FloatArray:
        """(replicates,): the second largest w x; NaN if raters agree on fewer than two dimensions."""
        # A correlation needs agreement on two dimensions, so the second largest decides.
        found = np.sort(_diagonal(self._moments(weights)[3]), axis=1)[:, -2]
        return np.asarray(np.where(found > _LEAST, found, np.nan))

    def _moments(
        self, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return sums of products (replicates, dimensions, dimensions) of judge and judge, judge and people,
        people's means, different people; and the slopes (replicates, dimensions), NaN without agreement.
        """
        width = self.judge.shape[1]
        moments = self._within_teams(weights).reshape(len(weights), 4, width, width)
        judge, crossed, means, people = np.moveaxis(moments, 1, 0)
        # w x' and x w' estimate the same covariance; only their mean is symmetric.
        people = (people + people.swapaxes(1, 2)) / 2
        shared = _diagonal(people)
        return judge, crossed, means, people, divide_where(shared > _LEAST, _diagonal(crossed), shared)

    @cached_property
    def _within_teams(self) -> Statistic:
        # Centred values keep the digits of products; the moments do not change.
        judge, middle = self.judge - self.judge.mean(axis=0), np.nanmean(self.human, axis=(0, 1))
        found = instruments(self.human - middle)
        rounds = ((usable, np.column_stack([judge[usable], w, x])) for usable, w, x in found)
        return moments_within(rounds, self.documents, self.teams, self.size, _products)

    def _mean_of_pairs(self, covariances: FloatArray, variances: FloatArray) -> FloatArray:
        first, second = np.triu_indices(self.judge.shape[1], k=1)
        scale = np.sqrt(np.maximum(variances[:, first] * variances[:, second], 0))
        pairs = covariances[:, first, second]
        # Covariances of different raters may exceed the variances, so r is cut to -1..1.
        found = np.clip(divide_where((scale > _LEAST) & ~np.isnan(pairs), pairs, scale), -1, 1)
        known = ~np.isnan(found)
        return divide_where(known.any(axis=1), np.nansum(found, axis=1), known.sum(axis=1))


def _products(values: FloatArray) -> FloatArray:
    """(..., 4 d d), from values (..., 3 d): judge and judge, judge and people's mean, its square, w and x."""
    judge, w, x = np.split(values, 3, axis=-1)
    v = (w + x) / 2
    pairs = (judge, judge), (judge, v), (v, v), (w, x)
    products = np.stack([one[..., :, None] * other[..., None, :] for one, other in pairs], axis=-3)
    return products.reshape(*values.shape[:-1], -1)


def _diagonal(values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("rdd->rd", values))


def _whole_items(dimensions: Sequence[Scores]) -> _Dimensions:
    if len({each.human.shape for each in dimensions}) > 1:
        raise ValueError("The dimensions have the same items and raters, in the same order.")
    if len(dimensions) < 2:
        nobody = np.empty(0, dtype=np.intp)
        return _Dimensions(np.empty((0, 1)), np.empty((0, 0, 1)), nobody, nobody, 0)
    judge = np.column_stack([each.judge for each in dimensions])
    human = np.stack([each.human for each in dimensions], axis=2)
    # A rater with a gap on one dimension of an item does not count for the item.
    human = np.where(np.isnan(human).any(axis=2, keepdims=True), np.nan, human)
    whole = ~np.isnan(judge).any(axis=1) & ((~np.isnan(human[:, :, 0])).sum(axis=0) > 1)
    documents = np.unique(dimensions[0].documents[whole], return_inverse=True)[1]
    human, teams = without_severity(human[:, whole])
    return _Dimensions(judge[whole], human, documents, teams, int(documents.max(initial=-1)) + 1)


def _of_documents(
    measure: BiasMeasure, halo: _Dimensions, statistic: Statistic, generator: Randomness
) -> Bias:
    why, items = _explain_undefined(halo), len(halo.judge)
    measured = measure.of_documents(statistic if halo.size else nothing, halo.size, items, why, generator)
    if measured.defined:
        measured = with_reason_of_interval(measure, measured, halo.agreement, halo.size, generator)
    return Bias(measured, measure.without)


def _explain_undefined(halo: _Dimensions) -> str:
    if not halo.size:
        return _NEEDS
    if np.count_nonzero(np.ptp(halo.judge, axis=0) > _LEAST) < 2:
        return JUDGE_IS_CONSTANT
    no_agreement = np.isnan(halo.agreement(np.ones((1, halo.size)))[0])
    return NO_COMMON_QUALITY if no_agreement else _NO_REMAINDER


def scores_given_before(
    before: FloatArray, after: FloatArray, ranges_before: Sequence[Range], ranges: Sequence[Range]
) -> IntArray:
    """(ranges before, ranges): the number of times a score on one dimension followed each score on the
    previous dimension.

    before, after: of one shape, such as (items, samples) of a judge or (raters, items) of people, NaN for a
    gap; only pairs without a gap count. A value between two ranges, as on a judge's own scale, counts in the
    nearer one, a half in the upper one. Source: Stureborg, Alikaniotis and Suhara 2024, fig. 4.
    """
    both = ~np.isnan(before) & ~np.isnan(after)
    counts = np.zeros((len(ranges_before), len(ranges)), dtype=np.intp)
    np.add.at(counts, (_range_of(before[both], ranges_before), _range_of(after[both], ranges)), 1)
    return counts


def ranges_of(points: Sequence[float]) -> list[Range]:
    """Each point (points,) of a scale as its own range; a scale of over ten points has ten ranges."""
    parts = np.array_split(np.asarray(points, dtype=float), min(len(points), MOST_RANGES))
    return [(float(part[0]), float(part[-1])) for part in parts]


def _range_of(values: FloatArray, ranges: Sequence[Range]) -> IntArray:
    highest, lowest = (np.array([each[end] for each in ranges]) for end in (1, 0))
    # Borders are halfway between ranges; the side puts a half into the upper one.
    return np.searchsorted((highest[:-1] + lowest[1:]) / 2, values, side="right")
