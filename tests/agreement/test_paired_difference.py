"""Differences of two figures of one material: published examples, by hand, and how often they are right."""

import numpy as np
import pytest
import scipy.stats

from agreement import difference_of_correlations, difference_of_figures
from agreement.data import FloatArray
from agreement.paired_difference import dependent_interval, williams_test

pytestmark = pytest.mark.fast


@pytest.mark.oracle("Revelle, manual of package psych", of="difference_of_correlations", within=0.005)
def test_williams_test_matches_the_psych_manual_example() -> None:
    # r.test(n = 103, r12 = .4, r13 = .5, r23 = .1): t -.89, p .37 (Revelle, package psych; Steiger's case A).
    t, p_value = williams_test(0.4, 0.5, 0.1, 103)
    assert (round(t, 2), round(p_value, 2)) == (-0.89, 0.37)


@pytest.mark.oracle("Zou 2007", of="difference_of_correlations", within=0.0005)
def test_interval_matches_the_zou_example() -> None:
    # Zou 2007, overlapping correlations: r .396 and .179, .088 with each other, n = 66.
    assert dependent_interval(0.396, 0.179, 0.088, 66) == pytest.approx((-0.093, 0.517), abs=5e-4)


def test_williams_test_rejects_as_often_as_it_says_and_the_interval_holds() -> None:
    generator = np.random.default_rng(1)
    rejected = held = 0
    for _ in range(600):
        truth = generator.normal(size=10)
        one, other = (truth + 0.7 * generator.normal(size=10) for _ in "ab")
        found = difference_of_correlations(one, other, truth)
        assert found.p_value is not None
        assert found.low is not None
        assert found.high is not None
        rejected += found.p_value <= 0.05
        held += found.low <= 0 <= found.high
    assert 0.03 < rejected / 600 < 0.075
    assert held / 600 > 0.92


def means_of(values: FloatArray):
    return lambda weights: weights @ values / weights.sum(axis=1)


@pytest.mark.oracle("package SciPy 1.17.1, ttest_rel", of="difference_of_figures", within=1e-06)
def test_the_jackknife_of_few_means_is_the_paired_t_test() -> None:
    one, other = np.array([3.0, 4, 2, 5, 4, 4]), np.array([2.0, 4, 1, 3, 4, 5])
    found = difference_of_figures((means_of(one), means_of(other)), 6, np.random.default_rng(1))
    expected = scipy.stats.ttest_rel(one, other)
    interval = expected.confidence_interval()
    assert found.value == pytest.approx(np.mean(one - other))
    assert [found.p_value, found.low, found.high] == pytest.approx(
        [expected.pvalue, interval.low, interval.high]
    )


def test_document_variation_cancels_out() -> None:
    generator = np.random.default_rng(2)
    hard = generator.normal(size=60)
    one, other = (hard + 0.1 * generator.normal(size=60) + shift for shift in (0.1, 0))
    found = difference_of_figures((means_of(one), means_of(other)), 60, generator)
    assert found.low is not None
    assert found.high is not None
    assert found.p_value is not None
    assert found.low > 0
    assert found.high - found.low < 0.1
    # No replicate lies beyond 0 where the difference is this clear: the least p that there is.
    assert found.p_value == pytest.approx(2 / 2001)


def test_without_a_difference_in_any_resample_there_is_no_interval() -> None:
    same = means_of(np.arange(30.0))
    found = difference_of_figures((same, same), 30, np.random.default_rng(1))
    assert (found.value, found.low, found.p_value) == (0, None, None)
    assert found.reason == "The difference is the same in every resample of documents."


def test_no_correlation_without_variation_and_no_test_of_few() -> None:
    line = np.arange(4.0)
    constant = difference_of_correlations(np.ones(4), line, line)
    assert (constant.value, constant.reason) == (None, "A side has no variation over the 4 units of both.")
    few = difference_of_correlations(np.array([1.0, 3, 2, 4]), np.array([2.0, 1, 4, 3]), line)
    assert few.value == pytest.approx(0.8 - 0.6)
    assert (few.p_value, few.reason) == (
        None,
        "4 units are too few for Williams’ test, which needs 5.",
    )
