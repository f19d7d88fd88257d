"""Intervals of the correlation over one system's items: beside a jackknife by SciPy, and in simulations."""

from typing import Any, Literal

import numpy as np
import pytest
import scipy.stats

from agreement import Interval, PairMeasure, Resampling, spearman
from agreement.comparison import CORRELATIONS
from agreement.measures import pair_data
from agreement.studentised import MOST_LEFT_OUT, is_studentised, studentised_interval
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
def test_interval_is_that_of_a_jackknife_by_scipy(
    measure: PairMeasure, by: Literal["units", "documents"]
) -> None:
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


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (np.arange(12.0), "At 1 Fisher’s z is infinite, so there is no interval."),
        (
            np.array([5.0] * 11 + [4]),
            "Too few of 12 values differ from the most frequent one for an interval.",
        ),
    ],
)
def test_without_an_interval_there_is_a_reason(second: np.ndarray, reason: str) -> None:
    assert interval_of(spearman, np.arange(12.0), second) == (None, reason)


def test_many_items_are_resampled() -> None:
    values = np.arange(MOST_LEFT_OUT + 1.0)
    assert not is_studentised(spearman, pair_data(values, values))
    assert is_studentised(spearman, pair_data(values[1:], values[1:]))


def test_intervals_of_12_items_hold_their_level() -> None:
    """The jackknife without Fisher's z held .84 to .91 of them."""
    agreement, indicator, exist = held_by_system(spearman, 0.45, 3.2, 12, 300)
    assert min(agreement, indicator) > 0.92
    assert exist > 0.95
