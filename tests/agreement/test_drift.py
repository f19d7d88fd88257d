import numpy as np
import pytest

from agreement import ReliabilityData
from agreement.drift import alpha_by_third, rater_drift, thirds

NAN = float("nan")


def data(values, level="interval"):
    return ReliabilityData(values, measurement_level=level, value_domain=[1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], []),
        ([5.0], [0]),
        ([30.0, 10.0, 20.0], [2, 0, 1]),
        ([1.0, NAN, 2.0, 3.0, 4.0], [0, -1, 0, 1, 2]),
        ([7.0, 7.0, 7.0], [0, 1, 2]),
    ],
)
def test_thirds_follow_the_order_in_time_and_leave_gaps_out(times, expected):
    assert thirds(np.array(times)).tolist() == expected


def test_unit_belongs_to_the_third_of_its_last_value():
    # Agreement is full on the units that end first, opposed on those that end last.
    values = [[1, 5, 3, 3, 1, 5], [1, 5, 3, 4, 5, 1]]
    times = np.array([[1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 5, 6]], dtype=float)
    first, _, last = alpha_by_third(data(values), times)
    assert first.value == 1.0
    # Two units 1-5 and 5-1: D_o = 16. Four values, two of each: D_e = 2 * 2 * 2 * 16 / (4 * 3) = 32 / 3.
    assert last.value == pytest.approx(-0.5)


def test_units_with_one_value_are_in_no_third():
    values = [[1, 2, 3], [NAN, NAN, NAN]]
    for coefficient in alpha_by_third(data(values), np.array([[1.0, 2, 3], [NAN] * 3])):
        assert coefficient.value is None
        assert coefficient.reason


def test_a_rater_who_grows_stricter_changes_by_the_difference():
    # B and C agree on 3 throughout; A begins one above and ends two below: differences +1, 0, -2.
    values = [[4, 4, 3, 3, 1, 1], [3] * 6, [3] * 6]
    times = np.tile(np.arange(6.0), (3, 1))
    a, b, _ = rater_drift(data(values), times)
    assert [third.value for third in a.by_third] == [1.0, 0.0, -2.0]
    assert a.change == -3.0
    assert [third.value for third in b.by_third] == [-0.5, 0.0, 1.0]  # against the mean of A and C


def test_without_others_the_difference_is_undefined_with_its_reason():
    [only] = rater_drift(data([[1, 2, 3]]), np.array([[1.0, 2, 3]]))
    assert only.change is None
    assert all(third.reason for third in only.by_third)


def test_categories_have_no_difference():
    assert rater_drift(data([[1, 2], [1, 3]], "nominal"), np.zeros((2, 2))) == ()
