"""Measures between the means of groups, and over one number for each group."""

import numpy as np
import pytest
from scipy import stats

from agreement import (
    PairMeasure,
    between_group_means,
    bias,
    kendall_tau_b,
    means_by_group,
    over_groups,
    pearson,
    spearman,
)
from tests.agreement.tables import GAP


@pytest.mark.oracle("fraction worked by hand", of="means_by_group")
def test_a_group_without_values_has_no_mean() -> None:
    means = means_by_group([1, 2, GAP, 6, GAP], np.array([0, 0, 0, 1, 2]), 4)
    np.testing.assert_array_equal(means, [1.5, 6, GAP, GAP])


@pytest.mark.oracle("package SciPy 1.17.1, spearmanr of the means", of="between_group_means", within=1e-06)
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


def test_groups_without_both_numbers_are_excluded_and_counted() -> None:
    coefficient = over_groups(spearman, [1, 2, GAP, 3], [3, 2, 1, GAP])
    assert coefficient.value == pytest.approx(-1)
    assert (coefficient.counts.groups, coefficient.counts.undefined_groups) == (4, 2)


def test_correlation_interval_names_the_fisher_method() -> None:
    # artanh(.5) -+ 1.959964 / sqrt(9 - 3): -.2508 and 1.3495.
    first = np.arange(9.0) - 4
    rest = np.array([1.0, -1, 0, 0, 0, 0, 0, -1, 1])
    rest -= rest @ first / (first @ first) * first + rest.mean()
    second = first / np.linalg.norm(first) + np.sqrt(3) * rest / np.linalg.norm(rest)
    coefficient = over_groups(pearson, first, second, noun="systems", generator=np.random.default_rng(2))
    assert coefficient.value == pytest.approx(0.5, abs=1e-9)
    assert coefficient.interval is not None
    assert coefficient.interval.method == "Fisher’s z of 9 systems"
    limits = coefficient.interval.low, coefficient.interval.high
    assert limits == pytest.approx((np.tanh(-0.250846), np.tanh(1.349458)), abs=1e-6)


def test_another_measure_resamples_groups() -> None:
    first, second = np.random.default_rng(4).normal(size=(2, 25))
    coefficient = over_groups(bias, first, second, noun="systems", generator=np.random.default_rng(9))
    assert coefficient.interval is not None
    assert coefficient.interval.method == "percentile bootstrap of systems"


def test_few_groups_or_full_correlations_give_no_interval_but_a_reason() -> None:
    few = over_groups(spearman, [1, 2, 3], [1, 3, 2], noun="systems", generator=np.random.default_rng(0))
    assert few.interval_reason == "3 systems are too few for an interval, which needs 4."
    full = over_groups(pearson, [1, 2, 3, 4], [2, 4, 6, 8], generator=np.random.default_rng(0))
    assert "Fisher’s z is infinite" in (full.interval_reason or "")


@pytest.mark.parametrize(("measure", "least"), [(pearson, 0.93), (spearman, 0.93), (kendall_tau_b, 0.92)])
def test_intervals_over_ten_systems_hold_their_level(measure: PairMeasure, least: float) -> None:
    generator, rho, held, given = np.random.default_rng(7), 0.6, 0, 0
    true = {
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall_tau_b": 2 / np.pi * np.arcsin(rho),
    }[measure.estimator.name]
    for _ in range(600):
        x, noise = generator.normal(size=(2, 10))
        y = rho * x + np.sqrt(1 - rho**2) * noise
        interval = over_groups(measure, x, y, generator=generator).interval
        given += interval is not None
        held += interval is not None and interval.low <= true <= interval.high
    assert least <= held / given <= 0.98


def test_one_group_has_no_correlation() -> None:
    coefficient = over_groups(pearson, [1.0], [2.0], generator=np.random.default_rng(0))
    assert coefficient.value is None
    assert coefficient.reason
    assert coefficient.interval is None
