"""What is drawn for humans: the same for the same seed, in any order, with the probability it says."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agreement.reliability import (
    draw,
    draw_at_least,
    draw_audit,
    draw_sample,
    share_to_reach,
    share_with_least,
    size_of_audit,
    thin_to_one_probability,
    uniform_numbers,
)

UNITS = range(2_000)


def test_the_share_is_right_on_average_and_for_each_unit() -> None:
    drawn = [{each.unit for each in draw_audit(range(40), share=0.2, seed=seed)} for seed in range(2_000)]
    sizes = np.array([len(each) for each in drawn])
    expected, deviation = size_of_audit(40, 0.2)
    assert sizes.mean() == pytest.approx(expected, abs=4 * deviation / np.sqrt(2_000))
    assert sizes.std() == pytest.approx(deviation, rel=0.08)
    shares = [np.mean([unit in each for each in drawn]) for unit in range(40)]
    assert max(np.abs(np.array(shares) - 0.2)) < 4.5 * np.sqrt(0.2 * 0.8 / 2_000)


def test_units_are_sampled_independently() -> None:
    chosen = np.array([uniform_numbers(range(2), seed=seed) < 0.5 for seed in range(4_000)])
    both = chosen.all(axis=1).mean()
    assert both == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 4_000))


@given(seed=st.integers(0, 10**6), order=st.permutations(list(range(30))))
def test_the_order_of_the_units_does_not_matter(seed: int, order: list[int]) -> None:
    first, second = (draw_audit(units, share=0.3, seed=seed) for units in (range(30), order))
    assert sorted(each.unit for each in first) == sorted(each.unit for each in second)
    samples = (draw_sample(units, size=7, seed=seed) for units in (range(30), order))
    assert len({tuple(sorted(each.unit for each in sample)) for sample in samples}) == 1


def test_units_that_join_later_leave_the_others_unchanged() -> None:
    early = {each.unit for each in draw_audit(range(500), share=0.1, seed=4)}
    late = {each.unit for each in draw_audit(range(900), share=0.1, seed=4)}
    assert early == {unit for unit in late if int(unit) < 500}


def test_a_larger_sample_keeps_the_smaller_one() -> None:
    small, large = (draw_sample(UNITS, size=size, seed=9) for size in (100, 300))
    assert {each.unit for each in small} < {each.unit for each in large}
    assert {each.probability for each in small} == {0.05}
    assert len(large) == 300


def test_minimum_sample_has_the_stated_inclusion_share() -> None:
    """A fifth of 20 units, at least 5: by fractions of the binomial and by drawing."""
    drawn = [draw_at_least(range(20), share=0.2, least=5, seed=seed) for seed in range(2_000)]
    sizes = np.array([len(each) for each in drawn])
    by_hand = sum(
        max(number, 5) * math.comb(20, number) * 0.2**number * 0.8 ** (20 - number) for number in range(21)
    )
    assert share_with_least(20, share=0.2, least=5) == pytest.approx(by_hand / 20)
    assert {each.probability for one in drawn for each in one} == {share_with_least(20, share=0.2, least=5)}
    assert sizes.min() == 5
    assert sizes.mean() == pytest.approx(by_hand, abs=4 * sizes.std() / np.sqrt(2_000))
    each_unit = np.mean(
        [[unit in {each.unit for each in one} for unit in range(20)] for one in drawn], axis=0
    )
    assert np.abs(each_unit - by_hand / 20).max() < 0.05


@given(seed=st.integers(0, 10**6), least=st.integers(0, 40))
def test_a_minimum_only_adds_units(seed: int, least: int) -> None:
    plain = {each.unit for each in draw_audit(range(30), share=0.2, seed=seed)}
    more = {each.unit for each in draw_at_least(range(30), share=0.2, least=least, seed=seed)}
    assert plain <= more
    assert len(more) == max(len(plain), min(least, 30))


def test_all_units_are_sampled_if_no_more_than_the_minimum_stay() -> None:
    assert [each.probability for each in draw_at_least(range(8), share=0.1, least=30, seed=1)] == [1.0] * 8
    assert share_with_least(500, share=0.1, least=0) == 0.1
    assert share_to_reach(30, 30) == 1
    assert share_to_reach(0, 30) == 0
    with pytest.raises(ValueError, match="0 or more"):
        draw_at_least(range(8), share=0.1, least=-1, seed=1)


def test_independent_sampling_reaches_the_minimum_as_surely_as_stated() -> None:
    share = share_to_reach(30, 100)
    assert stats.binom.sf(29, 100, share) == pytest.approx(0.95)
    assert 0.3 < share < 0.4


def test_thinned_units_are_as_if_all_had_had_the_least_probability() -> None:
    chances = np.linspace(0.1, 0.8, 40)
    stays = np.array([thin_to_one_probability(range(40), chances, seed=seed) for seed in range(3_000)])
    assert stays.mean(axis=0) * chances == pytest.approx(
        np.full(40, 0.1), abs=4 * 0.8 * np.sqrt(0.25 / 3_000)
    )
    assert thin_to_one_probability(range(40), np.full(40, 0.3), seed=1).all()


def test_another_seed_selects_other_units() -> None:
    assert draw_audit(UNITS, share=0.05, seed=1) != draw_audit(UNITS, share=0.05, seed=2)


def test_a_number_never_changes_for_a_seed_and_unit() -> None:
    digest = hashlib.blake2b(b"7:12", digest_size=8).digest()
    assert uniform_numbers(["12"], seed=7)[0] == (int.from_bytes(digest) // 2**11) / 2**53
    assert uniform_numbers([12], seed=7)[0] == uniform_numbers(["12"], seed=7)[0]


def test_every_unit_may_have_its_own_probability() -> None:
    wanted = np.linspace(0.01, 1, 2_000)
    drawn = draw(UNITS, wanted, seed=3)
    assert all(each.probability == wanted[int(each.unit)] for each in drawn)
    assert drawn[-1].unit == 1_999  # probability 1
    assert len(drawn) == pytest.approx(wanted.sum(), abs=4 * np.sqrt(np.sum(wanted * (1 - wanted))))


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_share_that_is_no_probability_is_rejected(share: float) -> None:
    with pytest.raises(ValueError, match="audit share"):
        draw_audit(UNITS, share=share, seed=1)


def test_impossible_sample_is_rejected() -> None:
    with pytest.raises(ValueError, match="above 0"):
        draw([1, 2], [0.5, 0], seed=1)
    with pytest.raises(ValueError, match="shape"):
        draw([1, 2], [0.5], seed=1)
    with pytest.raises(ValueError, match="twice"):
        draw_audit([1, "1"], share=0.5, seed=1)
    with pytest.raises(ValueError, match="cannot be drawn"):
        draw_sample([1, 2], size=3, seed=1)
    assert draw_audit([], share=0.5, seed=1) == ()
