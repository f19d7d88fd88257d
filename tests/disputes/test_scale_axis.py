from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.disputes.queries.standpoints import NEAR, NEAR_ON_LONG_SCALES, scale_axis


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (range(1, 6), [1, 2, 3, 4, 5]),
        (range(1, 11), list(range(1, 11))),
        (range(2), [0, 1]),
        (range(1, 101), [1, 20, 40, 60, 80, 100]),
        (range(101), [0, 20, 40, 60, 80, 100]),
        (range(-50, 51), [-50, -40, -20, 0, 20, 40, 50]),
        (range(1, 13), [1, 5, 12]),
    ],
)
def test_short_scales_name_every_value_and_long_ones_their_ends_and_round_numbers(scale, ticks):
    axis = scale_axis(scale, [("A", scale[0], True)])
    assert [tick.value for tick in axis.ticks] == ticks
    assert (axis.ticks[0].at, axis.ticks[-1].at) == (0, 100)


def test_marks_are_at_their_values_and_equal_ones_are_stacked():
    axis = scale_axis(range(1, 6), [("C", 1, False), ("you", 3, True), ("B", 3, False)])
    assert [(mark.name, mark.left, mark.lane) for mark in axis.marks] == [
        ("C", "0.00%", 0),
        ("you", "50.00%", 0),
        ("B", "50.00%", 1),
    ]
    assert (axis.start, axis.width, axis.lanes, axis.is_long) == ("0.00%", "50.00%", 2, False)


@settings(max_examples=60, deadline=None)
@given(
    low=st.integers(-100, 100),
    length=st.integers(2, 1_000),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
def test_every_rater_appears_once_in_order_without_overlap(low, length, shares):
    values = range(low, low + length)
    held = [(str(n), values[round(share * (length - 1))], False) for n, share in enumerate(shares)]
    axis = scale_axis(values, held)
    assert sorted(mark.name for mark in axis.marks) == sorted(name for name, *_ in held)
    assert [mark.value for mark in axis.marks] == sorted(value for _, value, _ in held)
    assert all(0 <= mark.at <= 100 for mark in axis.marks)
    near = NEAR_ON_LONG_SCALES if axis.is_long else NEAR
    for lane in range(axis.lanes):
        positions = [mark.at for mark in axis.marks if mark.lane == lane]
        assert all(after - before >= near for before, after in pairwise(positions))
