"""Effects of the order in which items are met, against all orders that could have been drawn."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import spearmanr

from agreement.drift import FEWEST_VALUES, OrderEffect, carry_over, position_effect

Effect = Callable[..., OrderEffect]
pytestmark = pytest.mark.fast


def of_rows(effect: Effect, rows: "list[list[float]] | np.ndarray") -> OrderEffect:
    """The effect on stretches given as rows, in the order in which they were rated."""
    sizes = [len(row) for row in rows]
    positions = np.concatenate([np.arange(size) for size in sizes])
    return effect(np.concatenate(rows), np.repeat(np.arange(len(rows)), sizes), positions)


def test_position_in_one_stretch_is_spearmans_rho() -> None:
    row = [3.0, 1, 4, 1, 5, 2, 2]
    found = of_rows(position_effect, [row]).coefficient
    assert found.value == pytest.approx(spearmanr(range(7), row).statistic, abs=1e-12)
    assert "needs 30 values" in (found.interval_reason or "")


def test_carry_over_by_hand() -> None:
    # Centred -1, 1, 0: neighbours -1 + 0, S = 2, k = 3: (-1 + 2 / 3) / (2 / 3 * 2).
    assert of_rows(carry_over, [[2.0, 4, 3]]).coefficient.value == pytest.approx(-0.25)


@pytest.mark.parametrize("effect", [position_effect, carry_over])
def test_mean_and_variance_are_those_over_all_orders(effect: Effect) -> None:
    rows = [[1.0, 2, 2, 5], [4.0, 3, 1]]
    orders = product(*(permutations(row) for row in rows))
    # As often as the interval needs, so that it shows its variance: R copies have a variance 1 / R as large.
    copies = -(-FEWEST_VALUES // 7)
    values = [of_rows(effect, list(map(list, each))).coefficient.value for each in orders]
    assert np.mean([value or 0 for value in values]) == pytest.approx(0, abs=1e-12)
    found = of_rows(effect, rows * copies).coefficient.interval
    assert found is not None
    reach = 1.959963984540054 * np.sqrt(np.var([value or 0 for value in values]) / copies)
    assert (found.high - found.low) / 2 == pytest.approx(reach)


@pytest.mark.parametrize("effect", [position_effect, carry_over])
def test_orders_and_stretches_may_come_mixed(effect: Effect) -> None:
    generator = np.random.default_rng(7)
    rows = generator.integers(1, 6, size=(6, 9)).astype(float)
    where, positions = np.indices(rows.shape)
    mixed = generator.permutation(rows.size)
    arrays = [each.ravel()[mixed] for each in (rows, where, positions)]
    assert effect(*arrays) == of_rows(effect, rows)


@pytest.mark.parametrize("effect", [position_effect, carry_over])
def test_null_effect_is_significant_in_one_of_twenty(effect: Effect) -> None:
    generator = np.random.default_rng(1)
    documents, severity = generator.normal(size=(32, 1)), generator.normal(size=(3, 1, 1))
    found = 0
    for _ in range(1_000):
        values = np.clip(np.round(3 + documents + severity + generator.normal(size=(3, 32, 13))), 1, 5)
        p_value = of_rows(effect, values.reshape(96, 13)).p_value
        found += p_value is not None and p_value < 0.05
    assert 30 <= found <= 70


def test_existing_effects_are_detected() -> None:
    generator = np.random.default_rng(2)
    tired = 3 - 0.1 * np.arange(13) + generator.normal(size=(96, 13))
    falling = of_rows(position_effect, tired)
    assert falling.coefficient.interval
    assert falling.coefficient.interval.high < 0
    following = generator.normal(size=(96, 13))
    for index in range(1, 13):
        following[:, index] += 0.3 * following[:, index - 1]
    carried = of_rows(carry_over, following).coefficient
    assert carried.interval
    assert carried.interval.low < 0.3 < carried.interval.high


@pytest.mark.parametrize("effect", [position_effect, carry_over])
def test_undefined_effect_has_a_reason(effect: Effect) -> None:
    assert "enough values in succession" in (of_rows(effect, [[1.0], [2.0]]).coefficient.reason or "")
    assert "all are the same" in (of_rows(effect, [[2.0] * 4]).coefficient.reason or "")
