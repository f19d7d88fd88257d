"""One judge against another beside the same people: which agrees more with them, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from annotate.agreement import (
    MeasurementLevel,
    PairedDifference,
    ReliabilityData,
    difference_of_correlations,
    difference_of_figures,
    holm_by_key,
    means_by_group,
    observed_domain,
    spearman,
)
from annotate.agreement.alpha import alpha_statistic
from annotate.agreement.bootstrap import Statistic
from annotate.agreement.data import FloatArray
from annotate.agreement.patterns import by_value
from annotate.agreement.streams import Randomness, substream
from judges.comparison.by_document import correlation_statistic, weigh_documents
from judges.comparison.correlations import Level
from judges.comparison.preferences import all_pairs, correct_share, points_of_scores
from judges.comparison.scores import Scores

AMOUNTS = ("spearman", "alpha", "preferences", "systems")
"""What is compared where values are amounts."""
NAMED = ("accuracy",)
"""What is compared where values are names of categories."""


@dataclass(frozen=True)
class JudgesCompared:
    """Two judges on one dimension. items: those with a value of both and of people.

    figures: by name, the first judge's minus the second's. adjusted: by name, p values after Holm over the
    pairs of judges, where there is one.
    """

    first: str
    second: str
    items: int
    figures: Mapping[str, PairedDifference]
    adjusted: Mapping[str, float]


@dataclass(frozen=True)
class HighestJudges:
    """Which judges agree most with people by one figure.

    highest: no other judge is above it on the items that both have; empty where judges are above each other
    in a circle. may_be_highest: no other judge is surely above it, after Holm's correction.
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
    """How many items both judges and people have values for, and by figure how far the first is ahead there.

    first, second: the same items and people beside two judges.

        spearman     rho(f, h) over the items; paired bootstrap of documents
        alpha        of the judge and the mean human score, at this level; likewise
        preferences  the share of pairs of systems that the judge orders as people do; likewise
        systems      Pearson's r between the systems' means; Williams' test, systems as the sample
        accuracy     instead of these at the nominal level: the mean share of an item's raters who said what
                     the judge said; paired bootstrap of documents

    Raises ValueError where the two are not of the same items.
    """
    if len(first.judge) != len(second.judge):
        raise ValueError("Judges are compared on the same items.")
    level = MeasurementLevel(measurement_level)
    rated = ~np.isnan(first.human_means) & ~np.isnan(first.judge) & ~np.isnan(second.judge)
    sides = tuple(each.of_items(rated) for each in (first, second))
    size = len(sides[0].document_labels)
    statistics = {"accuracy": _accuracy} if level is MeasurementLevel.NOMINAL else _OF_AMOUNTS
    found = {
        name: difference_of_figures(
            (statistic(sides[0], level), statistic(sides[1], level)),
            size,
            _stream(generator, name),
            replicates=replicates,
        )
        for name, statistic in statistics.items()
        if rated.any()
    }
    if level is not MeasurementLevel.NOMINAL and rated.any():
        found["systems"] = _between_systems(*sides)
    return int(rated.sum()), found


def holm_over_pairs(
    pairs: Sequence[tuple[str, str, int, Mapping[str, PairedDifference]]],
) -> tuple[JudgesCompared, ...]:
    """Pairs of judges on one dimension (names, items, figures), p values corrected over them by figure."""
    names = {name for *_, figures in pairs for name in figures}
    adjusted = {
        name: holm_by_key(
            {place: each[3][name].p_value for place, each in enumerate(pairs) if name in each[3]}
        )
        for name in names
    }
    return tuple(
        JudgesCompared(*each, {name: adjusted[name][place] for name in each[3] if place in adjusted[name]})
        for place, each in enumerate(pairs)
    )


def highest_judges(
    pairs: Sequence[JudgesCompared], figure: str, *, significance_level: float = 0.05
) -> HighestJudges | None:
    """Who agrees most with people by this figure, of these judges; None where it is undefined."""
    judges: dict[str, None] = {}
    below: set[str] = set()
    surely_below: set[str] = set()
    for each in pairs:
        found = each.figures.get(figure)
        if found is None or found.value is None:
            continue
        judges.update({each.first: None, each.second: None})
        if found.value:
            lower = each.second if found.value > 0 else each.first
            below.add(lower)
            if each.adjusted.get(figure, 1.0) < significance_level:
                surely_below.add(lower)
    if not judges:
        return None
    highest = tuple(name for name in judges if name not in below)
    return HighestJudges(figure, highest, tuple(name for name in judges if name not in surely_below))


def _stream(generator: Randomness, name: str) -> Randomness:
    return substream(generator, "between_judges", name)


def _spearman(scores: Scores, _level: MeasurementLevel) -> Statistic:
    return correlation_statistic(
        spearman, Level.DATASET, scores.human_means, scores.as_read, scores.documents
    )


def _alpha(scores: Scores, level: MeasurementLevel) -> Statistic:
    values = np.vstack([scores.human_means, scores.judge])
    data = ReliabilityData(values, measurement_level=level, value_domain=observed_domain(values))
    patterns = by_value(data)
    return weigh_documents(patterns, alpha_statistic(patterns, level), scores.documents)


def _preferences(scores: Scores, _level: MeasurementLevel) -> Statistic:
    pairs = all_pairs(scores.system_names)
    judge, human = (points_of_scores(scores, each, pairs) for each in (scores.judge, scores.human_means))
    return correct_share(judge, human, ~np.isnan(judge) & ~np.isnan(human))


def _accuracy(scores: Scores, _level: MeasurementLevel) -> Statistic:
    said = np.nanmean(np.where(np.isnan(scores.human), np.nan, scores.human == scores.judge), axis=0)
    sums = np.bincount(scores.documents, said)
    items = np.bincount(scores.documents)
    return lambda weights: (weights @ sums) / (weights @ items)


_OF_AMOUNTS = {"spearman": _spearman, "alpha": _alpha, "preferences": _preferences}


def _between_systems(first: Scores, second: Scores) -> PairedDifference:
    means = partial(_means_by_system, first)
    return difference_of_correlations(
        means(first.as_read), means(second.as_read), means(first.human_means), noun="systems"
    )


def _means_by_system(scores: Scores, values: FloatArray) -> FloatArray:
    return means_by_group(values, scores.systems, len(scores.system_names))
