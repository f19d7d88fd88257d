import math
import warnings
from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agreement import MeasurementLevel, krippendorff_alpha
from tests.agreement.tables import GAP, KRIPPENDORFF_A, KRIPPENDORFF_B, pairs, published, ratings

FOUR_UNITS = pairs((1, 2), (2, 3), (3, 3), (1, 1))  # n = 3, 2, 3; o_12 = o_23 = 1

BY_HAND = {
    # 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, over the pairs (1,2), (2,3), (1,3)
    "nominal": 1 - Fraction(7 * 2, 6 + 6 + 9),
    "ordinal": 1 - 7 * Fraction(25, 2) / (6 * Fraction(25, 4) + 6 * Fraction(25, 4) + 9 * 25),
    "interval": 1 - Fraction(7 * 2, 6 * 1 + 6 * 1 + 9 * 4),
    "ratio": 1 - 7 * (Fraction(1, 9) + Fraction(1, 25)) / (Fraction(6, 9) + Fraction(6, 25) + Fraction(9, 4)),
}

PUBLISHED = [
    ("krippendorff-2018-p310", "nominal", 0.759162),
    ("krippendorff-2018-p290", "nominal", 0.743421),
    ("krippendorff-2018-p290", "ordinal", 0.815388),
    ("krippendorff-2018-p290", "interval", 0.849107),
    ("krippendorff-2018-p290", "ratio", 0.797403),
    ("krippendorff-2018-p306", "nominal", 0.234375),
    ("wikipedia", "nominal", 0.691358),
    ("wikipedia", "ordinal", 0.806721),
    ("wikipedia", "interval", 0.810845),
    ("wikipedia", "ratio", 0.808944),
    ("hayes-krippendorff-2007", "nominal", 0.476510),
    ("hayes-krippendorff-2007", "ordinal", 0.759829),
    ("hayes-krippendorff-2007", "interval", 0.757378),
]


@pytest.mark.oracle("fraction worked by hand", of="krippendorff_alpha", within=1e-15)
@pytest.mark.parametrize(("level", "expected"), BY_HAND.items())
def test_equals_the_fraction_derived_by_hand(level: str, expected: Fraction) -> None:
    assert krippendorff_alpha(ratings(FOUR_UNITS, level)).value == pytest.approx(float(expected), abs=1e-15)


def test_a_unit_of_three_values_counts_each_pair_half() -> None:
    # 1 1 2 gives o_12 = 2 / 2 = 1 beside 2 2: n_1 = 2, n_2 = 3, so alpha = 1 - 4 * 1 / 6
    table = ratings([[1, 2], [1, 2], [2, GAP]], "nominal")
    assert krippendorff_alpha(table).value == pytest.approx(1 / 3, abs=1e-15)


def test_krippendorffs_first_example() -> None:
    # 4 of 10 pairs differ, 14 zeros and 6 ones: 1 - 19 * 4 / 84
    assert krippendorff_alpha(ratings(KRIPPENDORFF_A, "nominal")).value == pytest.approx(2 / 21, abs=1e-15)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("nominal", 0.691964), ("ordinal", 0.598062), ("interval", 0.620283), ("ratio", 0.555690)],
)
def test_krippendorffs_second_example(level: str, expected: float) -> None:
    assert krippendorff_alpha(ratings(KRIPPENDORFF_B, level)).value == pytest.approx(expected, abs=5e-7)


@pytest.mark.oracle(
    "Krippendorff 2018; Hayes and Krippendorff 2007; Wikipedia", of="krippendorff_alpha", within=5e-07
)
@pytest.mark.parametrize(("name", "level", "expected"), PUBLISHED)
def test_published_examples(name: str, level: str, expected: float) -> None:
    assert krippendorff_alpha(ratings(published(name), level)).value == pytest.approx(expected, abs=5e-7)


def test_counts_of_hayes_and_krippendorff() -> None:
    counts = krippendorff_alpha(ratings(published("hayes-krippendorff-2007"), "ordinal")).counts
    assert (counts.units, counts.raters, counts.pairable_values) == (40, 5, 159)


def oracle(table: np.ndarray, level: str) -> float | None:
    """The `krippendorff` package; None where it raises or gives NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            value = float(krippendorff.alpha(table, level_of_measurement=level))  # type: ignore[arg-type]
        except ValueError:
            return None
    return None if math.isnan(value) else value


shapes = st.tuples(st.integers(2, 6), st.integers(1, 30))
points = st.sampled_from([GAP, 0.0, 1.0, 2.0, 3.0, 4.0])
decimals = st.one_of(st.just(GAP), st.integers(0, 1000).map(lambda number: number / 8))


@pytest.mark.oracle("package krippendorff 0.9.0", of="krippendorff_alpha", within=1e-12)
@pytest.mark.parametrize("level", MeasurementLevel)
@pytest.mark.parametrize("cells", [points, decimals], ids=["five points", "many values"])
def test_agrees_with_the_krippendorff_package(level: MeasurementLevel, cells: st.SearchStrategy) -> None:
    @settings(max_examples=60, deadline=None)
    @given(arrays.arrays(float, shapes, elements=cells))
    def agrees(table: np.ndarray) -> None:
        if np.isnan(table).all():
            return
        value, expected = krippendorff_alpha(ratings(table, level)).value, oracle(table, level.value)
        assert (value is None) == (expected is None)
        if expected is not None:
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)

    agrees()


@pytest.mark.parametrize("level", MeasurementLevel)
@pytest.mark.parametrize("share_of_gaps", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("values", [2, 5, 100])
def test_agrees_with_the_krippendorff_package_on_long_tables(
    level: MeasurementLevel, share_of_gaps: float, values: int
) -> None:
    generator = np.random.default_rng([values, int(10 * share_of_gaps)])
    table = generator.integers(0, values, (1, 400)) + generator.integers(0, 3, (5, 400)) * 1.0
    table[generator.random(table.shape) < share_of_gaps] = GAP
    expected = oracle(table, level.value)
    assert expected is not None
    assert krippendorff_alpha(ratings(table, level)).value == pytest.approx(expected, abs=1e-12)


def test_patterns_of_many_raters_are_not_confused() -> None:
    # numbered in base 4, the first of these 40 raters would fall off the end of a 64-bit number
    table = np.ones((40, 60))
    table[:6] = np.random.default_rng(3).integers(0, 3, (6, 60))
    expected = oracle(table, "interval")
    assert krippendorff_alpha(ratings(table)).value == pytest.approx(expected, abs=1e-12)
