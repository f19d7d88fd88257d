"""Strengths from rankings: choix, a second likelihood, fractions by hand, and reasons."""

from collections.abc import Sequence

import numpy as np
import pytest
import scipy

from agreement import Rankings, RankingStrengths, plackett_luce
from tests.agreement.tables import GAP

pytestmark = pytest.mark.fast

ORDERS = [
    (0, 1, 2, 3),
    (1, 0, 3),
    (2, 1, 4),
    (3, 4, 0, 1, 2),
    (4, 2, 1),
    (0, 2, 3, 4),
    (1, 3, 0, 2),
    (0, 4, 1),
    (3, 0, 1, 4, 2),
    (2, 0, 1),
    (1, 0, 4, 3),
    (0, 1, 3, 2, 4),
]
CHOIX = [0.9053322921, 0.1649757011, -0.3674472305, -0.1874276195, -0.5154331433]
"""What choix 0.4.1 finds by maximum likelihood (opt_rankings, alpha 0) of ORDERS, best first."""


def of_ranks(ranks: np.ndarray, documents: Sequence[int] | None = None) -> RankingStrengths:
    """One rater's rankings (items, systems)."""
    systems = [str(index) for index in range(ranks.shape[1])]
    return plackett_luce(Rankings(ranks[None], systems=systems, documents=documents))


def of_orders(orders: Sequence[Sequence[int]], systems: int = 5) -> np.ndarray:
    ranks = np.full((len(orders), systems), GAP)
    for row, order in zip(ranks, orders, strict=True):
        row[list(order)] = range(1, len(order) + 1)
    return ranks


def values(found: RankingStrengths) -> dict[str, float]:
    return {each.system: each.strength.value for each in found.systems if each.strength}


@pytest.mark.oracle("package choix 0.4.1", of="plackett_luce", within=1e-08)
def test_strengths_match_choix() -> None:
    found = of_ranks(of_orders(ORDERS))
    assert values(found) == pytest.approx({str(index): value for index, value in enumerate(CHOIX)}, abs=1e-8)
    assert [each.system for each in found.systems] == ["0", "1", "3", "2", "4"]
    assert [each.rankings for each in found.systems] == [10, 11, 8, 9, 8]
    assert sum(each.times_first for each in found.systems) == 12


@pytest.mark.oracle(
    "package SciPy 1.17.1, direct maximum of Breslow’s likelihood", of="plackett_luce", within=1e-05
)
def test_ties_maximise_the_likelihood_of_breslow() -> None:
    generator = np.random.default_rng(6)
    ranks = generator.integers(1, 4, size=(60, 4)).astype(float)
    ranks[generator.random(60) < 0.4, 3] = GAP

    def loss(strengths: np.ndarray) -> float:
        left = np.where(ranks[:, None, :] >= ranks[:, :, None], strengths, -np.inf)
        terms = strengths - scipy.special.logsumexp(left, axis=2)
        return float(strengths.mean() ** 2 - terms[~np.isnan(ranks)].sum())

    best = scipy.optimize.minimize(loss, np.zeros(4), tol=1e-12).x
    expected = {str(index): value for index, value in enumerate(best - best.mean())}
    assert values(of_ranks(ranks)) == pytest.approx(expected, abs=1e-5)


def test_two_systems_by_hand() -> None:
    # 12 of 16 documents rank A first: odds 3, and the usual variance 1/12 + 1/4 times 16/15.
    found = of_ranks(of_orders([(0, 1)] * 12 + [(1, 0)] * 4, 2))
    assert values(found) == pytest.approx({"0": np.log(3) / 2, "1": -np.log(3) / 2})
    (pair,) = found.differences
    reach = scipy.stats.t.ppf(0.975, 15) * np.sqrt((1 / 12 + 1 / 4) * 16 / 15)
    assert pair.value == pytest.approx(np.log(3))
    assert (pair.low, pair.high) == pytest.approx((np.log(3) - reach, np.log(3) + reach))
    strength = found.systems[0].strength
    assert strength is not None
    assert strength.high - strength.value == pytest.approx(reach / 2)
    assert [(each.best, each.worst) for each in found.systems] == [(1, 2), (1, 2)]


def test_three_raters_who_copy_each_other_narrow_nothing() -> None:
    ranks = of_orders(ORDERS)
    once = of_ranks(ranks)
    systems = [str(index) for index in range(5)]
    thrice = plackett_luce(Rankings(np.stack([ranks] * 3), systems=systems))
    for one, other in zip(once.systems, thrice.systems, strict=True):
        assert one.strength is not None
        assert other.strength is not None
        assert one.strength.low == pytest.approx(other.strength.low)


def test_clearly_different_systems_have_separate_ranks() -> None:
    generator = np.random.default_rng(2)
    utilities = np.array([2.0, 0.0, -2.0]) + generator.gumbel(size=(200, 3))
    found = of_ranks((-utilities).argsort(axis=1).argsort(axis=1) + 1.0)
    assert [(each.best, each.worst) for each in found.systems] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("orders", "reason"),
    [
        ([], "There are rankings of 0 documents; 5 are needed."),
        ([(0, 1, 2)] * 4, "There are rankings of 4 documents; 5 are needed."),
        ([(0, 1, 2), (0, 2, 1)] * 4, "0: won, lost or missed every comparison"),
        ([(0, 1), (1, 0)] * 4, "2: won, lost or missed every comparison"),
    ],
)
def test_infinite_strength_has_a_reason(orders: list[tuple[int, ...]], reason: str) -> None:
    found = of_ranks(of_orders(orders, 3))
    assert found.reason.startswith(reason)
    assert [each.strength for each in found.systems] == [None] * 3
    assert found.differences == ()


def test_differences_of_rounding_are_not_tested() -> None:
    # In each document every system is first, second and third once, so all strengths are 0.
    orders = np.array([[1, 2, 3], [3, 1, 2], [2, 3, 1]], dtype=float)
    found = plackett_luce(Rankings(np.repeat(orders[:, None], 10, axis=1), systems=("A", "B", "C")))
    assert [(each.p_value, each.simultaneous_low) for each in found.differences] == [(None, None)] * 3
    assert {(each.best, each.worst) for each in found.systems} == {(1, 3)}


def test_equal_documents_are_tested_by_signs() -> None:
    # The same five rankings of each document: the covariance is only rounding, and t would be enormous.
    orders = np.array([[1, 2, 3], [1, 2, 3], [2, 3, 1], [1, 3, 2], [3, 2, 1]], dtype=float)
    found = plackett_luce(Rankings(np.repeat(orders[:, None], 10, axis=1), systems=("A", "B", "C")))
    assert [each.p_value for each in found.differences] == [2.0**-9] * 3
