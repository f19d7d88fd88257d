"""Two judges compared by the correlations of groups of their samples, as Siledar and others do."""

from dataclasses import dataclass

import numpy as np
import scipy

from annotate.agreement import PairMeasure
from annotate.agreement.data import FloatArray
from judges.comparison.by_document import correlation_statistic
from judges.comparison.correlations import Level
from judges.comparison.scores import Scores

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
    """Whether correlations with people differ between two judges, from one group of samples to the next.

    first, second: (items, samples) as read, of the items of `scores`. Samples are divided in their order into
    ten groups; each group's mean has one correlation with people. The tests compare ten with ten: they ask
    whether asking again would turn the two around, not whether other documents would, for which the paired
    bootstrap is. Undefined without two samples a group, or where correlations do not vary.
    Source: Siledar and others 2024, table 5.
    """
    if min(first.shape[1], second.shape[1]) < 2 * groups:
        return _undefined_groups(
            f"Both need {2 * groups} samples of each item, two in each of {groups} groups."
        )
    known = ~np.isnan(scores.human_means)
    for samples in (first, second):
        known &= ~np.isnan(samples).any(axis=1)
    human = scores.human_means[known]
    documents = np.unique(scores.documents[known], return_inverse=True)[1]
    whole = np.ones((1, int(documents.max(initial=-1)) + 1))

    def correlations(samples: FloatArray) -> FloatArray:
        parts = np.array_split(samples[known], groups, axis=1)
        means = [part.mean(axis=1) for part in parts]
        return np.array(
            [correlation_statistic(measure, level, human, each, documents)(whole)[0] for each in means]
        )

    if not known.any():
        return _undefined_groups("No item has all samples of both and a value of people.")
    one, other = correlations(first), correlations(second)
    if np.isnan([one, other]).any():
        return _undefined_groups("The correlation of a group is undefined: its values do not vary.")
    if np.ptp(np.concatenate([one, other])) == 0:
        return _undefined_groups("All groups have the same correlation.")
    u_p = scipy.stats.mannwhitneyu(one, other).pvalue
    varies = np.ptp(one) > 0 or np.ptp(other) > 0
    t_p = float(scipy.stats.ttest_ind(one, other).pvalue) if varies else None
    return GroupsCompared(float(one.mean()), float(other.mean()), float(u_p), t_p)


def _undefined_groups(reason: str) -> GroupsCompared:
    return GroupsCompared(None, None, None, None, reason)
