"""Guaranteed intervals hold the mean as often as they say, also where asymptotic ones do not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.reliability import (
    RatedSample,
    betting_interval,
    guaranteed_mean,
    humans_only,
    projected_guaranteed_widths,
)

GAP: Any = float("nan")
CEILING = np.repeat([5.0, 4.0, 3.0, 1.0], [255, 30, 9, 6])  # nearly everything is a 5


@pytest.mark.oracle("simulation, 500 samples", of=("guaranteed_mean", "betting_interval"))
@pytest.mark.parametrize("ratings", [20, 40])
def test_it_covers_where_students_interval_does_not(ratings: int) -> None:
    generator = np.random.default_rng(ratings)
    guaranteed = asymptotic = 0
    for _ in range(500):
        human = np.full(300, np.nan)
        chosen = generator.choice(300, ratings, replace=False)
        human[chosen] = CEILING[chosen]
        sample = RatedSample(judge=CEILING, human=human)
        bet = guaranteed_mean(sample, low=1, high=5, generator=generator, confidence_level=0.9).interval
        usual = humans_only(sample, confidence_level=0.9).interval
        assert bet is not None
        guaranteed += bet.low <= CEILING.mean() <= bet.high
        asymptotic += usual is not None and usual.low <= CEILING.mean() <= usual.high
    assert guaranteed >= 450
    assert asymptotic < 450


def test_beyond_the_batch_it_covers_the_mean_of_the_population() -> None:
    generator, held, finite = np.random.default_rng(8), 0, 0
    for _ in range(300):
        batch = generator.choice(CEILING, 50)
        sample = RatedSample(judge=batch, human=batch)
        for beyond in (True, False):
            bet = guaranteed_mean(
                sample, low=1, high=5, generator=generator, confidence_level=0.9, beyond_batch=beyond
            ).interval
            assert bet is not None
            covers = bet.low <= CEILING.mean() <= bet.high
            held, finite = held + (beyond and covers), finite + (not beyond and covers)
    assert held >= 270
    assert finite < 100  # what is known of 50 texts is not known of others


@pytest.mark.parametrize("beyond", [True, False])
def test_interval_covers_with_individual_sampling_probabilities(beyond: bool) -> None:
    """Low values are drawn more often, so that an unweighted mean would be far off."""
    generator, held, plain, simulations = np.random.default_rng(9), 0, 0, 200
    for _ in range(simulations):
        batch = generator.choice(CEILING, 300)
        chances = np.clip(0.6 - 0.1 * batch + 0.05 * generator.random(300), 0.05, 1)
        chances[:10] = 1  # sent to people
        human = np.where(generator.random(300) < chances, batch, GAP)
        sample = RatedSample(judge=batch, human=human, probabilities=chances)
        bet = guaranteed_mean(
            sample, low=1, high=5, generator=generator, confidence_level=0.9, beyond_batch=beyond
        ).interval
        assert bet is not None
        held += bet.low <= (CEILING if beyond else batch).mean() <= bet.high
        low, high = betting_interval(
            human[~np.isnan(human)], None if beyond else 300, low=1, high=5, confidence_level=0.9
        )
        plain += low <= batch.mean() <= high
    assert held >= 0.9 * simulations
    assert plain < 0.7 * simulations


def test_units_with_equal_sampling_probability_are_all_used() -> None:
    human, chances = [1, 2, 3, 4, 5, 5, GAP, GAP], [1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    sample = RatedSample(judge=human, human=human, probabilities=chances)
    found = guaranteed_mean(sample, low=1, high=5, generator=np.random.default_rng(1))
    assert found.value == pytest.approx(0.25 * 1.5 + 0.75 * 17 / 4)


def test_interval_stays_valid_after_every_rating() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        drawn = generator.permutation(CEILING)[:40]
        looks = [
            betting_interval(drawn[:n], 300, low=1, high=5, confidence_level=0.9, planned=40)
            for n in range(5, 41, 5)
        ]
        held += all(low <= CEILING.mean() <= high for low, high in looks)
    assert held >= 180


def test_it_narrows_to_the_mean_as_everything_is_rated() -> None:
    generator = np.random.default_rng(6)
    values = generator.permutation(np.repeat([1.0, 2, 3, 4, 5], 20))
    widths = [
        high - low
        for low, high in (betting_interval(values[:n], 100, low=1, high=5) for n in (10, 30, 60, 95))
    ]
    assert widths == sorted(widths, reverse=True)
    assert betting_interval(values, 100, low=1, high=5) == pytest.approx((3, 3))
    assert betting_interval([], 100, low=1, high=5) == (1, 5)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(1, 5), min_size=1, max_size=30), more=st.integers(0, 50))
def test_interval_stays_within_the_possible_means(values: list[int], more: int) -> None:
    units = len(values) + more
    low, high = betting_interval(values, units, low=1, high=5)
    assert (sum(values) + more) / units - 1e-9 <= low <= high <= (sum(values) + 5 * more) / units + 1e-9
    wide = betting_interval(values, units, low=1, high=5, confidence_level=0.99)
    assert wide[0] <= low + 1e-9
    assert high - 1e-9 <= wide[1]


def test_units_rated_for_certain_are_known() -> None:
    generator = np.random.default_rng(7)
    people = generator.permutation(np.repeat([1.0, 2, 3, 4, 5], 40))
    chances = np.where(np.arange(200) < 100, 1.0, 0.3)
    human = np.where(np.arange(200) < 130, people, np.nan)
    sample = RatedSample(judge=people, human=human, probabilities=chances)
    found = guaranteed_mean(sample, low=1, high=5, generator=np.random.default_rng(1))
    # groups go from the smallest probability up, so the audit is put in order first
    audit = betting_interval(
        np.random.default_rng(1).permutation(people[100:130]), 100, low=1, high=5, confidence_level=0.95
    )
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple((people[:100].mean() + end) / 2 for end in audit)
    )
    assert found.value == pytest.approx((people[:100].mean() + people[100:130].mean()) / 2)


def test_projected_widths_match_the_widths_after_more_ratings() -> None:
    """From 40 ratings the width after 100 is told within a tenth of what it then is on average."""
    generator = np.random.default_rng(8)
    people = generator.permutation(np.repeat([1.0, 2, 3, 4, 5], [20, 40, 80, 120, 40]))

    def rated(number: int) -> RatedSample:
        human = np.full(300, np.nan)
        human[generator.choice(300, number, replace=False)] = people[:number]
        return RatedSample(judge=people, human=human)

    def width(sample: RatedSample) -> float:
        return guaranteed_mean(sample, low=1, high=5, generator=generator).width or 0

    told = projected_guaranteed_widths(rated(40), [2, 20, 100, 300, 400], low=1, high=5, generator=generator)
    there = np.mean([width(rated(100)) for _ in range(20)])
    assert told[2] == pytest.approx(there, rel=0.1)
    assert (told[0], told[3], told[4]) == (None, 0, None)
    assert (told[1] or 0) > (told[2] or 9)
    assert projected_guaranteed_widths(rated(2), [20], low=1, high=5, generator=generator) == [None]


def test_nothing_is_guaranteed_where_ratings_are_missing() -> None:
    generator = np.random.default_rng(0)
    skipped = RatedSample(judge=[3] * 3, human=[4, GAP, GAP], assigned=[True, True, False])
    assert guaranteed_mean(skipped, low=1, high=5, generator=generator).reason == (
        "1 assigned units have no rating, so nothing is guaranteed about them."
    )
    nobody = RatedSample(judge=[3] * 3, human=[GAP] * 3)
    assert guaranteed_mean(nobody, low=1, high=5, generator=generator).reason == (
        "No person has rated a unit yet."
    )


def test_impossible_values_are_rejected() -> None:
    with pytest.raises(ValueError, match="between 1 and 5"):
        betting_interval([6], 10, low=1, high=5)
    with pytest.raises(ValueError, match="values of 1 units"):
        betting_interval([2, 3], 1, low=1, high=5)
    with pytest.raises(ValueError, match="low end"):
        betting_interval([2], 10, low=5, high=5)
