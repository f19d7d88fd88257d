"""Standings of systems of several panels."""

import numpy as np
import pytest
import scipy

from agreement.standings import UNKNOWN_SEVERITY, PanelOffset, compare_panels
from agreement.system_differences import system_differences

pytestmark = pytest.mark.fast
SCALE = (1.0, 5.0)


def test_one_panel_is_compared_by_document() -> None:
    random = np.random.default_rng(1)
    scores = np.clip(random.normal([2, 3.5, 3.6], 0.8, (40, 3)), 1, 5)
    found = {each.system: each for each in compare_panels(scores, "ABC", SCALE, [0] * 3, [PanelOffset()])}
    pairs = system_differences(scores, "ABC")
    sure = {(each.first, each.second): each.adjusted_p_value or 0.0 for each in pairs}
    assert sure["A", "B"] < 0.05 < sure["B", "C"]
    assert not set(found["A"].letters) & set(found["B"].letters)
    assert set(found["B"].letters) & set(found["C"].letters)
    assert (found["A"].best, found["A"].worst) == (3, 3)


def test_offset_moves_the_mean_and_widens_its_interval() -> None:
    scores = np.array([[2.0], [3.0], [4.0], [3.0]])
    (plain,) = compare_panels(scores, ["A"], SCALE, [0], [PanelOffset()])
    (moved,) = compare_panels(scores, ["A"], SCALE, [1], [PanelOffset(), PanelOffset(0.5, 0.4)])
    own, other = ((each.low or 0.0, each.mean or 0.0, each.high or 0.0) for each in (plain, moved))
    assert other[1] == pytest.approx(own[1] - 0.5)
    assert other[2] - other[1] == pytest.approx(np.hypot(own[2] - own[1], 0.4))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_intervals_of_every_level_use_the_same_error_of_the_offset(level: float) -> None:
    # Nearly equal differences: only the offset has an error.
    scores = np.array([[2.0, 3.0], [3.0, 4.0]] * 20) + np.random.default_rng(1).normal(0, 1e-6, (40, 2))
    offsets = [PanelOffset(), PanelOffset(0.0, 1.0)]
    plain, moved = (
        compare_panels(scores, "AB", SCALE, [0, panel], offsets, confidence_level=level) for panel in (0, 1)
    )
    own, other = (((each.high or 0.0) - (each.low or 0.0)) / 2 for each, _ in (plain, moved))
    assert other == pytest.approx(np.hypot(own, scipy.stats.norm.ppf((1 + level) / 2) / 1.95996398), rel=1e-6)
    # The difference of 1 is 1.96 errors: with t of 39 degrees of freedom, p is above .05 and below .2.
    assert (moved[0].letters == moved[1].letters) == (level >= 0.95)


def test_interval_of_a_corrected_mean_is_not_cut() -> None:
    scores = np.array([[5.0], [5.5], [5.4], [5.3]])
    (found,) = compare_panels(scores, ["A"], SCALE, [0], [PanelOffset()], corrected={"A"})
    assert (found.low or 0) < (found.mean or 0) < (found.high or 0)
    assert found.mean == pytest.approx(5.3)


def test_unknown_offset_compares_with_no_other_panel() -> None:
    scores = np.tile([[1.0, 5.0, 4.9]], (20, 1)) + np.random.default_rng(2).normal(0, 0.1, (20, 3))
    found = compare_panels(scores, "ABC", SCALE, [0, 0, 1], [PanelOffset(), PanelOffset(None, None)])
    by_name = {each.system: each for each in found}
    assert (by_name["C"].mean, by_name["C"].reason) == (None, UNKNOWN_SEVERITY)
    assert (by_name["B"].letters, by_name["A"].letters) == ("a", "b")
    # Two systems of the panel differ from each other.
    found = compare_panels(scores, "ABC", SCALE, [0, 1, 1], [PanelOffset(), PanelOffset(None, None)])
    assert [each.letters for each in found] == ["", "", ""]
    four = np.column_stack([scores, scores[:, 0]])
    found = compare_panels(four, "ABCD", SCALE, [0, 0, 1, 1], [PanelOffset(), PanelOffset(None, None)])
    assert [(each.system, each.letters) for each in found[:2]] == [("B", "a"), ("A", "b")]


@pytest.mark.parametrize("error", [0.0, 0.3])
def test_pairs_of_two_panels_differ_by_chance_in_one_of_twenty(error: float) -> None:
    random = np.random.default_rng(3)
    times, wrong = 600, 0
    for _ in range(times):
        shared = random.normal(3, 0.5, 30)
        true = 0.4 + random.normal(0, error)
        own = shared + random.normal(0, 0.5, 30)
        other = shared + random.normal(0, 0.5, 30) + true
        offset = PanelOffset(0.4, 1.96 * error)
        found = compare_panels(np.column_stack([own, other]), "AB", (-9, 9), [0, 1], [PanelOffset(), offset])
        wrong += found[0].letters != found[1].letters
    assert wrong / times == pytest.approx(0.05, abs=0.03)
