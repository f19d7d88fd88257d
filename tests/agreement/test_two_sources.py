"""Systems ranked by two sources: means, ranks, differences, and tau-b with its interval."""

import numpy as np
import pytest
from scipy import stats

from agreement import Stream, compare_rankings, holm

pytestmark = pytest.mark.fast

SYSTEMS = ("A", "B", "C")
STREAM = Stream(1)


def scores(documents: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Two sources (documents, 3) with a gap each; the second moves C up."""
    generator = np.random.default_rng(5)
    first = 3 + np.array([0.5, 0.0, -0.6]) + generator.normal(size=(documents, 3))
    second = first + np.array([0.0, 0.1, 1.4]) + generator.normal(scale=0.6, size=(documents, 3))
    first[0, 0] = second[3, 2] = np.nan
    return first, second


@pytest.mark.oracle("package SciPy 1.17.1, kendalltau and ttest_rel", of="compare_rankings")
def test_ranks_and_differences_match_scipy() -> None:
    first, second = scores()
    found = compare_rankings(first, second, SYSTEMS, generator=STREAM)
    both = ~np.isnan(first) & ~np.isnan(second)
    sides = [[values[both[:, k], k] for k in range(3)] for values in (first, second)]
    means = [[values.mean() for values in side] for side in sides]
    assert found.means == pytest.approx(np.array(means))
    assert found.ranks.tolist() == [[4 - rank for rank in stats.rankdata(side)] for side in means]
    assert found.tau.value == pytest.approx(stats.kendalltau(*means).statistic)
    tests = [stats.ttest_rel(sides[1][k], sides[0][k]) for k in range(3)]
    for own, test in zip(found.differences, tests, strict=True):
        limits = test.confidence_interval(0.95)
        assert (own.p_value, own.low, own.high) == pytest.approx((test.pvalue, limits.low, limits.high))
    adjusted = holm([test.pvalue for test in tests])
    assert [each.adjusted_p_value for each in found.differences] == pytest.approx(adjusted)


@pytest.mark.oracle("package SciPy 1.17.1, kendalltau without each document in turn", of="compare_rankings")
def test_tau_interval_leaves_out_documents() -> None:
    generator = np.random.default_rng(3)
    one = np.arange(7) / 3 + generator.normal(size=(12, 7))
    other = np.arange(7) / 3 + generator.normal(size=(12, 7))
    found = compare_rankings(one, other, "ABCDEFG", generator=STREAM)
    taus = []
    for left_out in range(12):  # below 20 documents each is left out in turn
        rest = np.arange(12) != left_out
        taus.append(stats.kendalltau(one[rest].mean(axis=0), other[rest].mean(axis=0)).statistic)
    reach = stats.t.ppf(0.975, 11) * np.sqrt(11 / 12 * np.sum((np.array(taus) - np.mean(taus)) ** 2))
    assert found.tau.value is not None
    assert found.tau.interval is not None
    ends = (found.tau.interval.low, found.tau.interval.high)
    assert ends == pytest.approx((found.tau.value - reach, min(found.tau.value + reach, 1)))


def test_equal_sources_change_no_rank() -> None:
    first, _ = scores()
    found = compare_rankings(first, first, SYSTEMS, generator=STREAM)
    assert (found.ranks[0] == found.ranks[1]).all()
    assert found.tau.value == 1
    assert [each.value for each in found.differences] == [0, 0, 0]


def test_tau_of_one_system_is_undefined() -> None:
    first, second = (values[:, :1] for values in scores())
    found = compare_rankings(first, second, ("A",), generator=STREAM)
    assert found.tau.value is None
    assert found.tau.reason
