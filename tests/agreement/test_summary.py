"""Mean and spread of one list of values, and of raters within units."""

import numpy as np
import pytest
from scipy import stats

from agreement import Coefficient, mean, mean_score, spread_within_units, standard_deviation
from tests.agreement.tables import GAP

TEXTBOOK = [2, 4, 4, 4, 5, 5, 7, 9]  # mean 5, squares 9 1 1 1 0 0 4 16: variance 32 / 8


@pytest.mark.oracle("fraction worked by hand", of="mean", within=1e-06)
def test_a_gap_is_no_value() -> None:
    coefficient = mean([1, 2, GAP, 6])
    assert coefficient.value == pytest.approx(3)
    assert (coefficient.counts.units, coefficient.counts.ratings) == (4, 3)


@pytest.mark.oracle("fraction worked by hand", of="standard_deviation", within=1e-06)
def test_a_standard_deviation_has_the_divisor_n() -> None:
    assert standard_deviation(TEXTBOOK).value == pytest.approx(2)
    assert standard_deviation([*TEXTBOOK, GAP]).value == pytest.approx(2)


def test_equal_values_deviate_by_exactly_nothing() -> None:
    assert standard_deviation([0.1] * 7).value == 0


@pytest.mark.oracle("fraction worked by hand", of="spread_within_units", within=1e-06)
def test_spread_within_units_is_the_mean_of_the_units_deviations() -> None:
    coefficient = spread_within_units([[1.0, 3, 5, 1], [3.0, 3, GAP, 1], [GAP, GAP, GAP, 4]])
    assert coefficient.value == pytest.approx((1 + 0 + np.sqrt(2)) / 3)  # 1 1 4: squares 1 1 4 over 3
    assert (coefficient.counts.units, coefficient.counts.ratings) == (4, 3)


@pytest.mark.parametrize(
    ("coefficient", "reason"),
    [
        (mean([]), "There are no values yet."),
        (mean([GAP, GAP]), "There are no values yet."),
        (standard_deviation([]), "There are no values yet."),
        (standard_deviation([4, GAP]), "There is only one value; two or more are needed."),
        (
            spread_within_units([[1, GAP], [GAP, 2]]),
            "No unit has values from two raters; have the raters rate some of the same units.",
        ),
        (
            spread_within_units(np.empty((0, 3))),
            "No unit has values from two raters; have the raters rate some of the same units.",
        ),
    ],
)
def test_undefined_summary_has_a_reason(coefficient: Coefficient, reason: str) -> None:
    assert coefficient.value is None
    assert coefficient.reason == reason
    assert coefficient.interval is None


def test_a_table_has_no_mean() -> None:
    with pytest.raises(ValueError, match="A list of values is needed"):
        mean([[1, 2], [3, 4]])


def test_the_interval_of_a_mean_is_as_wide_as_theory_says() -> None:
    interval = mean([0.0, 1.0] * 200, generator=np.random.default_rng(3)).interval
    assert interval is not None
    assert interval.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.01)
    assert interval.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.01)
    assert interval.method == "percentile bootstrap of units"


def test_few_values_use_the_jackknife() -> None:
    interval = mean([1, 2, 3, 4], generator=np.random.default_rng(0)).interval
    assert interval is not None
    error = np.sqrt(5 / 3 / 4)  # the jackknife's error of a mean is its standard error, with divisor n - 1
    assert interval.high - 2.5 == pytest.approx(3.182446 * error, abs=1e-5)


def test_equal_values_have_no_estimated_spread() -> None:
    coefficient = mean([3.0] * 30, generator=np.random.default_rng(0))
    assert coefficient.value == 3
    assert coefficient.interval is None
    assert coefficient.interval_reason is not None


@pytest.mark.oracle("package SciPy 1.17.1, t.interval", of="mean_score", within=1e-12)
def test_interval_of_a_mean_score_is_students_cut_to_the_scale() -> None:
    of_population = mean_score([*TEXTBOOK, GAP], (0, 10))
    low, high = stats.t.interval(0.95, 7, 5, stats.sem(TEXTBOOK))
    assert of_population.interval is not None
    assert (of_population.interval.low, of_population.interval.high) == pytest.approx((low, high), abs=1e-12)
    of_ten_texts = mean_score(TEXTBOOK, (0, 10), texts=10).interval
    low, high = stats.t.interval(0.95, 7, 5, stats.sem(TEXTBOOK) * np.sqrt(2 / 10))
    assert of_ten_texts is not None
    assert (of_ten_texts.low, of_ten_texts.high) == pytest.approx((low, high), abs=1e-12)
    cut = mean_score(TEXTBOOK, (4.5, 5.5)).interval
    assert cut is not None
    assert (cut.low, cut.high) == (4.5, 5.5)
