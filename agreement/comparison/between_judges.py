"""Several judges on the same items: two compared, which is nearer to people, and a panel of them as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from agreement import (
    MeasurementLevel,
    PairedDifference,
    PairMeasure,
    ReliabilityData,
    difference_of_correlations,
    difference_of_figures,
    holm_by_key,
    mean_values,
    means_by_group,
    spearman,
    values_within_documents,
)
from agreement.alpha import alpha_statistic
from agreement.bootstrap import Statistic, add_up_groups, population, ratio_of_sums
from agreement.comparison.correlations import Level
from agreement.comparison.preferences import all_pairs, correct_share, points_of_scores
from agreement.comparison.scores import Scores
from agreement.data import FloatArray, IntArray
from agreement.measures import pair_data
from agreement.patterns import Patterns, by_value
from agreement.streams import Randomness, substream


def weigh_documents(patterns: Patterns, statistic: Statistic, documents: IntArray) -> Statistic:
    """From a statistic of weighted patterns to one of weighted documents.

    documents: (units,), of the units that have patterns, numbered from 0 without gaps.
    """
    of_groups, drawn = add_up_groups(statistic, population(patterns, documents, "documents"))
    return lambda weights: of_groups(drawn.weights(weights))


def correlation_statistic(
    measure: PairMeasure, level: Level, human: FloatArray, judge: FloatArray, documents: IntArray
) -> Statistic:
    """The measure of two arrays (items,) without gaps, over all items or as the mean within documents.

    documents: (items,), numbered from 0 without gaps. Documents in which it is undefined are excluded. Raises
    ValueError for the level of systems, which are no documents.
    """
    if level is Level.SYSTEM:
        raise ValueError("Systems are not weighted by documents.")
    if level is Level.DATASET:
        patterns = measure.estimator.patterns(pair_data(human, judge))
        return weigh_documents(patterns, measure.estimator.statistic(patterns), documents)
    return mean_of_documents(values_within_documents(measure, human, judge, documents))


def mean_of_documents(values: FloatArray) -> Statistic:
    """The mean of values (documents,) over the documents that have one; NaN if no resampled document has
    one.
    """
    known = ~np.isnan(values)
    return ratio_of_sums(np.where(known, values, 0.0), known.astype(float))


AMOUNTS = ("spearman", "alpha", "preferences", "systems")
"""What is compared where values are amounts."""
NAMED = ("accuracy",)
"""What is compared where values are names of categories."""


@dataclass(frozen=True)
class JudgesCompared:
    """Two judges on one dimension. items: the items with a value of both and of people.

    figures: by name, the first judge's statistic minus the second's. adjusted: by name, p values after Holm
    over the pairs of judges, if there is one.
    """

    first: str
    second: str
    items: int
    figures: Mapping[str, PairedDifference]
    adjusted: Mapping[str, float]


@dataclass(frozen=True)
class HighestJudges:
    """The judges that agree most with people by one statistic.

    highest: no other judge is above it on the items that both have; empty if judges are above each other in a
    circle. may_be_highest: no other judge is surely above it, after Holm's correction.
    """

    figure: str
    highest: tuple[str, ...]
    may_be_highest: tuple[str, ...]

    @property
    def is_sure(self) -> bool:
        """Whether every judge but one is surely below another."""
        return len(self.may_be_highest) == 1


def compare_two_judges(
    first: Scores,
    second: Scores,
    *,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness,
    replicates: int = 2000,
) -> tuple[int, Mapping[str, PairedDifference]]:
    """The number of items with values of both judges and of people, and the first judge's lead there by
    statistic.

    first, second: the same items and people with two judges.

        spearman     rho(f, h) over the items; paired bootstrap of documents
        alpha        of the judge and the mean human score, at this level; paired bootstrap of documents
        preferences  share of pairs of systems that the judge orders as people do; paired bootstrap of
        documents
        systems      Pearson's r between the systems' means; Williams' test, systems as the sample
        accuracy     instead of these at the nominal level: mean share of an item's raters with
                     the judge's value; paired bootstrap of documents

    Raises ValueError if the two have different items.
    """
    if len(first.judge) != len(second.judge):
        raise ValueError("Judges are compared on the same items.")
    level = MeasurementLevel(measurement_level)
    # Only items with values of both judges, since resampled documents are paired.
    rated = ~np.isnan(first.human_means) & ~np.isnan(first.judge) & ~np.isnan(second.judge)
    sides = tuple(each.of_items(rated) for each in (first, second))
    size = len(sides[0].document_labels)
    # Categories have neither ranks nor means, so accuracy replaces the other statistics.
    statistics = {"accuracy": accuracy_with_people} if level is MeasurementLevel.NOMINAL else _OF_AMOUNTS
    found = {
        name: difference_of_figures(
            (statistic(sides[0], level), statistic(sides[1], level)),
            size,
            substream(generator, "between_judges", name),
            replicates=replicates,
        )
        for name, statistic in statistics.items()
        if rated.any()
    }
    if level is not MeasurementLevel.NOMINAL and rated.any():
        means = [
            means_by_group(values, sides[0].systems, len(sides[0].system_names))
            for values in (sides[0].as_read, sides[1].as_read, sides[0].human_means)
        ]
        found["systems"] = difference_of_correlations(*means, noun="systems")
    return int(rated.sum()), found


def holm_over_pairs(
    pairs: Sequence[tuple[str, str, int, Mapping[str, PairedDifference]]],
) -> tuple[JudgesCompared, ...]:
    """Return comparisons of pairs of judges on one dimension, p values adjusted by Holm's method.

    pairs: for each the names of both judges, the number of items, and the differences by statistic. Each
    statistic is corrected over all pairs that have a p value of it.
    """
    names = {name for *_, figures in pairs for name in figures}
    adjusted = {
        name: holm_by_key(
            {index: each[3][name].p_value for index, each in enumerate(pairs) if name in each[3]}
        )
        for name in names
    }
    return tuple(
        JudgesCompared(*each, {name: adjusted[name][index] for name in each[3] if index in adjusted[name]})
        for index, each in enumerate(pairs)
    )


def highest_judges(
    pairs: Sequence[JudgesCompared], figure: str, *, significance_level: float = 0.05
) -> HighestJudges | None:
    """Return the judges with the highest agreement, and the judges not significantly below another.

    pairs: all pairs of the judges, as `holm_over_pairs` returns them. figure: the statistic's name.
    significance_level: of adjusted p values. Returns None if the statistic is undefined for all pairs.
    """
    judges: dict[str, None] = {}
    below: set[str] = set()
    surely_below: set[str] = set()
    for each in pairs:
        found = each.figures.get(figure)
        if found is None or found.value is None:
            continue
        judges.update({each.first: None, each.second: None})
        # A difference of 0 puts neither below the other.
        if found.value:
            lower = each.second if found.value > 0 else each.first
            below.add(lower)
            if each.adjusted.get(figure, 1.0) < significance_level:
                surely_below.add(lower)
    if not judges:
        return None
    highest = tuple(name for name in judges if name not in below)
    return HighestJudges(figure, highest, tuple(name for name in judges if name not in surely_below))


def _spearman(scores: Scores, _level: MeasurementLevel) -> Statistic:
    return correlation_statistic(
        spearman, Level.DATASET, scores.human_means, scores.as_read, scores.documents
    )


def alpha_with_mean(scores: Scores, level: MeasurementLevel) -> Statistic:
    """Alpha of the judge and people's mean, over weighted documents; both have a value of every item."""
    values = np.vstack([scores.human_means, scores.judge])
    data = ReliabilityData(values, measurement_level=level, value_domain=None)
    patterns = by_value(data)
    return weigh_documents(patterns, alpha_statistic(patterns, level), scores.documents)


def _preferences(scores: Scores, _level: MeasurementLevel) -> Statistic:
    pairs = all_pairs(scores.system_names)
    judge, human = (points_of_scores(scores, each, pairs) for each in (scores.judge, scores.human_means))
    return correct_share(judge, human, ~np.isnan(judge) & ~np.isnan(human))


def accuracy_with_people(scores: Scores, _level: MeasurementLevel) -> Statistic:
    """The mean share of an item's raters with the judge's value, over weighted documents."""
    sums, items = np.bincount(scores.documents, _accuracy(scores)), np.bincount(scores.documents)
    return lambda weights: (weights @ sums) / (weights @ items)


_OF_AMOUNTS = {"spearman": _spearman, "alpha": alpha_with_mean, "preferences": _preferences}


GROUPS = 10


@dataclass(frozen=True)
class GroupsCompared:
    """The mean correlation over groups of two judges' samples, and two-sided p values.

    u_p: Mann-Whitney's U; t_p: Student's t for equal variances. Without values a reason.
    """

    first: float | None
    second: float | None
    u_p: float | None
    t_p: float | None
    reason: str = ""


def compare_groups(
    scores: Scores,
    first: FloatArray,
    second: FloatArray,
    measure: PairMeasure,
    level: Level = Level.DOCUMENT,
    *,
    groups: int = GROUPS,
) -> GroupsCompared:
    """Test whether two judges' correlations with people differ, with groups of samples as the units.

    first, second: (items, samples) as read, of the items of `scores`. Samples are divided, in order, into ten
    groups; each group's mean has one correlation with people. The tests compare ten with ten: they test
    whether new samples would reverse the order of the two. For other documents use the paired bootstrap.
    Undefined without two samples a group, or if correlations do not vary. Source: Siledar and others 2024,
    table 5.
    """
    undefined = partial(GroupsCompared, None, None, None, None)
    if min(first.shape[1], second.shape[1]) < 2 * groups:
        return undefined(f"Both need {2 * groups} samples of each item, two in each of {groups} groups.")
    known = ~np.isnan(scores.human_means)
    for samples in (first, second):
        # With a gap, an item would have fewer samples in one group than in the others.
        known &= ~np.isnan(samples).any(axis=1)
    human = scores.human_means[known]
    documents = np.unique(scores.documents[known], return_inverse=True)[1]
    # Each document once: the value itself, without resamples.
    whole = np.ones((1, int(documents.max(initial=-1)) + 1))

    def correlations(samples: FloatArray) -> FloatArray:
        # Each sample is in one group only, as the tests need independent groups.
        parts = np.array_split(samples[known], groups, axis=1)
        means = [part.mean(axis=1) for part in parts]
        return np.array(
            [correlation_statistic(measure, level, human, each, documents)(whole)[0] for each in means]
        )

    if not known.any():
        return undefined("No item has all samples of both and a value of people.")
    one, other = correlations(first), correlations(second)
    if np.isnan([one, other]).any():
        return undefined("The correlation of a group is undefined: its values do not vary.")
    if np.ptp(np.concatenate([one, other])) == 0:
        return undefined("All groups have the same correlation.")
    u_p = scipy.stats.mannwhitneyu(one, other).pvalue
    # Without variation within both groups, t divides by 0.
    varies = np.ptp(one) > 0 or np.ptp(other) > 0
    t_p = float(scipy.stats.ttest_ind(one, other).pvalue) if varies else None
    return GroupsCompared(float(one.mean()), float(other.mean()), float(u_p), t_p)


_DECIMALS = 9  # distances that differ behind these differ by rounding


def nearness_by_document(first: Scores, second: Scores, *, is_named: bool = False) -> FloatArray:
    """(documents,): the share of items on which the first is nearer minus the share of the second, from -1 to
    1.

    Nearer is a smaller distance to the mean human score; equal distances count for neither. is_named: for
    names of categories the share is the share of an item's raters with the judge's value, first minus second.
    Documents are in the order of `document_labels`; NaN if none of their items has a value of both judges and
    of people. Raises ValueError for judges of different items.
    """
    if is_named:
        return _average_by_document(first, _accuracy(first) - _accuracy(_like(first, second)))
    distances = [
        np.round(np.abs(each.judge - each.human_means), _DECIMALS) for each in (first, _like(first, second))
    ]
    # 1 if the first judge is nearer, -1 if the second is.
    return _average_by_document(first, np.sign(distances[1] - distances[0]))


def error_difference_by_document(first: Scores, second: Scores) -> FloatArray:
    """(documents,): the mean squared error of the first minus the error of the second, against mean human
    scores.

    Against single raters instead of their mean the difference is the same. The order of documents is that in
    `nearness_by_document`.
    """
    one, other = ((each.judge - each.human_means) ** 2 for each in (first, _like(first, second)))
    return _average_by_document(first, one - other)


def _like(first: Scores, second: Scores) -> Scores:
    if len(first.judge) != len(second.judge):
        raise ValueError("Judges are compared on the same items.")
    return second


def _accuracy(scores: Scores) -> FloatArray:
    """(items,): the share of an item's raters with the judge's value; NaN without either."""
    equal = mean_values(np.where(np.isnan(scores.human), np.nan, scores.human == scores.judge))
    return np.where(np.isnan(scores.judge), np.nan, equal)


def _average_by_document(scores: Scores, values: FloatArray) -> FloatArray:
    return np.asarray(means_by_group(values, scores.documents, len(scores.document_labels)), dtype=float)


MEAN, MEDIAN, MAJORITY, WEIGHTS = "mean", "median", "majority", "weights"
UNITS_A_JUDGE = 5  # rated units for each judge that weights are learned from, at least


@dataclass(frozen=True)
class Weights:
    """value = intercept + sum of weight x value of each judge; learned from `units` units."""

    weights: tuple[float, ...]
    intercept: float
    units: int


@dataclass(frozen=True)
class NoWeights:
    """Why no weights can be learned."""

    reason: str


def learn_weights(values: FloatArray, human: FloatArray) -> Weights | NoWeights:
    """Return the weights, none below 0, whose sum is nearest to people's means by least squares.

    values: (judges, units), human: (units,), people's means; NaN for a gap, and a unit with any gap is
    excluded. Solved after centring, so that the intercept is free: min ||(X - mean X) w - (h - mean h)||, w
    >= 0 (Lawson and Hanson 1974, ch. 23). Undefined with fewer than five units for each judge, or if neither
    people nor judges vary.
    """
    whole = ~np.isnan(values).any(axis=0) & ~np.isnan(human)
    known, wanted = values[:, whole], human[whole]
    needed = UNITS_A_JUDGE * len(values)
    if len(wanted) < needed:
        return NoWeights(
            f"Weights need {needed} units with values of all judges and people; {len(wanted)} have."
        )
    # nnls has no intercept, and would keep an added one from being below 0.
    centred = known - known.mean(axis=1, keepdims=True)
    if not np.ptp(wanted) or not centred.any():
        return NoWeights("All values are the same, so no weight tells more than another.")
    weights, _ = scipy.optimize.nnls(centred.T, wanted - wanted.mean())
    # The intercept restores the means that centring removed.
    intercept = float(wanted.mean() - weights @ known.mean(axis=1))
    return Weights(tuple(float(weight) for weight in weights), intercept, int(whole.sum()))


def combine(values: FloatArray, rule: str, weights: Weights | None = None) -> FloatArray:
    """Return (items,): the combined value of several judges; NaN if any of them has no value.

    values: (judges, items). rule: `mean`, `median`, `majority` (the most frequent value after rounding to
    whole numbers; of several, the value nearest to the mean; of two equally near, the lower) or `weights`.
    NaN, because otherwise the judges of a panel would change from item to item.
    """
    found = np.full(values.shape[1], np.nan)
    whole = ~np.isnan(values).any(axis=0)
    known = values[:, whole]
    if rule == WEIGHTS:
        assert weights is not None
        found[whole] = weights.intercept + np.asarray(weights.weights) @ known
    elif rule == MAJORITY:
        # np.round would move halves to the even number.
        for item, column in zip(np.flatnonzero(whole), np.floor(known + 0.5).T, strict=True):
            names, counts = np.unique(column, return_counts=True)
            tied = names[counts == counts.max()]
            # np.unique sorts, so argmin takes the lower of two that are equally near.
            found[item] = tied[np.argmin(np.abs(tied - column.mean()))]
    else:
        found[whole] = np.median(known, axis=0) if rule == MEDIAN else known.mean(axis=0)
    return found


def majority_of_categories(values: FloatArray) -> FloatArray:
    """Return (items,): the most frequent category; NaN if several are equally frequent, or a value is
    missing.

    Categories have no mean that could decide a tie.
    """
    found = np.full(values.shape[1], np.nan)
    for item in np.flatnonzero(~np.isnan(values).any(axis=0)):
        names, counts = np.unique(values[:, item], return_counts=True)
        if (counts == counts.max()).sum() == 1:
            found[item] = names[counts.argmax()]
    return found


def spread(values: FloatArray) -> FloatArray:
    """Return (items,): the standard deviation among judges (n - 1); NaN if any has no value, or with one
    judge.
    """
    if len(values) < 2:
        return np.full(values.shape[1], np.nan)
    return np.asarray(np.std(values, axis=0, ddof=1))
