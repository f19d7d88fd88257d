"""Values of scales with steps: which there are, how far apart they lie, and which steps there can be."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.scale import distance, is_on_scale, normalize, points_of, problem_of_step

pytestmark = pytest.mark.fast

STEPS = [0.01, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2]


def test_a_scale_has_its_points_and_whole_ones_are_ints() -> None:
    assert list(points_of(1, 3, 0.5)) == [1, 1.5, 2, 2.5, 3]
    assert [str(value) for value in points_of(0, 1, 0.25)] == ["0", "0.25", "0.5", "0.75", "1"]
    assert points_of(1, 5, 1) == range(1, 6)
    assert list(points_of(-4, 4, 2)) == [-4, -2, 0, 2, 4]
    assert list(points_of(1, 4, 0.3)) == [1, 1.3, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1, 3.4, 3.7, 4]


@pytest.mark.parametrize("step", STEPS)
@given(low=st.integers(-1000, 900), length=st.integers(1, 10))
def test_a_scale_has_exactly_its_points(step: float, low: int, length: int) -> None:
    high = low + 2 * length
    points = points_of(low, high, step)
    assert (points[0], points[-1]) == (low, high)
    assert all(is_on_scale(value, low, high, step) for value in points)
    assert all(value == float(f"{value:.2f}") for value in points)
    assert not any(is_on_scale(value + step / 3, low, high, step) for value in points)
    assert not any(is_on_scale(value, low, high, step) for value in (low - step, high + step, float("nan")))


@given(st.integers(-100_000, 100_000), st.integers(-100_000, 100_000))
def test_distances_match_the_decimals(one: int, other: int) -> None:
    assert distance(one / 100, other / 100) == abs(one - other) / 100


def test_distances_do_not_have_the_errors_of_floats() -> None:
    assert 3.3 - 1.3 < 2 < 4.9 - 2.9
    assert distance(3.3, 1.3) == distance(2.9, 4.9) == 2
    assert distance(1.1, 3.2) == 2.1
    assert str(distance(3.3, 1.3)) == str(normalize(2.0)) == "2"


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        ((1, 5, 0.5), ""),
        ((1, 5, 1), ""),
        ((0, 20, 0.01), ""),
        ((0, 1, 0.125), "decimals"),
        ((0, 1, 0.001), "decimals"),
        ((1, 5, 0), "decimals"),
        ((1, 5, -1), "decimals"),
        ((1, 5, 0.3), "range"),
        ((1, 5, 8), "range"),
        ((0, 21, 0.01), "points"),
    ],
)
def test_a_step_divides_the_scale_and_has_two_decimals(scale: tuple[int, int, float], problem: str) -> None:
    assert problem_of_step(*scale) == problem


def test_a_guideline_without_steps_is_stored_as_before_there_were_any() -> None:
    whole = FrozenDimension(1, "k", "K", "", "", 0, 1, "nominal", ())
    assert whole.has_mean
    assert list(whole.values) == list(whole.whole_values) == [0, 1]
    guideline = FrozenGuideline("", 3, 2, 1, (whole,))
    (stored,) = guideline.to_json()["dimensions"]
    assert "scale_step" not in stored
    stepped = replace(guideline, dimensions=(replace(whole, measurement_level="ratio", scale_step=0.5),))
    assert FrozenGuideline.from_json(stepped.to_json()) == stepped
    assert stepped.digest() != guideline.digest()
