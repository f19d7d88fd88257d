"""Intervals of the correlation over one system's items: beside a jackknife by SciPy, and in simulations."""

from typing import Any, Literal

import numpy as np
import pytest
import scipy.stats

from agreement import Interval, PairMeasure, Resampling, spearman
from agreement.comparison import CORRELATIONS
from agreement.groups import MOST_LEFT_OUT, is_studentised, studentised_interval
from agreement.measures import pair_data
from benchmarks.coverage_by_system import held_by_system

pytestmark = pytest.mark.fast

SCIPY: dict[str, Any] = {
    "spearman": scipy.stats.spearmanr,
    "pearson": scipy.stats.pearsonr,
    "kendall_tau_b": scipy.stats.kendalltau,
}


def interval_of(
    measure: PairMeasure,
    first: np.ndarray,
    second: np.ndarray,
    by: Literal["units", "documents"] = "documents",
) -> tuple[Interval | None, str | None]:
    data = pair_data(first, second, np.arange(len(first)))
    return studentised_interval(measure, data, measure.of(data), Resampling(by=by))


@pytest.mark.parametrize("by", ["documents", "units"])
@pytest.mark.parametrize("measure", CORRELATIONS.values(), ids=CORRELATIONS)
def test_interval_matches_a_scipy_jackknife(measure: PairMeasure, by: Literal["units", "documents"]) -> None:
    generator = np.random.default_rng(2)
    first = generator.integers(1, 6, 15).astype(float)
    second = np.clip(first + generator.integers(-1, 2, 15), 1, 5)
    correlate = SCIPY[measure.estimator.name]
    r = correlate(first, second)[0]
    left_out = [correlate(np.delete(first, each), np.delete(second, each))[0] for each in range(15)]
    error = np.sqrt(14 / 15 * np.sum((left_out - np.mean(left_out)) ** 2))
    reach = scipy.stats.t(14).ppf(0.975) * error / (1 - r**2)
    interval, reason = interval_of(measure, first, second, by)
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx(
        np.tanh([np.arctanh(r) - reach, np.arctanh(r) + reach])
    )
    assert reason is None


def test_nearly_equal_values_have_no_interval() -> None:
    second = np.array([5.0] * 11 + [4])
    reason = "Too few of 12 values differ from the most frequent one for an interval."
    assert interval_of(spearman, np.arange(12.0), second) == (None, reason)


def test_many_items_are_resampled() -> None:
    values = np.arange(MOST_LEFT_OUT + 1.0)
    for some, expected in ((values, False), (values[1:], True)):
        data = pair_data(some, some % 7)
        assert is_studentised(spearman, data, spearman.of(data)) is expected


def test_perfect_correlation_is_resampled() -> None:
    data = pair_data(np.arange(12.0), np.arange(12.0))
    assert not is_studentised(spearman, data, spearman.of(data))
    with pytest.raises(ValueError, match="infinite"):
        interval_of(spearman, np.arange(12.0), np.arange(12.0))


def test_intervals_of_12_items_hold_their_level() -> None:
    """The jackknife without Fisher's z held .84 to .91 of them."""
    agreement, indicator, exist = held_by_system(spearman, 0.45, 3.2, 12, 300)
    assert min(agreement, indicator) > 0.92
    assert exist > 0.95
