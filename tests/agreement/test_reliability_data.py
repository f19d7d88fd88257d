from typing import Any

import numpy as np
import pytest

from agreement import ReliabilityData, krippendorff_alpha, value_distributions, value_ranges
from agreement.coefficient import Coefficient, Counts
from tests.agreement.tables import GAP, ratings


def make(**changes: object) -> ReliabilityData:
    fields = {"values": [[1, 2], [2, GAP]], "measurement_level": "ordinal", "value_domain": [1, 2, 3]}
    return ReliabilityData(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": [1, 2, 3]}, "Values must be a table, raters by units, but have 1 dimension"),
        ({"values": [["a", "b"]]}, "Values must be a table of numbers"),
        ({"values": [[1, 2], [3]]}, "Values must be a table of numbers"),
        ({"values": [[1, float("inf")]]}, "Values must be finite; use NaN for a gap"),
        ({"values": [[1, 7]]}, "The value 7 is not in the value domain 1, 2, 3."),
        ({"values": [[1, 1.5]]}, "The value 1.5 is not in the value domain 1, 2, 3."),
        ({"values": [[9, 1]], "value_domain": list(range(8))}, "The value 9 is not in the value domain 0, 1"),
        ({"measurement_level": "likert"}, "'likert' is not one of: nominal, ordinal, interval, ratio"),
        ({"value_domain": []}, "a list of at least one value"),
        ({"value_domain": [1, 2, 2]}, "The value domain names a value twice"),
        ({"value_domain": [1, 2, GAP]}, "finite numbers only"),
        ({"measurement_level": "ratio", "value_domain": [-1, 1, 2]}, "no negative values, but .* holds -1"),
        ({"documents": [1, 2, 3]}, r"There are 2 units, but documents have the shape \(3,\)"),
        ({"raters": ["Ann"]}, "There are 2 raters in the table, but 1 names"),
        ({"raters": ["Ann", "Ann"]}, "Two raters have the same name"),
    ],
)
def test_inconsistent_input_is_rejected_with_a_message(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_values_stay_unchanged() -> None:
    source = np.array([[1.0, 2.0], [2.0, GAP]])
    data = make(values=source, value_domain=[3, 1, 2], documents=["b", "a"])
    source[0, 0] = 3
    assert data.values[0, 0] == 1
    assert data.value_domain.tolist() == [1, 2, 3]
    assert data.documents is not None
    assert data.documents.tolist() == [1, 0]
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0] = 2


def test_raters_and_units_can_be_chosen() -> None:
    data = make(values=[[1, 2], [2, GAP], [3, 3]], raters=["Ann", "Bob", "Cem"], documents=[7, 9])
    chosen = data.of_raters([2, 0]).of_units([False, True])
    assert chosen.raters == ("Cem", "Ann")
    assert chosen.values.tolist() == [[3], [2]]
    assert data.at_level("nominal").measurement_level == "nominal"


def test_coefficient_counts_its_input() -> None:
    table = [[1, 2, 3, GAP, GAP], [1, 2, GAP, GAP, 2], [GAP, 1, GAP, GAP, 1], [GAP] * 5]
    assert krippendorff_alpha(ratings(table)).counts == Counts(
        units=5, pairable_units=3, raters=3, ratings=8, pairable_values=7
    )


@pytest.mark.parametrize("fields", [{"value": float("nan")}, {"value": None}, {"value": 1.0, "reason": "?"}])
def test_a_coefficient_has_a_finite_value_or_a_reason(fields: dict[str, Any]) -> None:
    counts = Counts(units=0, pairable_units=0, raters=0, ratings=0, pairable_values=0)
    with pytest.raises(ValueError, match="reason"):
        Coefficient(name="x", label="X", counts=counts, source="", **fields)


@pytest.mark.oracle("fraction worked by hand", of="value_distributions", within=1e-06)
def test_the_distribution_counts_every_value_of_the_scale() -> None:
    together, ann, bob = value_distributions(make(raters=["Ann", "Bob"]))
    assert (together.rater, together.counts) == (None, (1, 2, 0))
    assert together.mean == pytest.approx(5 / 3)
    assert (ann.rater, ann.counts) == ("Ann", (1, 1, 0))
    assert (bob.rater, bob.values, bob.counts) == ("Bob", (1, 2, 3), (0, 1, 0))


def test_a_distribution_of_nothing_has_no_mean() -> None:
    together = value_distributions(make(values=np.full((1, 3), GAP)))[0]
    assert (together.ratings, together.mean) == (0, None)


@pytest.mark.oracle("fraction worked by hand", of="value_ranges")
def test_the_range_of_a_unit_needs_two_values() -> None:
    ranges = value_ranges(make(values=[[1, 3, GAP], [3, GAP, GAP], [2, GAP, GAP]]))
    assert ranges[0] == 2
    assert np.isnan(ranges[1:]).all()
