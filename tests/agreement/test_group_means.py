"""Measures between the means of groups, and over one number for each group."""

import numpy as np
import pytest
from scipy import stats

from annotate.agreement import (
    Resampling,
    between_group_means,
    kendall_tau_b,
    means_by_group,
    over_groups,
    pearson,
    spearman,
)
from tests.agreement.tables import GAP


def test_a_group_without_values_has_no_mean() -> None:
    means = means_by_group([1, 2, GAP, 6, GAP], np.array([0, 0, 0, 1, 2]), 4)
    np.testing.assert_array_equal(means, [1.5, 6, GAP, GAP])


def test_between_group_means_is_the_measure_of_the_means() -> None:
    generator = np.random.default_rng(1)
    groups = np.repeat(np.arange(9), 7)
    first, second = generator.normal(size=(2, 63))
    means = [values.reshape(9, 7).mean(axis=1) for values in (first, second)]
    coefficient = between_group_means(spearman, first, second, groups, 9)
    assert coefficient.value == pytest.approx(stats.spearmanr(*means).statistic)
    assert coefficient.counts.pairable_units == 9


def test_both_means_of_a_group_rest_on_the_same_units() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2])
    first, second = [1, 99, 2, 2, 4, 4], [3, GAP, 2, 2, 1, 1]
    assert between_group_means(pearson, first, second, groups, 3).value == pytest.approx(-0.981981, abs=1e-6)
    # means 1 2 4 and 3 2 1: deviations -4/3 -1/3 5/3 and 1 0 -1, so -3 / sqrt(14/3 * 2)


def test_numbers_that_differ_by_rounding_only_are_ties() -> None:
    assert 0.1 + 0.2 != 0.3
    tied = over_groups(kendall_tau_b, [0.1 + 0.2, 0.3, 1], [1, 2, 3])
    assert tied.value == pytest.approx(2 / np.sqrt(2 * 3))


def test_groups_without_both_numbers_are_left_out_and_counted() -> None:
    coefficient = over_groups(spearman, [1, 2, GAP, 3], [3, 2, 1, GAP])
    assert coefficient.value == pytest.approx(-1)
    assert (coefficient.counts.groups, coefficient.counts.undefined_groups) == (4, 2)


def test_the_interval_resamples_groups_and_says_so() -> None:
    generator = np.random.default_rng(2)
    first = np.arange(30.0)
    second = first + generator.normal(scale=8, size=30)
    coefficient = over_groups(pearson, first, second, noun="systems", generator=generator)
    assert coefficient.interval is not None
    assert coefficient.interval.method == "percentile bootstrap of systems"
    assert coefficient.interval.low < (coefficient.value or 0) < coefficient.interval.high


def test_the_interval_equals_that_of_the_measure_over_units() -> None:
    first, second = np.random.default_rng(4).normal(size=(2, 25))
    plan = Resampling(replicates=500)
    of_groups = over_groups(pearson, first, second, generator=np.random.default_rng(9), resampling=plan)
    one, other = np.round(first, 10), np.round(second, 10)
    of_units = pearson(one, other, generator=np.random.default_rng(9), resampling=plan)
    assert of_groups.interval is not None
    assert of_units.interval is not None
    assert (of_groups.interval.low, of_groups.interval.high) == (
        of_units.interval.low,
        of_units.interval.high,
    )


def test_one_group_has_no_correlation() -> None:
    coefficient = over_groups(pearson, [1.0], [2.0], generator=np.random.default_rng(0))
    assert coefficient.value is None
    assert coefficient.reason
    assert coefficient.interval is None
