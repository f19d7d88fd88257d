"""Whether a new system lies outside the calibrated ones."""

import numpy as np
import pytest
import scipy

from agreement import compare_with_systems

pytestmark = pytest.mark.fast


@pytest.mark.oracle("fraction worked by hand", of="compare_with_systems", within=1e-6)
def test_prediction_interval_worked_by_hand() -> None:
    # Means 40, 50 and 60: s = 10, t(2) = 4.302653, sqrt(4 / 3) = 1.154701, so 50 +- 49.682754.
    calibrated, systems = [30, 50, 50, 50, 60, 60, np.nan], list("aabbccc")
    found = compare_with_systems([100, 110, 40, np.nan], calibrated, systems)
    assert (found.expected_from, found.expected_to) == pytest.approx((0.317246, 99.682754), abs=1e-6)
    assert (found.lowest, found.highest) == (40, 60)
    assert found.beyond == pytest.approx(2 / 3)
    assert not found.is_outside
    assert compare_with_systems([101, 101], calibrated, systems).is_outside


@pytest.mark.oracle(
    "simulation, share of intervals that hold one more system", of="compare_with_systems", within=0.02
)
def test_one_more_system_is_within_at_the_stated_rate() -> None:
    generator = np.random.default_rng(3)
    inside = [
        not compare_with_systems([draws[-1]], draws[:-1], np.arange(4)).is_outside
        for draws in generator.normal(50, 10, (2000, 5))
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
    assert scipy.stats.binomtest(sum(inside), 2000, 0.95).pvalue > 0.001


def test_too_little_to_compare_has_a_reason() -> None:
    assert "2 calibrated systems" in compare_with_systems([1.0], [1, 2], ["a", "b"]).reason
    assert "no values" in compare_with_systems([np.nan], [1, 2, 3], ["a", "b", "c"]).reason
