"""The parts of every measure of a bias: a value with an interval, and a control without the bias.

The errors of a judge with a narrow range depend on quality. They therefore correlate with everything that
correlates with quality. So for the effect of a cause, the judge's values are regressed on people's quality
and on the cause. A mean of few ratings is quality with errors, which would bias both slopes. One rater of an
item, whose errors are independent of the others', is the instrument for the mean of the others (errors in
variables: Fuller 1987, Measurement Error Models, section 1.4).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from agreement import Coefficient, Counts, Resampling, spearman
from agreement.bootstrap import Statistic, nothing
from agreement.comparison import Scores, bin_values, meta_correlation
from agreement.data import FloatArray, IntArray, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness, generator_of
from agreement.student import sum_by_document

CONTROLS = 39
"""How many control judges there are: beyond the least and the largest of 39 a fortieth is in 5 % of cases."""
DEALT = "the judge’s own errors, dealt to other items at random"
PEOPLE = "each person beside the others"
NO_SECOND_RATER = "A second rater is needed for a control."
NEITHER = "No item has both a value of the judge and one of people; let both judge the same items."


@dataclass(frozen=True)
class Control:
    """The measure of judges without the bias, or of people: mean, least and largest, and who they are."""

    mean: float
    least: float
    largest: float
    of: str


@dataclass(frozen=True)
class Bias:
    """A measure of a bias.

    measured: the value, or the missing data. without: the value without bias. control: the measure of judges
    without the bias; None if the measure needs no control, has no value, or has no control for the reason in
    control_reason. one_sided: True if the measure, such as a distance, is above `without` by chance alone:
    only a value above the control counts. beyond: the measure minus the control's, if both are resampled.
    """

    measured: Coefficient
    without: float
    control: Control | None = None
    one_sided: bool = False
    control_reason: str | None = None
    beyond: Coefficient | None = None

    @property
    def is_tested(self) -> bool:
        """Whether the measure has a value, and the control that it needs."""
        return self.measured.defined and self.control_reason is None

    @property
    def is_apart(self) -> bool | None:
        """Whether the interval leaves out the value without bias; None without an interval."""
        interval = self.measured.interval
        return None if interval is None else not interval.low <= self.without <= interval.high

    @property
    def is_found(self) -> bool:
        """Return True if the interval excludes the value without bias, and the value is outside the control.

        One-sided: True if the whole interval is above the largest control, or the interval of `beyond` is
        above 0.
        """
        value, interval, control = self.measured.value, self.measured.interval, self.control
        if value is None or interval is None or not self.is_tested:
            return False
        if self.beyond is not None:
            return self.beyond.interval is not None and self.beyond.interval.low > 0
        if self.one_sided:
            return control is not None and interval.low > control.largest
        return bool(self.is_apart) and not (control and control.least <= value <= control.largest)


@dataclass(frozen=True)
class BiasMeasure:
    """The name and source of a bias; `without` is its value without bias."""

    name: str
    label: str
    source: str
    without: float = 0.0
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def mean_of_items(
        self, values: FloatArray, documents: npt.NDArray[Any], why: str, generator: Randomness | None
    ) -> Coefficient:
        """The mean of values (items,), each of one of the documents (items,), any labels."""
        own = np.unique(documents, return_inverse=True)[1]
        weighted = Weighted.mean_of_items(self.name, self.label, self.source, values, own, self.bounds)
        return self.of_documents(weighted.statistic, weighted.size, len(values), why, generator)

    def of_documents(
        self, statistic: Statistic, size: int, items: int, why: str, generator: Randomness | None
    ) -> Coefficient:
        """The statistic of weighted documents (replicates, size) as a coefficient over `items` items."""
        weighted = Weighted(self.name, self.label, self.source, statistic, size, "documents", self.bounds)
        return weighted.coefficient(Counts.of_pairs(items, items), why, generator, Resampling(by="documents"))


def beside_people(measured: Coefficient, without: float, people: Iterable[float]) -> Bias:
    """The measure with the control of people; without a second rater it cannot be tested."""
    control = control_of(people, PEOPLE) if measured.defined else None
    reason = NO_SECOND_RATER if measured.defined and control is None else None
    return Bias(measured, without, control, control_reason=reason)


def judged_by_both(scores: Scores) -> Scores:
    """The items that have a value of the judge and one of people."""
    return scores.of_items(~np.isnan(scores.judge) & ~np.isnan(scores.human_means))


def errors_of(both: Scores) -> FloatArray:
    """(items,): the judge's value minus the mean of people."""
    return both.judge - both.human_means


def control_of(values: Iterable[float], of: str) -> Control | None:
    """The control of these values; undefined ones are excluded. None without any."""
    known = [value for value in values if not np.isnan(value)]
    return Control(float(np.mean(known)), min(known), max(known), of) if known else None


NO_TWO_RATERS = "At least two people must rate an item. Their agreement shows how reliable the ratings are."
NO_COMMON_QUALITY = "Two raters’ values show no common quality."
INSEPARABLE = "Quality and the cause vary together, so their effects cannot be separated."
JUDGE_IS_CONSTANT = "The judge’s values do not vary."
TOO_FEW_AGREE = (
    "In too many resamples of documents people’s ratings do not agree beyond chance, so quality cannot be "
    "separated from the cause."
)


def without_severity(human: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the ratings minus the severity of each rater, and the team of each item (items,).

    human: (raters, items, dimensions), NaN for a gap. Raters that are linked by common items are a team.
    Severities come from the least squares fit of rating = item + rater over all items with two raters. They
    sum to 0 within a team. Teams cannot be compared, so remove the means within teams from the result.
    """
    if not human.size:
        return human, np.zeros(human.shape[1], dtype=np.intp)
    given = np.asarray(~np.isnan(human).any(axis=2))
    shared = (given & (given.sum(axis=0) > 1)).astype(float)
    # An item without ratings contributes nothing, so any divisor but 0 serves.
    number = np.maximum(given.sum(axis=0), 1)
    # The normal equations of the raters, after the items have been eliminated.
    linked = (shared / number) @ shared.T
    filled = np.where(shared[:, :, None] > 0, human, 0.0)
    # Their right side: each rater's sum of deviations from the means of the items.
    deviations = (filled - shared[:, :, None] * filled.sum(axis=0) / number[:, None]).sum(axis=1)
    equations = np.diag(shared.sum(axis=1)) - linked
    # Each team has a free constant; the shortest solution makes the team's severities sum to 0.
    severities = np.linalg.pinv(equations, rcond=_LEAST, hermitian=True) @ deviations
    # Raters with a common item are linked; an item has the team of its first rater.
    teams = scipy.sparse.csgraph.connected_components(linked > 0, directed=False)[1]
    return human - severities[:, None, :], np.asarray(teams[given.argmax(axis=0)], dtype=np.intp)


def minus_means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Values (items, ...) minus the mean of their group."""
    number = np.maximum(np.bincount(groups), 1)
    sums = sum_by_document(values, groups, len(number))
    return np.asarray(values - (sums.T / number).T[groups])


def instruments(human: FloatArray) -> Iterator[tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]]:
    """Yield items, the ratings of one rater of each, and the means of their other raters.

    human: (raters, items, dimensions), NaN for a gap; a gap on one dimension of an item excludes the rater
    from the item. The first round uses the first rater of every item with two or more, the second round the
    second rater, and so on. Ratings and means are (items, dimensions). Gaps make the n-th rater a different
    one from item to item, so severities must have been removed (`without_severity`).
    """
    given = np.asarray(~np.isnan(human).any(axis=2))
    number = given.sum(axis=0)
    # Row n has the n-th rater of each item, since raters with a value come first.
    in_order = np.argsort(~given, axis=0, kind="stable")[: number.max(initial=0)]
    total = np.where(given[:, :, None], human, 0.0).sum(axis=0)
    for index, raters in enumerate(in_order):
        usable = (number > index) & (number > 1)
        ratings = human[raters[usable], usable.nonzero()[0]]
        yield usable, ratings, (total[usable] - ratings) / (number[usable] - 1)[:, None]


@dataclass(frozen=True, eq=False)
class CauseBeyondQuality:
    """judge = a_group + b quality + c cause, from items (items,) with a value of the judge and two people.

    In each round of `instruments`, w is one rater, x the mean of the others and v the mean of both, all minus
    the means of their groups. Either is the instrument for the other, and moments are added over rounds: sum
    v judge = b sum w x + c sum v cause, sum cause judge = b sum v cause + c sum cause^2. This is two-stage
    least squares over all choices of an instrument. A replicate is NaN if sum w x does not exceed the part
    that the cause explains. The ratings in scores are without the raters' severities (`without_severity`).
    """

    scores: Scores
    cause: FloatArray
    groups: IntArray

    def of_weights(self, weights: FloatArray) -> FloatArray:
        """(replicates, 2): b and c at weights (replicates, documents)."""
        quality, with_judge, shared, with_cause, alone = self._moments(weights).T
        # Cramer's rule for the two equations in b and c.
        determinant = quality * alone - shared**2
        # determinant / sum cause^2 is the part of sum w x that the cause does not explain.
        known = (alone > _LEAST) & (determinant > _LEAST * alone)
        slopes = with_judge * alone - shared * with_cause, quality * with_cause - shared * with_judge
        return np.stack([divide_where(known, each, determinant) for each in slopes], axis=1)

    def common_quality(self, weights: FloatArray) -> FloatArray:
        """(replicates,): sum w x, NaN if raters do not agree."""
        found = self._moments(weights)[:, 0]
        return np.asarray(np.where(found > _LEAST, found, np.nan))

    @cached_property
    def _moments(self) -> Statistic:
        """From weights to sums (replicates, 5) of the `_products` about the means of groups."""
        rounds = (
            (usable, np.column_stack([w, x, self._judge[usable], self.cause[usable]]))
            for usable, w, x in self._rounds
        )
        size = len(self.scores.document_labels)
        return moments_within(rounds, self.scores.documents, self.groups, size, _products)

    def remainders(self) -> FloatArray:
        """(items,): judge - b people's mean - c cause, minus the mean of its group."""
        whole = np.ones((1, len(self.scores.document_labels)))
        of_quality, of_cause = self.of_weights(whole)[0]
        left = self._judge - of_quality * self.scores.human_means - of_cause * self.cause
        return minus_means(left, self.groups)

    def of_judges(self, judges: FloatArray) -> FloatArray:
        """(judges,): c of other judges' values (judges, items), as c is a weighted sum of values."""
        moments = np.zeros(3)
        with_v, with_cause = np.zeros((2, len(self.cause)))
        for usable, w, x in self._rounds:
            w, x, cause = (minus_means(each, self.groups[usable]) for each in (w, x, self.cause[usable]))
            v = (w + x) / 2
            moments += w @ x, v @ cause, cause @ cause
            with_v[usable] += v
            with_cause[usable] += cause
        quality, shared, alone = moments
        # c as a weighted sum of the judge's values; all control judges then need one product.
        of_items = (quality * with_cause - shared * with_v) / (quality * alone - shared**2)
        return np.asarray(judges @ of_items)

    @property
    def _judge(self) -> FloatArray:
        return np.asarray(self.scores.judge - self.scores.judge.mean())  # fewer digits lost

    @property
    def _rounds(self) -> Iterator[tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]]:
        # Smaller numbers lose fewer digits in sums of products.
        middle = float(self.scores.human_means.mean())
        for usable, one, others in instruments(self.scores.human[:, :, None] - middle):
            yield usable, one[:, 0], others[:, 0]


_LEAST = 1e-9  # a smaller range or variance is rounding of 0


def _products(values: FloatArray) -> FloatArray:
    w, x, judge, cause = np.moveaxis(values, -1, 0)
    v = (w + x) / 2
    return np.stack([w * x, v * judge, v * cause, judge * cause, cause * cause], axis=-1)


def moments_within(
    rounds: Iterable[tuple[npt.NDArray[np.bool_], FloatArray]],
    documents: IntArray,
    groups: IntArray,
    size: int,
    products: Callable[[FloatArray], FloatArray],
) -> Statistic:
    """From weights (replicates, documents) to sums of products (replicates, products) about means of groups.

    rounds: the items, as of `instruments`, and their values (used items, columns); one at least. documents,
    groups: (items,). size: the number of documents. products: from values (..., columns) to (..., products).
    """
    number, tables = int(groups.max(initial=-1)) + 1, []
    for usable, values in rounds:
        own = documents[usable]
        # One index for each pair of a document and a group.
        cells = own * number + groups[usable]
        sums = sum_by_document(np.column_stack([np.ones(len(own)), values]), cells, size * number)
        tables.append((sums.reshape(size, number, -1), sum_by_document(products(values), own, size)))

    def moments(weights: FloatArray) -> FloatArray:
        found = np.zeros((len(weights), 1))
        for sums, of_documents in tables:
            totals = np.tensordot(weights, sums, axes=1)
            # Moments about the means of groups: sums of products minus products of sums over the number.
            of_means = products(totals[..., 1:]) / np.maximum(totals[..., :1], 1)
            found = found + weights @ of_documents - of_means.sum(axis=1)
        return found

    return moments


def judged_with_two(scores: Scores, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(items,): of the known items those with a value of the judge and of two people."""
    return np.asarray(known & ~np.isnan(scores.judge) & ((~np.isnan(scores.human)).sum(axis=0) > 1))


def beyond_quality(
    measure: BiasMeasure,
    scores: Scores,
    cause: FloatArray,
    groups: IntArray,
    why_alike: str,
    generator: Randomness,
) -> Bias:
    """The slope of the judge's values on a cause at equal quality, of items that `judged_with_two` chose.

    groups: (items,), each with its own mean. why_alike: the missing data if the cause does not vary. The
    model assumes that a rater's severity is the same on all items. It estimates severities once, so resamples
    keep them, and removes means within each team of linked raters. The control permutes the residuals across
    items. The interval resamples documents and estimates both slopes again.
    """
    human, teams = without_severity(scores.human[:, :, None])
    scores = scores.beside(human[:, :, 0], scores.judge)
    # Each group is divided by teams, as the means of two teams cannot be compared.
    groups = np.unique(groups * (teams.max(initial=0) + 1) + teams, return_inverse=True)[1]
    fit = CauseBeyondQuality(scores, cause, groups)
    size, items = len(scores.document_labels), len(cause)
    why = _explain_undefined(fit, why_alike)
    statistic = (lambda weights: fit.of_weights(weights)[:, 1]) if why is None else nothing
    measured = measure.of_documents(statistic, size, items, why or INSEPARABLE, generator)
    if not measured.defined:
        return Bias(measured, measure.without)
    measured = with_reason_of_interval(measure, measured, fit.common_quality, size, generator)
    # A separate stream, so that the control does not depend on the resamples of the interval.
    dice = generator_of(generator, measure.name, "control")
    # Each row is a judge whose residuals belong to other items, so the cause has no effect.
    dealt = dice.permuted(np.tile(fit.remainders(), (CONTROLS, 1)), axis=1)
    return Bias(measured, measure.without, control_of(fit.of_judges(dealt).tolist(), DEALT))


def _explain_undefined(fit: CauseBeyondQuality, why_alike: str) -> str | None:
    """Return the reason for a missing slope; None if there is a slope, or if quality and the cause are
    inseparable.
    """
    if not len(fit.cause):
        return NO_TWO_RATERS
    if np.ptp(minus_means(fit.cause, fit.groups)) <= _LEAST:
        return why_alike
    if np.ptp(minus_means(fit.scores.judge, fit.groups)) <= _LEAST:
        return JUDGE_IS_CONSTANT
    whole = np.ones((1, len(fit.scores.document_labels)))
    return NO_COMMON_QUALITY if np.isnan(fit.common_quality(whole)[0]) else None


def with_reason_of_interval(
    measure: BiasMeasure, measured: Coefficient, agreement: Statistic, size: int, generator: Randomness
) -> Coefficient:
    """The measure, whose interval lacks people's agreement if agreement, NaN without it, has none either."""
    if measured.interval is not None or size < 2:
        return measured
    alone = measure.of_documents(agreement, size, measured.counts.units, NO_COMMON_QUALITY, generator)
    return measured if alone.interval else replace(measured, interval_reason=TOO_FEW_AGREE)


def slope_beyond_quality(
    scores: Scores, property_of_items: FloatArray, name: str, label: str, *, generator: Randomness
) -> Bias:
    """c of f = a_system + b q + c z, in points of the scale for one standard deviation of the property.

    property_of_items: (items,), such as the logarithm of a length, NaN if unknown. z is it standardised by
    its mean and standard deviation over all used items; resamples keep these two. f is the judge, q quality
    as people see it, by `CauseBeyondQuality`. The measure removes the effect a_system of each system, so a
    system with long and good outputs is no bias. It removes b, so a narrow range is no bias. Above 0 the
    judge prefers more of the property than people do. The interval resamples documents. Undefined if the
    property does not vary within systems, without two raters of an item, and if raters do not agree. Source:
    Dubois and others 2024 (arXiv 2404.04475, length), Stureborg and others 2024 (familiarity).
    """
    judged = judged_with_two(scores, ~np.isnan(property_of_items))
    both, values = scores.of_items(judged), property_of_items[judged]
    spread = values.std() if len(values) else 0.0
    # Without spread every z is 0, and the fit then reports the missing variation.
    z = (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
    measure = BiasMeasure(f"slope_beyond_quality_{name}", label, _SLOPE_SOURCE)
    why = "This property does not vary within any system, so its effect cannot be estimated."
    return beyond_quality(measure, both, z, both.systems, why, generator)


_SLOPE_SOURCE = "Stureborg, Alikaniotis and Suhara 2024; two-stage least squares within systems"
_SELF_PREFERENCE = BiasMeasure(
    "self_preference",
    "Points for systems of its own family, at the same quality",
    "Wataoka, Takahashi and Ri 2024 (arXiv 2410.21819), for scores; two-stage least squares",
)
_UNKNOWN_FAMILY = (
    "Tag outputs with the family of their model, such as “family: gpt”. A judge belongs to a family if its "
    "model’s name contains the family’s name."
)


def self_preference(scores: Scores, own: FloatArray, *, generator: Randomness) -> Bias:
    """c of f = a + b q + c own, in points of the scale: the judge's bonus for outputs of the same family.

    own: (items,), 1 of its family, 0 of another, NaN unknown. q is quality as people see it, by
    `CauseBeyondQuality`, so a narrow range does not look like hostility to a good family. Above 0 the judge
    is kinder to its family than people are. The interval resamples documents. Undefined without items of both
    kinds, without two raters of an item, and if raters do not agree.
    """
    if len(np.unique(own[~np.isnan(own)])) < 2:
        unknown = _SELF_PREFERENCE.of_documents(nothing, 0, 0, _UNKNOWN_FAMILY, generator)
        return Bias(unknown, _SELF_PREFERENCE.without)
    judged = judged_with_two(scores, ~np.isnan(own))
    both = scores.of_items(judged)
    # One group, because a mean for each system would absorb the effect of its family.
    together = np.zeros(len(both.judge), dtype=np.intp)
    return beyond_quality(_SELF_PREFERENCE, both, own[judged], together, _UNKNOWN_FAMILY, generator)


def decline_with_quality(scores: Scores, measured: Coefficient, *, generator: Randomness) -> Bias:
    """M by Spearman: the correlation over systems of P with the mean human score; below 0 is a decline.

    measured: M with its interval, as `agreement.reliability.meta_correlation` gives it. The control deals the
    judge's errors at random: where systems are near the end of the scale M falls below 0 for any judge, since
    what does not vary correlates with nothing.
    Source: Shen and others 2023, table 6.
    """
    if not measured.defined:
        return Bias(measured, 0.0)
    both = judged_by_both(scores)
    dice, errors = generator_of(generator, "decline_with_quality", "control"), errors_of(both)
    found = (
        meta_correlation(both.of_judge(both.human_means + dice.permutation(errors)), spearman).value
        for _ in range(CONTROLS)
    )
    return Bias(measured, 0.0, control_of((np.nan if m is None else m for m in found), DEALT))


_FAMILIARITY = "Stureborg, Alikaniotis and Suhara 2024, table 1"
_NO_PERPLEXITY = "No text with a perplexity has this rating."


def perplexity_by_rating(
    scores: Scores, log_perplexity: FloatArray, points: FloatArray, *, generator: Randomness
) -> list[tuple[Coefficient, Coefficient]]:
    """The mean perplexity of the outputs at each point of a scale, by the judge's rating and by people's
    mean.

    log_perplexity: (items,), NaN if unknown. points: (points,), in order; a value between two counts as the
    nearer one, halfway as the upper. Only outputs with ratings of judge and people count, so both means use
    the same outputs. A judge that prefers familiar outputs has a mean that falls more steeply than people's.
    Intervals resample documents. Undefined at a point that no such output has.

    Source: Stureborg and others 2024, table 1.
    """
    usable = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(log_perplexity)
    both, perplexity = scores.of_items(usable), np.exp(log_perplexity[usable])
    judged, rated = (bin_values(each, points) for each in (both.judge, both.human_means))
    found = []
    for point in points:
        means = []
        for whose, values in (("judge", judged), ("people", rated)):
            name = f"perplexity_by_rating_{whose}_{point:g}"
            measure = BiasMeasure(name, "Mean perplexity", _FAMILIARITY, bounds=(0.0, np.inf))
            at, why = values == point, _NO_PERPLEXITY
            means.append(measure.mean_of_items(perplexity[at], both.documents[at], why, generator))
        found.append((means[0], means[1]))
    return found
