"""Kappa, Fleiss, Gwet, ICC, Kendall's W and percent agreement against tables in the literature."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from agreement import (
    Coefficient,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlation,
    kendall_w,
    percent_agreement,
    weighted_kappa,
    within_one_agreement,
)
from agreement.complete import Form
from agreement.patterns import Weights
from tests.agreement.tables import (
    FLEISS_COUNTS,
    GAP,
    GWET_FIVE_OBSERVERS,
    SHROUT_FLEISS,
    from_counts,
    pairs,
    published,
    ratings,
)


def crossed(counts: list[list[int]]) -> np.ndarray:
    """Two raters from a square table: rows are the first rater's values 1, 2, ..., columns the second's."""
    cells = np.argwhere(np.array(counts) > 0)
    return pairs(*((row + 1, column + 1) for row, column in cells for _ in range(counts[row][column])))


# rows 3 3 4, columns 3 3 4 of 10; disagreements (1,2), (2,3), (3,1)
THREE_BY_THREE = [[2, 1, 0], [0, 2, 1], [1, 0, 3]]


@pytest.mark.oracle("fraction worked by hand", of="weighted_kappa", within=1e-15)
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("identity", 1 - Fraction(3, 10) / Fraction(66, 100)),
        ("linear", 1 - Fraction(4, 10) / Fraction(90, 100)),
        ("quadratic", 1 - Fraction(6, 10) / Fraction(138, 100)),
    ],
)
def test_weighted_kappa_by_hand(weights: Weights, expected: Fraction) -> None:
    table = ratings(crossed(THREE_BY_THREE))
    assert weighted_kappa(table, weights=weights).value == pytest.approx(float(expected), abs=1e-15)


def test_cohens_kappa_of_the_textbook_table() -> None:
    # po = .7, pe = .5
    kappa = weighted_kappa(ratings(crossed([[20, 5], [10, 15]]), "nominal"))
    assert kappa.value == pytest.approx(0.4, abs=1e-15)
    assert kappa.label == "Cohen's kappa"


def test_more_raters_give_the_mean_over_pairs_and_count_undefined_ones() -> None:
    first, second = crossed(THREE_BY_THREE)
    constant = np.full(10, 2.0)
    kappa = weighted_kappa(ratings(np.stack([first, second, constant, constant]), "nominal"))
    # 6/11 for the first pair, 0 for four pairs with a constant rater, none for the two constant raters
    assert kappa.value == pytest.approx(6 / 11 / 5, abs=1e-15)
    assert kappa.parameters == {"weights": "identity", "pairs": 6, "undefined_pairs": 1}


@pytest.mark.parametrize(
    ("level", "weights"),
    [("nominal", "identity"), ("ordinal", "linear"), ("interval", "quadratic"), ("ratio", "quadratic")],
)
def test_the_measurement_level_gives_the_usual_weights(level: str, weights: str) -> None:
    assert weighted_kappa(ratings(crossed(THREE_BY_THREE), level)).parameters["weights"] == weights


def test_unknown_weights_are_rejected() -> None:
    with pytest.raises(ValueError, match="'cubic' are not one of: identity, linear, quadratic"):
        weighted_kappa(ratings(crossed(THREE_BY_THREE)), weights="cubic")  # type: ignore[arg-type]


@pytest.mark.oracle("worked example of Fleiss’ kappa, Wikipedia", of="fleiss_kappa", within=5e-07)
def test_fleiss_kappa_of_the_worked_example() -> None:
    # P = (1 + .253 + .308 + .440 + .330 + .462 + .242 + .176 + .286 + .286) / 10, Pe = .213
    kappa = fleiss_kappa(ratings(from_counts(FLEISS_COUNTS), "nominal", [1, 2, 3, 4, 5]))
    assert kappa.value == pytest.approx(0.209931, abs=5e-7)


@pytest.mark.oracle(
    "Gwet 2014, four raters; package irrCAC 0.4.4", of=("gwet_ac", "fleiss_kappa"), within=5e-06
)
@pytest.mark.parametrize(
    ("coefficient", "weights", "expected"),
    [
        (gwet_ac, "identity", 0.77544),
        (gwet_ac, "quadratic", 0.91400),
        (fleiss_kappa, "identity", 0.76117),
        (fleiss_kappa, "quadratic", 0.86494),
    ],
)
def test_gwets_four_raters(
    coefficient: Callable[..., Coefficient], weights: Weights, expected: float
) -> None:
    table = ratings(published("krippendorff-2018-p290"), "interval", [1, 2, 3, 4, 5])
    assert coefficient(table, weights=weights).value == pytest.approx(expected, abs=5e-6)


@pytest.mark.oracle(
    "Gwet 2014, five observers; package irrCAC 0.4.4", of=("gwet_ac", "fleiss_kappa"), within=5e-06
)
@pytest.mark.parametrize(("coefficient", "expected"), [(gwet_ac, 0.68964), (fleiss_kappa, 0.61185)])
def test_gwets_five_observers_with_linear_weights(
    coefficient: Callable[..., Coefficient], expected: float
) -> None:
    table = ratings(GWET_FIVE_OBSERVERS, "ordinal", [0, 1, 2, 3])
    assert coefficient(table, weights="linear").value == pytest.approx(expected, abs=5e-6)


def test_gwets_ac1_stays_high_where_kappa_falls_below_0() -> None:
    table = ratings(crossed([[118, 5], [2, 0]]), "nominal")
    observed, share = Fraction(118, 125), Fraction(243, 250)
    chance = 2 * share * (1 - share)
    assert gwet_ac(table).value == pytest.approx(float((observed - chance) / (1 - chance)), abs=1e-14)
    expected = Fraction(123 * 120 + 2 * 5, 125**2)
    kappa = weighted_kappa(table)
    assert kappa.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-14)
    assert kappa.value is not None
    assert kappa.value < 0


@pytest.mark.oracle(
    "Shrout and Fleiss 1979, table 4; McGraw and Wong 1996",
    of=("icc_a1", "icc_ak", "icc_ck", "intraclass_correlation"),
    within=0.005,
)
@pytest.mark.parametrize(
    ("form", "value", "low", "high"),
    [
        ("1", 0.17, -0.13, 0.72),
        ("A,1", 0.29, 0.02, 0.76),
        ("C,1", 0.71, 0.34, 0.95),
        ("k", 0.44, -0.88, 0.91),
        ("A,k", 0.62, 0.07, 0.93),
        ("C,k", 0.91, 0.68, 0.99),
    ],
)
def test_shrout_and_fleiss(form: Form, value: float, low: float, high: float) -> None:
    icc = intraclass_correlation(ratings(SHROUT_FLEISS), form=form)
    assert icc.value == pytest.approx(value, abs=0.005)
    assert icc.interval is not None
    assert (icc.interval.low, icc.interval.high) == pytest.approx((low, high), abs=0.005)


@pytest.mark.oracle(
    "fraction worked by hand", of=("icc_a1", "icc_ak", "icc_ck", "intraclass_correlation"), within=1e-14
)
def test_icc_by_hand() -> None:
    # 1 2, 2 4, 3 3: unit means 1.5 3 3, rater means 2 3, grand 2.5; squares: units 3, raters 1.5, error 1
    table = ratings(pairs((1, 2), (2, 4), (3, 3)))
    units, raters, error = Fraction(3, 2), Fraction(3, 2), Fraction(1, 2)
    expected = {
        "C,1": (units - error) / (units + error),
        "C,k": (units - error) / units,
        "A,1": (units - error) / (units + error + 2 * (raters - error) / 3),
        "A,k": (units - error) / (units + (raters - error) / 3),
    }
    for form, value in expected.items():
        icc = intraclass_correlation(table, form=form)  # type: ignore[arg-type]
        assert icc.value == pytest.approx(float(value), abs=1e-14)


@pytest.mark.parametrize(
    ("form", "table", "reason"),
    [
        ("A,k", [[5, 1, 1, 5], [1, 3, 1, 2], [3, 3, 3, 1]], "One rater’s limit is so low"),
        ("A,k", [[4, 3], [1, 2], [4, 4]], "The F distributions have no limits"),
    ],
)
def test_icc_without_limits_has_a_reason(form: Form, table: list[list[int]], reason: str) -> None:
    icc = intraclass_correlation(ratings(table), form=form)
    assert icc.value is not None
    assert icc.interval is None
    assert (icc.interval_reason or "").startswith(reason)


def test_icc_excludes_incomplete_units_and_reports_it() -> None:
    gaps = np.array([[1.0, GAP], [GAP, 2.0], [3.0, 3.0], [GAP, GAP]])
    icc = intraclass_correlation(ratings(np.hstack([SHROUT_FLEISS, gaps])))
    assert icc.value == intraclass_correlation(ratings(SHROUT_FLEISS)).value
    assert (icc.counts.units, icc.counts.units_left_out) == (8, 2)


def test_unknown_form_of_icc_is_rejected() -> None:
    with pytest.raises(ValueError, match="The form '2,1' is not one of"):
        intraclass_correlation(ratings(SHROUT_FLEISS), form="2,1")  # type: ignore[arg-type]


def test_kendalls_w_by_hand() -> None:
    # rank sums 4 6 8, S = 8, W = 12 * 8 / (9 * 24); chi2 = 3 * 2 * W with 2 degrees: p = exp(-chi2 / 2)
    result = kendall_w(ratings([[1, 2, 3], [2, 1, 3], [1, 3, 2]], "ordinal"))
    assert result.value == pytest.approx(4 / 9, abs=1e-15)
    assert result.parameters["chi2"] == pytest.approx(8 / 3, abs=1e-14)
    assert result.parameters["p_value"] == pytest.approx(math.exp(-4 / 3), abs=1e-14)


@pytest.mark.oracle("fraction worked by hand", of="kendall_w", within=1e-15)
def test_kendalls_w_with_ties_by_hand() -> None:
    # ranks 1.5 1.5 3 and 1 2 3: S = 6.5, T = 6, W = 12 * 6.5 / (4 * 24 - 2 * 6)
    assert kendall_w(ratings([[1, 1, 2], [1, 2, 3]], "ordinal")).value == pytest.approx(13 / 14, abs=1e-15)


def agreements(*units: tuple[float, ...]) -> tuple[Coefficient, Coefficient]:
    table = ratings(pairs(*units))
    return percent_agreement(table), within_one_agreement(table)


@pytest.mark.oracle("fraction worked by hand", of=("percent_agreement", "within_one_agreement"), within=1e-15)
def test_percent_agreement_is_averaged_over_units() -> None:
    exact, within_one = agreements((1, 1, 2), (3, 3, GAP), (1, 5, 4), (2, GAP, GAP))
    assert exact.value == pytest.approx((1 / 3 + 1 + 0) / 3, abs=1e-15)
    assert within_one.value == pytest.approx((1 + 1 + 1 / 3) / 3, abs=1e-15)
    assert (exact.counts.units, exact.counts.pairable_units) == (4, 3)
