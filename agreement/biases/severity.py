"""Severity and use of the scale: the distribution of a judge's values compared with people's.

Also the spread of a judge's own samples, and a preference for round numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import Coefficient, Resampling, bias, mean_values
from agreement.biases.measures import (
    NEITHER,
    NO_SECOND_RATER,
    Bias,
    BiasMeasure,
    Control,
    beside_people,
    judged_by_both,
)
from agreement.bootstrap import Statistic, independent, nothing, ratio_of_sums, resampled_interval
from agreement.comparison import Scores, bin_values
from agreement.data import FloatArray, divide_where
from agreement.streams import Randomness
from agreement.student import sum_by_document

_SOURCE = "means over the same items, in points of the scale"


def severity(scores: Scores, *, generator: Randomness) -> Bias:
    """mean (f - h) in points of the scale; below 0 the judge is more severe than people.

    The control is each person compared with the mean of the others. The interval resamples documents.
    Undefined without items that have both values.
    """
    plan = Resampling(by="documents")
    measured = bias(
        scores.judge, scores.human_means, documents=scores.documents, generator=generator, resampling=plan
    )
    pairs = _pair_with_others(judged_by_both(scores).human)
    alone = (bias(one, mean_values(others)).value for one, others in pairs)
    return beside_people(measured, 0.0, (each for each in alone if each is not None))


def spread_ratio(scores: Scores, *, generator: Randomness) -> Bias:
    """The judge's standard deviation over the mean of each person's, on the same items.

    The control is each person's deviation over the mean of the others'. Below 1 is central tendency or a
    narrow range. Undefined if no person's values vary. The interval leaves out each document in turn and is
    computed for the logarithm (Efron and Tibshirani 1993, chapter 11): the percentile bootstrap of few
    documents, or of values near an end of the scale, called .07 to .11 of judges without the bias narrow or
    wide at 5 %.
    """
    both = judged_by_both(scores)
    documents = len(both.document_labels)
    measure = BiasMeasure("spread_ratio", "SD of the judge / SD of a person", _SOURCE, 1.0, (0.0, np.inf))
    # Sums by document: the deviations of all resamples are products of matrices.
    tables = []
    for values in (both.judge, *both.human):
        given, filled = ~np.isnan(values), np.nan_to_num(values)
        moments = np.column_stack([given, filled, filled**2])
        tables.append(sum_by_document(moments, both.documents, documents))

    def ratios(weights: FloatArray) -> FloatArray:
        deviations = []
        for table in tables:
            number, total, squares = (weights @ table).T
            number = np.where(number > 0, number, np.nan)
            # Rounding may put the variance of equal values just below 0.
            deviations.append(np.sqrt(np.maximum(squares / number - (total / number) ** 2, 0)))
        of_people = mean_values(np.array(deviations[1:])) if deviations[1:] else nothing(weights)
        return divide_where(of_people > 0, deviations[0], of_people)

    def logarithms(weights: FloatArray) -> FloatArray:
        found = ratios(weights)
        return np.log(np.where(found > 0, found, np.nan))

    why = "The values of people do not vary." if len(both.judge) else NEITHER
    measured = measure.of_documents(ratios, documents, len(both.judge), why, None)
    if measured.value == 0:
        constant = "The judge’s values do not vary, so the ratio is 0 throughout."
        measured = replace(measured, interval_reason=constant)
    elif measured.defined:
        # A limit above the number of documents selects the jackknife.
        leave_one_out = Resampling(by="documents", jackknife_below=documents + 1)
        interval, reason = resampled_interval(
            logarithms, independent(documents, "documents"), generator, leave_one_out, (-np.inf, np.inf)
        )
        if interval:
            low, high = np.exp([interval.low, interval.high]).tolist()
            interval = replace(interval, low=low, high=high, method=f"{interval.method}, of the logarithm")
        measured = replace(measured, interval=interval, interval_reason=reason)
    return beside_people(measured, 1.0, _ratios_of_people(both.human))


def modal_excess(scores: Scores, points: FloatArray, *, generator: Randomness) -> Bias:
    """The share of the judge's most frequent point minus the share of people's, from -1 to 1.

    points: (points,) of the scale, ascending; the judge's values are rounded to the nearest. Above 0 the
    judge gives one point more often than people give theirs. The control is the same difference of each
    person and the others.
    """
    measure = BiasMeasure("modal_excess", "Share of the most frequent value, judge minus people", _SOURCE)
    return _compare_shares(
        measure, lambda one, other: one.max(axis=1) - other.max(axis=1), scores, points, generator
    )


def distribution_distance(scores: Scores, points: FloatArray, *, generator: Randomness) -> Bias:
    """Wasserstein's distance of the judge's values and people's ratings, in points of the scale.

    sum over points of |F_judge - F_people|, the cumulated shares, times the step between points: the distance
    values would have to move on average. It is above 0 by chance alone. So it counts as a bias only if its
    interval is above the distance of each person and the others. points: (points,) of the scale, ascending.
    Source: Vallender 1974, Theory of Probability and its Applications 18.
    """
    measure = BiasMeasure(
        "distribution_distance", "Wasserstein’s distance of values", "Vallender 1974", 0.0, (0.0, np.inf)
    )

    def distances(one: FloatArray, other: FloatArray) -> FloatArray:
        apart = np.abs(np.cumsum(one, axis=1) - np.cumsum(other, axis=1))
        # The last cumulated share is 1 on both sides.
        return np.asarray(apart[:, :-1] @ np.diff(points))

    return replace(_compare_shares(measure, distances, scores, points, generator), one_sided=True)


_Compare = Callable[[FloatArray, FloatArray], FloatArray]


def _compare_shares(
    measure: BiasMeasure,
    compare: _Compare,
    scores: Scores,
    points: FloatArray,
    generator: Randomness,
) -> Bias:
    both = judged_by_both(scores)
    # With an axis of raters, as people's values have.
    judge = bin_values(both.judge, points)[None]
    statistic = _shares_compared(compare, both, judge, both.human, points)
    measured = measure.of_documents(statistic, len(both.document_labels), len(both.judge), NEITHER, generator)
    whole = np.ones((1, len(both.document_labels)))
    people = (
        float(_shares_compared(compare, both, one[None], others, points)(whole)[0])
        for one, others in _pair_with_others(both.human)
    )
    return beside_people(measured, measure.without, people)


def _shares_compared(
    compare: _Compare, both: Scores, one: FloatArray, other: FloatArray, points: FloatArray
) -> Statistic:
    # (documents, points): the number of times each point occurs.
    tables = [
        sum_by_document(
            (values[:, :, None] == points).sum(axis=0).astype(float),
            both.documents,
            len(both.document_labels),
        )
        for values in (one, other)
    ]

    def distance(weights: FloatArray) -> FloatArray:
        counts = [weights @ table for table in tables]
        totals = [each.sum(axis=1, keepdims=True) for each in counts]
        return compare(
            *(divide_where(total > 0, each, total) for each, total in zip(counts, totals, strict=True))
        )

    return distance


def _ratios_of_people(human: FloatArray) -> Iterator[float]:
    for one, others in _pair_with_others(human):
        of_others = [np.nanstd(other) for other in others if not np.isnan(other).all()]
        # A person without values, or with others that do not vary, has no ratio.
        if not np.isnan(one).all() and of_others and np.mean(of_others) > 0:
            yield float(np.nanstd(one) / np.mean(of_others))


def _pair_with_others(human: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Each person's values (items,) with the values of the others (raters, items); none for a person who
    rated alone.
    """
    if len(human) > 1:
        for index, one in enumerate(human):
            yield one, np.delete(human, index, axis=0)


_SPREAD_OF_SAMPLES = BiasMeasure(
    "spread_of_samples", "SD of an item’s samples", "standard deviation within items", 0.0, (0.0, np.inf)
)
_BEYOND_PEOPLE = BiasMeasure(
    "spread_beyond_people",
    "SD of an item’s samples minus that of its raters",
    "standard deviation within items",
)
_NO_TWO_SAMPLES = (
    "No item has two samples; ask the judge more than once about the same items, above temperature 0."
)


def spread_of_samples(
    samples: FloatArray, human: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> Bias:
    """The square root of the mean over items of the variance (n - 1) of a judge's samples, in points.

    samples: (items, samples) on the dimension's scale; human: (raters, items). 0 if the judge repeats itself.
    The control is people: the same root for the values of an item's raters. Variances are unbiased at every
    number of samples or raters. The judge has a bias if its spread surely exceeds people's: the interval of
    the difference, on items with both, is above 0. Intervals resample documents (items,).
    """
    own, of_people = _variances(samples.T), _variances(human)
    documents, known = np.asarray(documents), ~np.isnan(own)
    measured = _root_mean(_SPREAD_OF_SAMPLES, own[known, None], np.ones(1), documents[known], generator)
    if not measured.defined:
        return Bias(measured, 0.0, one_sided=True)
    both = known & ~np.isnan(of_people)
    if not both.any():
        return Bias(measured, 0.0, one_sided=True, control_reason=NO_SECOND_RATER)
    # The judge's spread minus people's, on the items that have both.
    variances = np.column_stack([own, of_people])[both]
    spread = float(np.sqrt(variances[:, 1].mean()))
    beyond = _root_mean(_BEYOND_PEOPLE, variances, np.array([1.0, -1.0]), documents[both], generator)
    control = Control(spread, spread, spread, "people who rate one item, on average")
    return Bias(measured, 0.0, control, one_sided=True, beyond=beyond)


def _root_mean(
    measure: BiasMeasure,
    variances: FloatArray,
    signs: FloatArray,
    documents: npt.NDArray[Any],
    generator: Randomness,
) -> Coefficient:
    """The roots of the mean variances (items, sides), added with signs (sides,)."""
    labels, number = np.unique(documents, return_inverse=True)
    sums = sum_by_document(np.column_stack([np.ones(len(variances)), variances]), number, len(labels))

    def statistic(weights: FloatArray) -> FloatArray:
        totals = weights @ sums
        return np.asarray(np.sqrt(totals[:, 1:] / totals[:, :1]) @ signs)

    return measure.of_documents(statistic, len(labels), len(variances), _NO_TWO_SAMPLES, generator)


def _variances(values: FloatArray) -> FloatArray:
    """(items,): the variance of values (raters, items), NaN if an item has fewer than two."""
    given = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(given, 1)
    squares = np.nansum((values - mean) ** 2, axis=0)
    return divide_where(given > 1, squares, given - 1)


LEAST_POINTS = 20
"""A scale with fewer points has no round numbers to speak of."""
_TOO_NARROW = (
    "The middle 90 % of the judge’s answers do not cover three multiples of {step}, so a peak cannot be told "
    "from a preference."
)
_ROUND_NUMBERS_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, fig. 3"


@dataclass(frozen=True)
class RoundNumbers:
    """Shares of multiples of five and of ten among answers, each minus their share among the scale's
    points.
    """

    fives: Bias
    tens: Bias


def round_numbers(
    samples: FloatArray, documents: npt.ArrayLike, lowest: int, highest: int, *, generator: Randomness
) -> RoundNumbers:
    """The share of answers that 5 (10) divides, minus 1/5 (1/10).

    samples: (items, samples) as read on the judge's own scale, NaN for a gap; every sample counts once. Each
    multiple between the ends of the scale is compared with the answers around it, up to halfway to the next,
    of which evenly spread answers have a fifth (tenth) in the middle. Answers nearer to an end do not count:
    a judge without a preference also gives the ends, which are round, to the best and worst outputs. 0
    without a preference for round numbers. The interval resamples documents (items,). Undefined on scales of
    fewer than 20 points, and if the middle 90 % of the counted answers do not cover three multiples (two
    steps): a peak at a multiple is no preference.
    """
    points = highest - lowest + 1
    of, number = np.unique(np.asarray(documents), return_inverse=True)
    why = "No answer is near a round number between the ends of the scale."
    if points < LEAST_POINTS:
        why = (
            f"The judge answers on a scale of {points} points, where no number is rounder than others; "
            "ask on 1 to 100 to see it."
        )

    def of_divisor(divisor: int) -> Bias:
        # The first and the last multiple strictly between the ends of the scale.
        least, most = (lowest // divisor + 1) * divisor, (-(-highest // divisor) - 1) * divisor
        # The distance beyond the windows around these multiples; an answer on the border counts half.
        beyond = np.maximum(least - samples, samples - most) - divisor / 2
        counted = np.where(np.isnan(samples), 0.0, np.where(beyond < 0, 1.0, 0.5 * (beyond == 0)))
        # 1 - 1/d for a multiple and -1/d for others, so evenly spread answers sum to 0.
        excess = counted * ((np.mod(np.where(np.isnan(samples), 1, samples), divisor) == 0) - 1 / divisor)
        parts, wholes = (sum_by_document(each.sum(axis=1), number, len(of)) for each in (excess, counted))
        label = f"Share of multiples of {divisor} minus 1/{divisor}, between the ends of the scale"
        measure = BiasMeasure(f"multiples_of_{divisor}", label, _ROUND_NUMBERS_SOURCE, 0.0, (-1, 1))
        answers = samples[counted > 0]
        narrow = len(answers) > 0 and np.ptp(np.quantile(answers, [0.05, 0.95])) < 2 * divisor
        size = len(of) if points >= LEAST_POINTS and not narrow else 0
        items = int((counted > 0).any(axis=1).sum())
        reason = _TOO_NARROW.format(step=divisor) if narrow and points >= LEAST_POINTS else why
        return Bias(measure.of_documents(ratio_of_sums(parts, wholes), size, items, reason, generator), 0.0)

    return RoundNumbers(of_divisor(5), of_divisor(10))
