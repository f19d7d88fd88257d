"""Where a coefficient does not exist, it says so and why; never NaN, 0 or 1."""

import numpy as np
import pytest

from agreement import COEFFICIENTS, MEASURES, intraclass_correlation, krippendorff_alpha
from tests.agreement.tables import GAP, pairs, ratings

SCALE = [1, 2, 3, 4, 5]
NOTHING_TO_COMPARE = {
    "no units": np.empty((3, 0)),
    "no raters": np.empty((0, 3)),
    "no ratings": np.full((3, 4), GAP),
    "one rater": np.array([[1.0, 2.0, 3.0]]),
    "one rater gave values": np.array([[1.0, 2.0, 3.0], [GAP, GAP, GAP]]),
    "no shared unit": np.array([[1.0, 2.0, GAP, GAP], [GAP, GAP, 3.0, 4.0]]),
}
ALL_FIVE = np.full((3, 6), 5.0)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("table", NOTHING_TO_COMPARE.values(), ids=NOTHING_TO_COMPARE)
def test_without_two_values_for_a_unit_nothing_is_defined(name: str, table: np.ndarray) -> None:
    generator = np.random.default_rng(0)
    coefficient = COEFFICIENTS[name](ratings(table, "interval", SCALE), generator=generator)
    assert coefficient.value is None
    assert coefficient.reason
    assert coefficient.reason.endswith(".")
    assert coefficient.interval is None


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("no ratings", "There are no ratings yet."),
        ("one rater", "Only one rater gave values; have a second rater rate the same units."),
        (
            "no shared unit",
            "No unit has values from two raters; have the raters rate some of the same units.",
        ),
    ],
)
def test_reason_names_the_remedy(case: str, expected: str) -> None:
    assert krippendorff_alpha(ratings(NOTHING_TO_COMPARE[case], "interval", SCALE)).reason == expected


CHANCE_CORRECTED = sorted(set(COEFFICIENTS) - {"percent_agreement", "within_one_agreement", "gwet_ac"})


@pytest.mark.parametrize("name", CHANCE_CORRECTED)
def test_agreement_without_variation_is_undefined_and_has_a_reason(name: str) -> None:
    coefficient = COEFFICIENTS[name](ratings(ALL_FIVE, "interval", SCALE))
    assert coefficient.value is None
    assert coefficient.reason


def test_alpha_names_the_only_value() -> None:
    reason = krippendorff_alpha(ratings(ALL_FIVE, "ordinal", SCALE)).reason
    assert reason is not None
    assert reason.startswith("Every value is 5: without variation")


def test_a_lone_rating_that_differs_is_no_variation() -> None:
    table = np.array([[5.0, 5.0, 1.0], [5.0, 5.0, GAP]])
    assert krippendorff_alpha(ratings(table, "nominal", SCALE)).value is None


@pytest.mark.parametrize("name", ["percent_agreement", "within_one_agreement", "gwet_ac"])
def test_these_are_full_without_variation(name: str) -> None:
    coefficient = COEFFICIENTS[name](ratings(ALL_FIVE, "interval", SCALE))
    assert coefficient.value == pytest.approx(1.0, abs=1e-15)


def test_gwets_coefficient_needs_a_scale_of_two_values() -> None:
    coefficient = COEFFICIENTS["gwet_ac"](ratings(ALL_FIVE, "nominal", [5]))
    assert coefficient.reason == "The scale has a single value, so no disagreement is possible."


@pytest.mark.parametrize("name", ["within_one_agreement", "icc_a1", "icc_ak", "icc_ck"])
def test_distances_mean_nothing_for_nominal_data(name: str) -> None:
    coefficient = COEFFICIENTS[name](ratings(pairs((1, 2), (2, 2), (3, 1)), "nominal"))
    assert coefficient.reason is not None
    assert coefficient.reason.startswith("Nominal values have no")


@pytest.mark.parametrize("name", ["icc_a1", "icc_ak", "icc_ck", "kendall_w"])
def test_complete_units_are_needed_and_the_others_counted(name: str) -> None:
    table = ratings([[1, 2, 3, GAP], [2, GAP, 3, 1], [GAP, 1, 2, 2]])
    coefficient = COEFFICIENTS[name](table)
    assert coefficient.counts.units_left_out == 3
    assert coefficient.reason == (
        "It needs two or more units with a value from each of the 3 raters, but there is 1; "
        "Krippendorff's alpha takes gaps."
    )


def test_units_with_equal_means_have_no_icc_of_means() -> None:
    table = ratings(pairs((1, 3), (3, 1), (2, 2)))
    assert intraclass_correlation(table, form="C,k").value is None


@pytest.mark.parametrize("name", MEASURES)
def test_measures_without_a_shared_unit(name: str) -> None:
    assert MEASURES[name]([1, GAP], [GAP, 2]).value is None
    assert MEASURES[name]([], []).value is None


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_tau_b"])
def test_correlation_with_a_constant_names_the_side(name: str) -> None:
    assert MEASURES[name]([1, 2, 3], [4, 4, 4]).reason == (
        "All second values are 4; a correlation needs values that differ on both sides."
    )
    assert (
        MEASURES[name]([1], [2]).reason == "Only one unit has both values; a correlation needs two or more."
    )
