"""A measure within documents, between the means of groups such as systems, and over one number for each.

Also for every pair of raters, for each rater with the mean, and over the items of one system.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import Population, Resampling, independent, mean_over_units, resampled_interval
from agreement.coefficient import Coefficient, Interval
from agreement.data import FloatArray, IntArray, ReliabilityData, divide_where
from agreement.estimate import drawn_population
from agreement.measures import PairMeasure, pair_data
from agreement.streams import Randomness, substream
from agreement.student import normal_reach, t_reach

_BATCH = 512  # units computed at a time


def within_documents(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The mean over documents of a measure of two arrays (units,) within each; "summary-level" in papers.

    `documents` is (units,), any labels. Documents in which the measure is undefined are excluded and counted
    (`counts.undefined_groups`). The interval resamples the documents with a value. Undefined if none has one.
    """
    return mean_within_documents(measure, pair_data(first, second, documents), generator, resampling)


def mean_within_documents(
    measure: PairMeasure,
    data: ReliabilityData,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`within_documents` of the values of two raters; undefined if it is undefined in each document."""
    overall = measure.of(data)
    each = _values_of_documents(measure, data)
    values = each[~np.isnan(each)]
    reason = overall.reason or (
        f"{overall.label} is undefined within each of the {len(each)} documents: "
        "none has values that differ on both sides."
    )
    result = replace(
        overall,
        name=f"{overall.name}_within_documents",
        label=f"{overall.label}, mean within documents",
        value=float(values.mean()) if len(values) else None,
        reason=None if len(values) else reason,
        counts=replace(overall.counts, groups=len(each), undefined_groups=len(each) - len(values)),
    )
    drawn_with = substream(generator, result.name)
    if drawn_with is None or not len(values):
        return result
    interval, interval_reason = resampled_interval(
        mean_over_units(values),
        independent(len(values), "documents"),
        drawn_with,
        resampling or Resampling(by="documents"),
        measure.estimator.bounds,
    )
    return replace(result, interval=interval, interval_reason=interval_reason)


def values_within_documents(
    measure: PairMeasure, first: npt.ArrayLike, second: npt.ArrayLike, documents: npt.ArrayLike
) -> FloatArray:
    """Return (documents,): the measure in each document, ordered by label; NaN if undefined.

    first, second: (units,), NaN for a gap. documents: (units,), the label of each unit's document.
    """
    return _values_of_documents(measure, pair_data(first, second, documents))


def _values_of_documents(measure: PairMeasure, data: ReliabilityData) -> FloatArray:
    """A document is one weighting of the distinct pairs of values: many go through one matrix product."""
    if data.documents is None:
        raise ValueError("The document of each unit is needed.")
    values = np.full(int(data.documents.max(initial=-1)) + 1, np.nan)
    rated = np.flatnonzero(data.ratings_per_unit == 2)
    if not len(rated):
        return values
    # Where values hardly repeat, nearly each unit is a pattern, so that the weights of all documents together
    # would be nearly all 0: then some documents at a time.
    few = len(measure.estimator.patterns(data).unit_counts) <= _BATCH
    batches = [data] if few else map(data.of_units, _batches(rated, data.documents[rated]))
    each = []
    for batch in batches:
        patterns = measure.estimator.patterns(batch)
        counts = drawn_population(batch, patterns, "documents", least_ratings=2).pattern_counts
        assert counts is not None  # documents have patterns
        dense = counts if isinstance(counts, np.ndarray) else counts.toarray()
        each.append(measure.estimator.statistic(patterns)(dense))
    values[np.unique(data.documents[rated])] = np.concatenate(each)
    return values


def _batches(units: IntArray, documents: IntArray) -> Iterator[IntArray]:
    """The units of whole documents, about `_BATCH` at a time; documents: (units,), of each unit."""
    order = np.argsort(documents, kind="stable")
    # Documents are numbered from 0, so -1 makes the first one a start, too.
    starts = np.flatnonzero(np.diff(documents[order], prepend=-1))
    start = 0
    for end in [*starts[1:], len(order)]:
        if end - start >= _BATCH or end == len(order):
            yield units[order[start:end]]
            start = end


CORRELATED = frozenset({"pearson", "spearman", "kendall_tau_b"})
"""The names of the coefficients that it knows."""
_ROUNDING = 1e-9  # a correlation this near to 1 is 1, for which Fisher's z is infinite


def fisher_interval(
    correlation: str, value: float, pairs: int, confidence_level: float, *, noun: str = "pairs"
) -> tuple[Interval | None, str | None]:
    """The interval tanh(artanh r -+ z s), or None and why; `correlation` is the name of the coefficient.

    With n pairs the variance s^2 is 1 / (n - 3) for Pearson's r (Fisher 1921), (1 + r^2 / 2) / (n - 3) for
    Spearman's rho (Bonett and Wright 2000), .437 / (n - 4) for Kendall's tau-b (Fieller, Hartley and Pearson
    1957). It assumes pairs that are independent and nearly normal, and holds its level from 6 pairs on,
    unlike leaving out each in turn. None if r is -1 or 1: z is infinite.
    """
    least = 5 if correlation == "kendall_tau_b" else 4
    if pairs < least:
        return None, f"{pairs} {noun} are too few for an interval, which needs {least}."
    if abs(value) > 1 - _ROUNDING:
        return None, f"At {value:.0f} Fisher’s z is infinite, so {pairs} {noun} give no interval."
    variances = {
        "pearson": 1 / (pairs - 3),
        "spearman": (1 + value**2 / 2) / (pairs - 3),
        "kendall_tau_b": 0.437 / max(pairs - 4, 1),
    }
    limits = fisher_limits(value, variances[correlation], confidence_level)
    return Interval(*limits, f"Fisher’s z of {pairs} {noun}", confidence_level), None


def fisher_limits(value: float, variance: float, confidence_level: float) -> tuple[float, float]:
    """Return tanh(artanh r -+ z s) of a correlation r within -1 and 1, s^2 the variance of artanh r."""
    reach = normal_reach(math.sqrt(variance), confidence_level)
    middle = math.atanh(value)
    return math.tanh(middle - reach), math.tanh(middle + reach)


_DECIMALS = 10  # sums of thirds in another order differ behind these


def means_by_group(values: npt.ArrayLike, groups: IntArray, number: int) -> FloatArray:
    """(number,): the mean of the values (units,) of each group 0 to number - 1, NaN for a group without
    values.
    """
    listed = np.asarray(values, dtype=float)
    given = ~np.isnan(listed)
    totals = np.bincount(groups[given], listed[given], number)
    counts = np.bincount(groups[given], minlength=number)
    return divide_where(counts > 0, totals, counts)


def between_group_means(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    groups: IntArray,
    number: int,
    *,
    noun: str = "groups",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The measure of the groups' means of two arrays (units,); "system-level" in papers.

    Each mean is over the units with both values, so that the two means of a group rest on the same units.
    The interval resamples groups. Undefined as the measure, over groups.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    gap = np.isnan(one) | np.isnan(other)
    means = [means_by_group(np.where(gap, np.nan, values), groups, number) for values in (one, other)]
    return over_groups(measure, *means, noun=noun, generator=generator, resampling=resampling)


def over_groups(
    measure: PairMeasure,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    noun: str = "groups",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The measure of two arrays (groups,), one number a group, NaN for a group without one.

    Groups without both numbers are excluded and counted (`counts.undefined_groups`). Numbers that differ by
    floating-point rounding only are ties. The interval of a correlation is Fisher's, as groups are few; of
    another measure it resamples groups, called `noun` in its description. Both treat the groups' numbers as
    fixed. Intervals need a generator.
    """
    one, other = (np.round(np.asarray(values, dtype=float), _DECIMALS) for values in (first, second))
    result = measure(one, other)
    undefined = int(np.sum(np.isnan(one) | np.isnan(other)))
    result = replace(result, counts=replace(result.counts, groups=len(one), undefined_groups=undefined))
    drawn_with = substream(generator, result.name, "over", noun)
    if drawn_with is None or not result.defined:
        return result
    if result.value is not None and measure.estimator.name in CORRELATED:
        level = (resampling or Resampling()).confidence_level
        found = fisher_interval(measure.estimator.name, result.value, len(one) - undefined, level, noun=noun)
        return replace(result, interval=found[0], interval_reason=found[1])
    patterns = measure.estimator.patterns(pair_data(one, other))
    interval, interval_reason = resampled_interval(
        measure.estimator.statistic(patterns),
        Population(None, patterns.unit_counts, noun),
        drawn_with,
        resampling or Resampling(),
        measure.estimator.bounds,
    )
    return replace(result, interval=interval, interval_reason=interval_reason)


MOST_LEFT_OUT = 200
"""Documents up to which each is left out in turn; with more, the percentile bootstrap holds its level."""
_MOST_WITHOUT_VARIATION = 0.05


def is_studentised(measure: PairMeasure, data: ReliabilityData, found: Coefficient) -> bool:
    """Return True if it is a correlation of few units, and not -1 or 1 (at which Fisher's z is infinite)."""
    if found.value is not None and abs(found.value) > 1 - _ROUNDING:
        return False
    few = int(np.sum(data.ratings_per_unit == 2)) <= MOST_LEFT_OUT
    return measure.estimator.name in CORRELATED and few


def studentised_interval(
    measure: PairMeasure, data: ReliabilityData, found: Coefficient, resampling: Resampling
) -> tuple[Interval | None, str | None]:
    """Return the interval tanh(artanh r -+ t s / (1 - r^2)) of a correlation r, or None and why.

    s is the jackknife standard error over N units or documents, t has N - 1 degrees of freedom. Raises
    ValueError if r is -1 or 1. None if a random sample of N of them would have equal values on one
    side with a probability above 5 %: then too few values differ. On scales of five points it held .92 to
    .98 at 12 to 100 items, the percentile bootstrap .84 to .97 (`benchmarks/coverage.py by_system`).
    Source: Efron and Tibshirani 1993, sections 11.1 and 12.6.
    """
    if found.value is None:
        return None, found.interval_reason
    if abs(found.value) > 1 - _ROUNDING:
        raise ValueError("At -1 and 1 Fisher's z is infinite.")
    patterns = measure.estimator.patterns(data)
    drawn_from = drawn_population(data, patterns, resampling.by, measure.estimator.least_ratings)
    size, counts, noun = drawn_from.size, drawn_from.group_counts, resampling.noun or resampling.by
    # The probability that as many random units as there are have equal values on one side or
    # the other.
    both = data.values[:, data.ratings_per_unit == 2]
    shares = [np.unique(side, return_counts=True)[1] / len(side) for side in both]
    share_without_variation = float(sum(np.sum(each ** both.shape[1]) for each in shares))
    if share_without_variation > _MOST_WITHOUT_VARIATION:
        return None, f"Too few of {size} values differ from the most frequent one for an interval."
    # Each kind of unit is excluded once; its replicate counts as often as there are such units.
    left_out = drawn_from.weights(counts - np.eye(len(counts), dtype=np.intp))
    without_one = measure.estimator.statistic(patterns)(left_out)
    mean = float(counts @ without_one) / size
    error = math.sqrt((size - 1) / size * float(counts @ (without_one - mean) ** 2))
    # In this form the comparison also catches NaN.
    if not error > 0:
        return None, f"Leaving out each of the {size} {noun} in turn does not show the variation."
    middle, freedom = math.atanh(found.value), size - 1
    # The derivative of artanh r is 1 / (1 - r^2).
    reach = t_reach(error / (1 - found.value**2), freedom, resampling.confidence_level)
    return Interval(
        low=math.tanh(middle - reach),
        high=math.tanh(middle + reach),
        method=f"Fisher’s z, jackknife of {noun}, t with {freedom} degrees of freedom",
        confidence_level=resampling.confidence_level,
        replicates=size,
    ), None


MEAN = "mean"


@dataclass(frozen=True)
class ComparedRaters:
    """A measure between two raters; `first` is "mean" if a rater is compared with the mean."""

    first: str
    second: str
    coefficient: Coefficient


def between_raters(
    data: ReliabilityData,
    measure: PairMeasure,
    *,
    within: npt.ArrayLike | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """Return the measure for every pair of raters, in the order of `data.raters`.

    within: (units,), a document for each unit; each value is then the mean over documents, as of
    `within_documents`. An undefined value has its reason, as the measure alone.
    """
    grouped = _group_within(data, within)
    pairs = (
        (data.raters[one], data.raters[other], grouped.of_raters((one, other)))
        for one, other in combinations(range(len(data.values)), 2)
    )
    return _compare(measure, pairs, within is not None, generator, resampling)


def with_mean(
    data: ReliabilityData,
    measure: PairMeasure,
    *,
    within: npt.ArrayLike | None = None,
    of_others: bool = False,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> tuple[ComparedRaters, ...]:
    """The measure between the mean of the raters and each rater; within the documents of `within` (units,).

    The mean holds the rater's own values too, as in published tables, which raises a correlation; `of_others`
    takes them out.
    """
    grouped = _group_within(data, within)

    def pair_of(rater: int) -> ReliabilityData:
        averaged = [other for other in range(len(data.values)) if not (of_others and other == rater)]
        return pair_data(mean_values(data.values[averaged]), data.values[rater], grouped.documents)

    # Pairs are stored with the data, as every measure reads the same ones.
    pairs = (
        (MEAN, name, grouped.once(("with mean", of_others, rater), partial(pair_of, rater)))
        for rater, name in enumerate(data.raters)
    )
    return _compare(measure, pairs, within is not None, generator, resampling)


def mean_values(values: FloatArray) -> FloatArray:
    """(units,): the mean of the available values (raters, units), NaN without any."""
    given = ~np.isnan(values)
    totals = np.sum(values, axis=0, where=given)
    return divide_where(given.any(axis=0), totals, given.sum(axis=0))


def _group_within(data: ReliabilityData, within: npt.ArrayLike | None) -> ReliabilityData:
    # The same object keeps the statistics that were computed for it.
    return data if within is None or within is data.documents else data.in_documents(within)


def _compare(
    measure: PairMeasure,
    pairs: Iterable[tuple[str, str, ReliabilityData]],
    within: bool,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> tuple[ComparedRaters, ...]:
    compare = partial(mean_within_documents, measure) if within else measure.of
    return tuple(
        ComparedRaters(first, second, compare(pair, substream(generator, first, second), resampling))
        for first, second, pair in pairs
    )
