"""Which systems differ, from judgments and ratings: paired differences on the same documents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy

from agreement import Interval, holm_by_key
from agreement.comparison import Scores
from agreement.reliability.betting import guaranteed_mean
from agreement.reliability.estimates import Estimate, with_interval
from agreement.reliability.sample import RatedSample
from agreement.reliability.weighted import combined_estimate
from agreement.streams import Randomness, substream
from agreement.system_differences import levels_of, paired_difference


@dataclass(frozen=True)
class Difference:
    """Mean human score of the first system minus the mean of the second, over the documents that both have.

    estimate: its interval at the requested confidence level, for this pair alone. guaranteed: from people
    only, also for this pair alone; None if not requested. paired: True if both systems were rated on the same
    documents. simultaneous_low, simultaneous_high: an interval that holds for all pairs at once (Bonferroni).
    p_value: two-sided, for no difference; None if the difference is known. adjusted_p_value: by Holm over all
    pairs that have one; differs: True if it is <= 1 - confidence level.
    """

    first: str
    second: str
    paired: bool
    estimate: Estimate
    guaranteed: Estimate | None
    simultaneous_low: float | None
    simultaneous_high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    differs: bool


@dataclass(frozen=True)
class Betting:
    """The settings of guaranteed intervals: the ends of the scale, and the order of ratings.

    beyond_batch: True if they are about the population behind the batch.
    """

    low: float
    high: float
    generator: Randomness
    beyond_batch: bool = False

    def of(self, *names: str) -> "Betting":
        """Return the same for some systems, whose order of ratings is their own."""
        return replace(self, generator=substream(self.generator, *names))


def pairwise_differences(
    scores: Scores,
    *,
    drawn: Sequence[RatedSample] | None = None,
    confidence_level: float = 0.95,
    betting: Betting | None = None,
    beyond: bool = False,
) -> tuple[Difference, ...]:
    """Every pair of systems: the difference of mean human scores, from all judgments and the rated documents.

    With D the difference of mean human scores on a document and g the difference of the judge's values, the
    regression estimate of the mean of D over the documents with outputs of both systems: differences between
    documents cancel. Pairs with fewer than 3 documents rated for both use the two systems' own estimates if
    they share no rated document, with the variances added and Welch's degrees of freedom; else they are
    undefined. Rated documents must be a simple random sample of all, unless `drawn` gives each system's units
    (in the order of `scores.system_names`) with the probabilities of their individual sampling. Then a pair
    with an unrated unit uses the two systems' own `combined_estimate`, with the variances added, since units
    were sampled independently. For these outputs this is right. Beyond them it counts the common part of two
    systems' outputs on one document twice, and is too wide, not too narrow. beyond: these documents are
    themselves a sample; if all of them are rated, the result equals `system_differences`. Otherwise the
    difference of a pair whose documents are all rated is known, and has no p value. With `betting` each pair
    also has a guaranteed interval (`guaranteed_difference`). Source: Cochran 1977, section 7; Holm 1979.
    """
    judge, people = scores.by_document(scores.judge), scores.by_document(scores.human_means)
    present = scores.by_document(np.ones(len(scores.judge))) == 1
    found = []
    pairs = list(combinations(range(len(scores.system_names)), 2))
    levels = levels_of(confidence_level, len(pairs))
    for one, other in pairs:
        both = present[:, one] & present[:, other]
        first, second = (
            RatedSample(judge=judge[both, side], human=people[both, side]) for side in (one, other)
        )
        names = scores.system_names[one], scores.system_names[other]
        sides = first, second
        apart = drawn is not None and any(drawn[side].ratings < drawn[side].units for side in (one, other))
        if drawn is not None and apart:
            sides = drawn[one], drawn[other]
        difference = _difference(*sides, names, levels, beyond=beyond, apart=apart)
        if betting:
            own = replace(betting.of(*names), beyond_batch=beyond)
            sure = guaranteed_difference(*sides, own, apart=apart, confidence_level=confidence_level)
            difference = replace(difference, guaranteed=sure)
        found.append(difference)
    return _adjust_p_values(found, 1 - confidence_level)


def difference_of(first: RatedSample, second: RatedSample) -> RatedSample:
    """The differences of two systems on the same documents, in the same order, as a separate sample.

    For other estimates of a difference: `prediction_powered`, or `guaranteed_mean` with low - high to high -
    low of the scale.
    """
    return RatedSample(judge=first.judge - second.judge, human=first.human - second.human)


def guaranteed_difference(
    first: RatedSample,
    second: RatedSample,
    betting: Betting,
    *,
    apart: bool = False,
    confidence_level: float = 0.95,
) -> Estimate:
    """The mean difference of two systems with an interval that is valid at any size, from people only.

    `guaranteed_mean` of the differences on documents rated for both. Without any, or with `apart` (units
    sampled individually), the two systems' own intervals, each with half of 1 - confidence_level: from low -
    high' to high - low'.
    """
    pairs = None if apart else difference_of(first, second)
    if pairs is not None and pairs.ratings:
        reach = betting.high - betting.low
        ends = replace(betting, low=-reach, high=reach)
        return guaranteed_mean(pairs, **vars(ends), confidence_level=confidence_level)
    level = (1 + confidence_level) / 2
    means = [guaranteed_mean(side, **vars(betting), confidence_level=level) for side in (first, second)]
    one, other = (mean.interval for mean in means)
    if one is None or other is None:
        return replace(means[0], value=None, interval=None, reason=means[0].reason or means[1].reason)
    both = Interval(one.low - other.high, one.high - other.low, "guaranteed, betting", confidence_level)
    return replace(means[0], value=(means[0].value or 0) - (means[1].value or 0), interval=both)


def _difference(
    first: RatedSample,
    second: RatedSample,
    names: tuple[str, str],
    levels: tuple[float, float],
    *,
    beyond: bool,
    apart: bool,
) -> Difference:
    pairs = None if apart else difference_of(first, second)
    if beyond and pairs is not None and pairs.ratings == pairs.units:
        # Where people rated everything the judge adds nothing, and the page of systems says the
        # same.
        own = paired_difference(pairs.human, *names, levels)
        ends = None
        if own.low is not None and own.high is not None:
            ends = Interval(own.low, own.high, "asymptotic, t", levels[0])
        estimate = Estimate(
            "system_differences",
            "Paired differences",
            "Student 1908",
            own.value,
            own.reason if own.value is None else None,
            pairs.ratings,
            pairs.units,
            interval=ends,
            interval_reason=own.reason or None,
        )
        low, high = own.simultaneous_low, own.simultaneous_high
        return Difference(*names, True, estimate, None, low, high, own.p_value, None, False)
    paired = pairs is not None and pairs.ratings > 0
    if pairs is not None and paired:
        estimate = combined_estimate(pairs, confidence_level=levels[0], beyond=beyond)
    else:
        means = [
            combined_estimate(side, confidence_level=levels[0], beyond=beyond) for side in (first, second)
        ]
        estimate = _subtract_means(means[0], means[1], levels[0])
    low, high = _simultaneous(estimate, levels[1])
    return Difference(*names, paired, estimate, None, low, high, _p_value(estimate), None, False)


def _subtract_means(first: Estimate, second: Estimate, confidence_level: float) -> Estimate:
    """The difference of two independent estimates, with Welch's degrees of freedom."""
    empty = Estimate(
        "unpaired_regression",
        "Difference of two regression estimates",
        "Welch 1947",
        None,
        None,
        first.ratings + second.ratings,
        first.units,
    )
    for each in (first, second):
        if each.value is None:
            return replace(empty, reason=each.reason)
    warnings = tuple(dict.fromkeys(first.warnings + second.warnings))
    found = replace(empty, value=(first.value or 0) - (second.value or 0), warnings=warnings)
    errors = [each.standard_error for each in (first, second)]
    freedoms = [each.degrees_of_freedom for each in (first, second)]
    if None in errors or None in freedoms:
        return replace(found, interval_reason=first.interval_reason or second.interval_reason)
    variances = np.array(errors, dtype=float) ** 2
    total = float(variances.sum())
    freedom = total**2 / float(np.sum(variances**2 / np.array(freedoms, dtype=float))) if total > 0 else None
    return with_interval(found, total, freedom, confidence_level, complete=total == 0)


def _p_value(estimate: Estimate) -> float | None:
    """None if the difference is known: there is nothing to test."""
    if estimate.value is None or not estimate.standard_error:
        return None
    t = abs(estimate.value) / estimate.standard_error
    if estimate.degrees_of_freedom is None:
        return float(2 * scipy.special.ndtr(-t))
    return float(2 * scipy.special.stdtr(estimate.degrees_of_freedom, -t))


def _simultaneous(estimate: Estimate, level: float) -> tuple[float | None, float | None]:
    if estimate.standard_error is None:
        return None, None
    variance, freedom = estimate.standard_error**2, estimate.degrees_of_freedom
    interval = with_interval(estimate, variance, freedom, level, complete=True).interval
    return (None, None) if interval is None else (interval.low, interval.high)


def _adjust_p_values(differences: Sequence[Difference], significance_level: float) -> tuple[Difference, ...]:
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(differences)})
    return tuple(
        replace(
            each,
            adjusted_p_value=adjusted.get(index),
            differs=adjusted.get(index, 1.0) <= significance_level,
        )
        for index, each in enumerate(differences)
    )
