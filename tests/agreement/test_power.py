"""Documents that a paired comparison needs."""

import numpy as np
import pytest
import scipy

from agreement.design import documents_needed, fewest_reaching, paired_power, smallest_difference_found
from benchmarks.coverage_power import Judged, power_of_judges, power_of_replacement


@pytest.mark.parametrize(("effect", "documents"), [(0.5, 34), (0.2, 199), (0.8, 15)])
def test_documents_match_another_program(effect: float, documents: int) -> None:
    """R: power.t.test(delta = effect, sd = 1, power = .8, type = "paired"), rounded up."""
    assert documents_needed(effect, 1.0) == documents
    assert paired_power(effect, 1.0, documents) >= 0.8 > paired_power(effect, 1.0, documents - 1)


def test_power_is_the_noncentral_t_of_scipy() -> None:
    critical = scipy.stats.t.ppf(0.995, 19)
    expected = scipy.stats.nct.sf(critical, 19, 0.7 * np.sqrt(20))
    assert paired_power(-1.4, 2.0, 20, significance_level=0.01) == pytest.approx(expected)
    # With three documents a critical value is large, and so is what it takes to exceed it for sure.
    critical = scipy.stats.t.ppf(1 - 0.0005 / 2, 2)
    expected = scipy.stats.nct.sf(critical, 2, critical + 20)
    assert paired_power((critical + 20) / np.sqrt(3), 1.0, 3, significance_level=0.0005) == pytest.approx(
        expected
    )
    assert expected < 0.9
    assert paired_power(1e9, 1.0, 3) == 1


def test_smallest_difference_is_detected_with_its_power() -> None:
    smallest = smallest_difference_found(0.7, 40, significance_level=0.01)
    assert paired_power(smallest, 0.7, 40, significance_level=0.01) == pytest.approx(0.8)


def test_nothing_finds_a_difference_of_zero_and_no_spread_finds_any() -> None:
    assert documents_needed(0, 1.0) is None
    assert documents_needed(1e-6, 1.0) is None
    assert fewest_reaching(lambda number: number >= 12, least=3, most=10) is None
    assert fewest_reaching(lambda number: number >= 10, least=3, most=10) == 10
    assert documents_needed(0.1, 0.0) == 3
    with pytest.raises(ValueError, match="three documents"):
        paired_power(1, 1, 2)


def test_power_of_two_judges_is_reached() -> None:
    """`python benchmarks/coverage.py power` measures more."""
    documents, reached = power_of_judges(Judged((0.7, 0.9)), 600)
    assert documents > 40
    assert reached == pytest.approx(0.8, abs=0.05)


def test_power_of_the_replacement_test_is_reached() -> None:
    documents, reached = power_of_replacement(Judged((0.6, 1.0)), 40, pilot=1_000)
    assert 20 < documents < 100
    assert reached == pytest.approx(0.8, abs=0.15)
