"""Variances of single systems in the crossed model: by hand, beside SciPy, and in simulations."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from agreement.crossed import VarianceSource, crossed_differences
from agreement.crossed_fit import (
    SystemMeanSquares,
    VariancesBySystem,
    choose_mean_squares,
    fit_by_mean_squares,
    fit_by_reml,
    separate_mean_squares,
)
from benchmarks.coverage_crossed import SPLIT, held_pairs
from tests.agreement.dense_mixed_model import simulated

pytestmark = pytest.mark.fast

DEVIATIONS = (0.6, 0.5, 0.8, 0.5, 0.5, 0.6)


def all_common(value: float, freedom: float) -> SystemMeanSquares:
    """Mean squares of three systems that all use the common one."""
    never = np.zeros(3, dtype=bool)
    return SystemMeanSquares(np.full(3, value), np.full(3, freedom / 3), value, freedom, never, never)


@pytest.mark.parametrize("largest", [1.0, 1.5, 2.0, 2.1, 2.2, 3.0, 10.0])
def test_system_uses_its_own_mean_square_if_scipy_finds_it_larger(largest: float) -> None:
    own, freedoms = np.array([largest, 1, 1, 1, 1, 1]), np.full(6, 2.0)
    found = choose_mean_squares(own, freedoms)
    p_value = scipy.stats.f(2, 10).sf(largest)
    assert found.is_own.tolist() == [p_value < 0.15 and largest > 1, *[False] * 5]
    assert found.is_outlying.tolist() == [p_value < 0.01 / 6, *[False] * 5]
    assert found.common == pytest.approx(1 if found.is_outlying[0] else (5 + largest) / 6)
    assert found.common_freedom == (10 if found.is_outlying[0] else 12)
    assert found.used[0] == pytest.approx(largest if found.is_own[0] else found.common)


def test_one_outlying_system_does_not_hide_another() -> None:
    found = choose_mean_squares(np.array([1000.0, 60, 1, 1, 1, 1, 1, 1]), np.full(8, 4.0))
    assert found.is_outlying.tolist() == [True, True, *[False] * 6]
    assert found.common == 1


def test_more_than_every_second_system_is_never_outlying() -> None:
    found = choose_mean_squares(np.array([1e9, 1e9, 1e9, 1e-9, 1e-9]), np.full(5, 200.0))
    assert not found.is_outlying.any()


def test_equal_systems_share_the_usual_mean_square_and_its_freedom() -> None:
    """Deviations that any two systems have in the same size: (systems - 1) freedom in all."""
    deviations = np.array([[1.0, -1, 0], [0, 1, -1], [-1, 0, 1]])
    found = separate_mean_squares(deviations.T @ deviations, 2)
    assert found.own == pytest.approx([6 / 4] * 3)
    assert found.freedoms.sum() == pytest.approx(4)


def test_odd_system_does_not_enlarge_mean_squares_of_others() -> None:
    generator = np.random.default_rng(3)
    deviations = generator.normal(size=(200, 6)) * np.array([30, 1, 1, 1, 1, 1])
    deviations += 100 * generator.normal(size=(200, 1))
    deviations -= deviations.mean(axis=0)
    found = separate_mean_squares(deviations.T @ deviations, 199)
    assert found.own == pytest.approx([900, 1, 1, 1, 1, 1], rel=0.3)
    assert found.is_outlying.tolist() == [True, *[False] * 5]


def test_errors_of_a_pair_by_hand() -> None:
    """Raters 8 (own, 2 freedom) and 2 (common, 10), documents 3 and 3 (common, 50), residual 1 and 1."""
    raters = SystemMeanSquares(
        np.array([8.0, 2, 2]), np.array([2.0, 2, 2]), 2, 10, np.array([True, False, False]), np.zeros(3, bool)
    )
    found = VariancesBySystem(raters, all_common(3, 50), all_common(1, 100))
    both, alone = found.errors_of_pair(0, 1, (1, 1, 1))
    variance = 8.0 + 2 + 3 + 3 - 1 - 1
    assert list(both) == pytest.approx([variance, variance**2 / (64 / 2 + 4 / 10 + 36 / 50)])
    assert list(alone) == [8, 2]
    ((variance, freedom),) = found.errors_of_pair(1, 2, (1, 1, 1))
    assert [variance, freedom] == pytest.approx([8, 64 / (16 / 10 + 36 / 50)])


def test_a_mean_square_below_the_residual_counts_as_the_residual() -> None:
    found = VariancesBySystem(all_common(0.5, 10), all_common(3, 50), all_common(1, 100))
    ((variance, _),) = found.errors_of_pair(0, 1, (1, 1, 1))
    assert variance == 2 * (1 + 3 - 1)


def test_likelihood_finds_the_relative_mean_squares_of_complete_values() -> None:
    values = simulated(0, 6, 20, 4, DEVIATIONS, 0.0)
    values[:, :, 1] += np.linspace(-3, 3, 6)[:, None]
    values[:, :, 2] += np.linspace(-2, 2, 20)
    found, complete = fit_by_reml(values).by_system, fit_by_mean_squares(values).by_system
    assert found is not None
    assert complete is not None
    for source in ("raters", "documents", "residual"):
        relative, absolute = getattr(found, source), getattr(complete, source)
        assert relative.own / relative.own[0] == pytest.approx(absolute.own / absolute.own[0], rel=0.1)
        assert relative.is_outlying.tolist() == absolute.is_outlying.tolist()
    assert found.raters.common_freedom == pytest.approx(complete.raters.common_freedom, rel=0.05)
    assert found.documents.common_freedom == pytest.approx(complete.documents.common_freedom, rel=0.05)
    assert found.raters.is_outlying.tolist() == [False, True, False, False]
    assert found.documents.is_outlying.tolist() == [False, False, True, False]


def test_gap_changes_the_errors_of_pairs_little() -> None:
    values = simulated(0, 6, 20, 4, DEVIATIONS, 0.0)
    values[:, :, 1] += np.linspace(-3, 3, 6)[:, None]
    whole, names = crossed_differences(values, "ABCD"), "ABCD"
    values[0, 0, 0] = np.nan
    part = crossed_differences(values, names)
    assert [each.system for each in part.outlying] == [each.system for each in whole.outlying] == ["B"]
    for each, other in zip(part.differences, whole.differences, strict=True):
        widths = [(found.high or 0) - (found.low or 0) for found in (each, other)]
        assert widths[0] == pytest.approx(widths[1], rel=0.25)


def test_two_systems_have_one_variance() -> None:
    assert fit_by_mean_squares(simulated(0, 3, 8, 2, DEVIATIONS, 0.0)).by_system is None


def test_system_that_splits_raters_is_marked() -> None:
    values = simulated(1, 3, 40, 5, (0.1, 0.02, 0.1, 0.1, 0.1, 0.2), 0.0)
    values[:, :, 3] += np.array([-1.0, 0, 1])[:, None]
    (found,) = crossed_differences(values, "ABCDE").outlying
    assert (found.system, found.source) == ("D", VarianceSource.RATERS)
    assert found.ratio > 10


def test_pairs_with_a_system_that_splits_raters_hold_their_level() -> None:
    """One variance for all holds .73 of them; five pairs share their system, so shares vary by chance."""
    panel = replace(SPLIT, documents=100)
    by_system, common = (held_pairs(panel, 120, by_system=each) for each in (True, False))
    assert by_system.odd > 0.88 > common.odd
    assert by_system.familywise < 0.1
