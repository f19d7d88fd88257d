"""The interval of a standard deviation: Bonett's steps by hand, and how often it holds."""

import numpy as np
import pytest

from agreement import standard_deviation
from agreement.summary import deviation_interval
from benchmarks.coverage_spread import SPREADS, held_deviations

pytestmark = pytest.mark.fast


def test_its_steps_by_hand() -> None:
    """Of 1, ..., 6 and a heavy 12: trimmed by 7 / (2 sqrt 3) = 2.02, so two at each end."""
    values = np.array([1.0, 2, 3, 4, 5, 6, 12])
    interval, reason = deviation_interval(values)
    assert interval is not None
    assert reason is None
    squares = sum((value - 33 / 7) ** 2 for value in values)
    kurtosis = 7 * sum((value - 4) ** 4 for value in values) / squares**2
    c = 7 / (7 - 1.959963985)
    error = c * ((kurtosis - 4 / 7) / 6) ** 0.5
    ends = [(c * squares / 6 * np.exp(sign * 1.959963985 * error)) ** 0.5 for sign in (-1, 1)]
    assert [interval.low, interval.high] == pytest.approx(ends)


def test_of_few_or_equal_values_there_is_none_and_why() -> None:
    assert deviation_interval(np.arange(5.0))[1] == (
        "An interval of a standard deviation needs 6 values; there are 5."
    )
    found = standard_deviation([4.0] * 9, generator=np.random.default_rng(1))
    assert (found.value, found.interval) == (0, None)
    assert "All values are the same" in str(found.interval_reason)


@pytest.mark.parametrize("size", [6, 7, 20, 100])
def test_interval_contains_the_value_even_with_only_two_points(size: int) -> None:
    values = [1.0, 5.0] * (size // 2) + [1.0] * (size % 2)
    found = standard_deviation(values, generator=np.random.default_rng(1))
    assert found.interval is not None
    assert found.interval.low <= (found.value or 0) <= found.interval.high


@pytest.mark.parametrize("spread", SPREADS)
def test_interval_has_its_nominal_coverage(spread: tuple[float, float]) -> None:
    assert held_deviations(spread, 20, 400) >= 0.89
