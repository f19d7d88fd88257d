"""Which systems differ, from judgments and ratings: paired differences on the same documents.

The guaranteed intervals of a mean bet against every value that a mean of a finite population could have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement import Interval, holm_by_key
from agreement.comparison import Scores
from agreement.data import FloatArray
from agreement.reliability.estimates import NO_RATING, Estimate, check_level, with_interval
from agreement.reliability.sample import RatedSample
from agreement.reliability.weighted import combined_estimate
from agreement.streams import Randomness, generator_of, substream
from agreement.student import satterthwaite_freedom, t_p_value
from agreement.system_differences import levels_of, paired_difference

Mask = npt.NDArray[np.bool_]

_GRID = 1_000
_CAP = 0.5  # of the largest stake that cannot lose everything


def betting_interval(
    values: npt.ArrayLike,
    units: int | None,
    *,
    low: float,
    high: float,
    confidence_level: float = 0.95,
    planned: int | None = None,
) -> tuple[float, float]:
    """An interval that contains the mean of `units` bounded values with at least the confidence level, at any
    n.

    units: N; None for a population without end, where m_t = m. values: (n,), sampled without replacement, in
    sampling order or in a random one; all values of the population are in low..high. With values scaled to
    0..1, for every mean m the capital of two gamblers is K+-(m) = prod_t (1 +- l_t (x_t - m_t)), m_t = (N m -
    S_{t-1}) / (N - t + 1) the mean of the rest if the mean is m, l_t = sqrt(2 ln(2 / a) / (n var_{t-1})) cut
    at .5 / m_t (.5 / (1 - m_t)), var_{t-1} from the values before with a prior of 1/4. m stays as long as
    max(K+, K-) / 2 < 1 / a at every t. The interval omits means that the rated values exclude, and each end
    moves out by one of 1,000 grid steps. planned: n in l_t, if you look at ratings as they arrive in sampling
    order: then the interval is valid at any time. Source: Waudby-Smith and Ramdas 2024, Estimating means of
    bounded random variables by betting, JRSS B 86, sections 4 and 5. Raises ValueError for values outside
    low..high or more than the units.
    """
    check_level(confidence_level)
    given = np.asarray(values, dtype=float)
    if not low < high:
        raise ValueError("The scale needs a low end below its high end.")
    if units is not None and (len(given) > units or units < 1):
        raise ValueError(f"There are {len(given)} values of {units} units.")
    if np.isnan(given).any() or (given < low - 1e-9).any() or (given > high + 1e-9).any():
        raise ValueError(f"Every value must lie between {low:g} and {high:g}.")
    scaled = np.clip((given - low) / (high - low), 0, 1)
    first, last = 0.0, 1.0
    if units is not None:
        # The sum of the rated values alone excludes smaller means; if all others are 1, larger ones.
        first, last = scaled.sum() / units, (scaled.sum() + units - len(scaled)) / units
    if len(scaled) and first < last:
        first, last = _unbeaten(scaled, units, first, last, 1 - confidence_level, planned or len(scaled))
    return low + (high - low) * float(first), low + (high - low) * float(last)


def guaranteed_mean(
    sample: RatedSample,
    *,
    low: float,
    high: float,
    generator: Randomness,
    confidence_level: float = 0.95,
    beyond_batch: bool = False,
) -> Estimate:
    """The mean human score of the batch with an interval that is valid at any size, from people only.

    `betting_interval` over the rated units in a random order. Units rated for certain (probability 1) are
    known; units that share another probability are a simple random sample given their number, and with
    several such groups each spends its share of 1 - confidence_level. With more than 4 probabilities, as
    after active sampling, units that were not certain are thinned: each remains with the least probability /
    its own, so that the remaining ones have one probability; the others are not used. low, high: the ends of
    the scale. The value is the mean from the groups. The interval is wide, but it keeps its level when
    asymptotic ones do not. Scores on a scale of 5 points need about 40 ratings for a useful interval.
    beyond_batch: the mean of the population that the batch is a random sample of instead; units of different
    probabilities are all thinned to the least. Undefined without ratings in a group, and after skips.
    """
    empty = Estimate("guaranteed", "Guaranteed (betting)", _SOURCE, None, None, sample.ratings, sample.units)
    shuffler = generator_of(generator, "guaranteed_mean")
    rated_units, groups = sample.rated, [np.ones(sample.units, dtype=bool)]
    if sample.probabilities is not None:
        groups = [sample.probabilities == chance for chance in np.unique(sample.probabilities)]
    if len(groups) > (1 if beyond_batch else _MOST_GROUPS):
        rated_units, groups = _thin(sample, shuffler, keep_certain=not beyond_batch)
    reason = _explain_missing(sample, rated_units, groups)
    if reason is not None:
        return replace(empty, reason=reason)
    # Bonferroni: each group spends its share of the error, and fully rated groups need none.
    uncertain = sum(not np.all(rated_units[group]) for group in groups)
    level = 1 - (1 - confidence_level) / max(uncertain, 1)
    value, ends = 0.0, np.zeros(2)
    for group in groups:
        rated = sample.human[group][rated_units[group]]
        share = group.sum() / sample.units
        order, units = shuffler.permutation(rated), None if beyond_batch else int(group.sum())
        value += share * rated.mean()
        # The mean of all units is the weighted mean of groups, so its ends are the ones of their ends.
        ends += share * np.array(betting_interval(order, units, low=low, high=high, confidence_level=level))
    interval = Interval(float(ends[0]), float(ends[1]), "guaranteed, betting", confidence_level)
    return replace(empty, value=float(value), interval=interval)


def projected_guaranteed_widths(
    sample: RatedSample,
    ratings: Sequence[int],
    *,
    low: float,
    high: float,
    generator: Randomness,
    confidence_level: float = 0.95,
    beyond_batch: bool = False,
) -> list[float | None]:
    """The width of the guaranteed interval after these numbers of ratings, with the spread of the present
    ones.

    `betting_interval` over n' values at evenly spaced quantiles of the rated ones, in a random order: the
    most typical sample, since there is no formula. None below 3 ratings, above N, for unequal probabilities,
    and if fewer than 3 units or all are rated.
    """
    known = np.sort(sample.human[sample.rated])
    if sample.unequal or not 3 <= len(known) < sample.units:
        return [None] * len(ratings)
    widths: list[float | None] = []
    shuffler = generator_of(generator, "projected_guaranteed_widths")
    for number in ratings:
        if not 3 <= number <= sample.units:
            widths.append(None)
            continue
        typical = known[((np.arange(number) + 0.5) / number * len(known)).astype(np.intp)]
        first, last = betting_interval(
            shuffler.permutation(typical),
            None if beyond_batch else sample.units,
            low=low,
            high=high,
            confidence_level=confidence_level,
        )
        widths.append(last - first)
    return widths


_SOURCE = "Waudby-Smith and Ramdas 2024, JRSS B 86, sections 4 and 5"
_MOST_GROUPS = 4


def _unbeaten(
    scaled: FloatArray, units: int | None, first: float, last: float, significance_level: float, planned: int
) -> tuple[float, float]:
    """The ends of the means between first and last that no gambler has beaten, moved out by a grid step.

    Each factor of K+ falls as m grows, with the stake cut or not, and each of K- grows: the means that K+
    beats are below the others, so halving finds both ends.
    """
    means = np.linspace(first, last, _GRID + 1)
    stakes = _stakes(scaled, significance_level, planned)
    # S_{t-1}, the sum of the values before each one.
    before = np.concatenate([[0.0], np.cumsum(scaled)[:-1]])

    def beaten(sign: int, index: int) -> bool:
        rest = np.full(len(scaled), means[index])
        if units is not None:
            # m_t, the mean of the rest if the batch has this mean; only rounding puts it outside 0..1.
            rest = np.clip((units * means[index] - before) / (units - np.arange(len(scaled))), 0, 1)
        # A mean at an end of the scale would divide by 0; the smallest number only makes the limit large.
        most = _CAP / np.maximum(rest if sign > 0 else 1 - rest, np.finfo(float).tiny)
        capital = np.cumsum(np.log1p(sign * np.minimum(stakes, most) * (scaled - rest)))
        # max(K+, K-) / 2 >= 1 / a in logarithms; the half pays for having two gamblers.
        return bool(capital.max() - np.log(2) >= np.log(1 / significance_level))

    lowest = _first(lambda index: not beaten(1, index))
    highest = _first(lambda index: beaten(-1, index)) - 1
    # If the gamblers beat every mean, the means that the rated values allow remain.
    if lowest > highest:
        return first, last
    return float(means[max(lowest - 1, 0)]), float(means[min(highest + 1, _GRID)])


def _first(holds: Callable[[int], bool]) -> int:
    """The first index of the grid from which on `holds` is true; one behind the grid if it never is."""
    low, high = 0, _GRID + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _stakes(scaled: FloatArray, significance_level: float, planned: int) -> FloatArray:
    """(n,): l_t before it is cut; each uses the values before t only."""
    number = np.arange(1, len(scaled) + 1)
    # The prior, a value with mean 1/2 and variance 1/4, defines the first stakes.
    means = (0.5 + np.cumsum(scaled)) / (number + 1)
    variances = (0.25 + np.cumsum((scaled - means) ** 2)) / (number + 1)
    # A stake that knows its own value would be no fair bet, so variances are shifted by one.
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2 * np.log(2 / significance_level) / (planned * before)))


def _thin(
    sample: RatedSample, generator: np.random.Generator, *, keep_certain: bool
) -> tuple[Mask, list[Mask]]:
    """(units,) the used rated units, and the groups of which they are simple random samples.

    keep_certain: True if units of probability 1 remain a separate group.
    """
    assert sample.probabilities is not None  # else there is one group
    certain = (sample.probabilities == 1) & keep_certain
    others = ~certain
    drawn = sample.rated & others
    least = float(sample.probabilities[drawn].min()) if drawn.any() else 1.0
    stays = generator.random(sample.units) < least / sample.probabilities
    groups = [others, certain] if certain.any() else [others]
    return (sample.rated & certain) | (drawn & stays), groups


def _explain_missing(sample: RatedSample, rated_units: Mask, groups: list[Mask]) -> str | None:
    if not sample.ratings:
        return NO_RATING
    if sample.skipped:
        return f"{sample.skipped} assigned units have no rating, so nothing is guaranteed about them."
    if any(not rated_units[group].any() for group in groups):
        return "None of the units that share a probability is rated yet."
    return None


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
    # Tables of documents by systems; a pair uses the documents with outputs of both.
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
        # A system with an unrated unit had its own sample, so the two are not paired by document.
        apart = drawn is not None and any(drawn[side].ratings < drawn[side].units for side in (one, other))
        if drawn is not None and apart:
            sides = drawn[one], drawn[other]
        difference = _difference(*sides, names, levels, beyond=beyond, apart=apart)
        if betting:
            # Each pair has its own random stream, so other pairs do not change its interval.
            own = replace(betting.of(*names), beyond_batch=beyond)
            sure = guaranteed_difference(*sides, own, apart=apart, confidence_level=confidence_level)
            difference = replace(difference, guaranteed=sure)
        found.append(difference)
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    return tuple(
        replace(
            each,
            adjusted_p_value=adjusted.get(index),
            differs=adjusted.get(index, 1.0) <= 1 - confidence_level,
        )
        for index, each in enumerate(found)
    )


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
        # A difference of two values has the range from low - high to high - low.
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
    if estimate.value is None or estimate.standard_error is None:
        return Difference(*names, paired, estimate, None, None, None, None, None, False)
    error, freedom = estimate.standard_error, estimate.degrees_of_freedom
    # A standard error of 0 exists for a complete sample only, so a variance of 0 is true here.
    both = with_interval(estimate, error**2, freedom, levels[1], complete=True).interval
    low, high = (both.low, both.high) if both else (None, None)
    # If the difference is known, there is nothing to test.
    p_value = t_p_value(estimate.value, error, np.inf if freedom is None else freedom) if error else None
    return Difference(*names, paired, estimate, None, low, high, p_value, None, False)


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
    parts = [
        (each.standard_error**2, each.degrees_of_freedom)
        for each in (first, second)
        if each.standard_error is not None and each.degrees_of_freedom is not None
    ]
    if len(parts) < 2:
        return replace(found, interval_reason=first.interval_reason or second.interval_reason)
    # Two errors of 0 exist for complete samples only, so a sum of 0 is true.
    total, freedom = sum(variance for variance, _ in parts), satterthwaite_freedom(parts)
    return with_interval(found, total, freedom, confidence_level, complete=total == 0)
