from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agreement import holm, rank_sets
from agreement.comparison import Scores
from agreement.reliability import (
    Betting,
    Estimate,
    RatedSample,
    betting_interval,
    combined_estimate,
    pairwise_differences,
    regression_estimate,
)

GAP: Any = float("nan")


def table(quality: Any, rated: int, documents: int = 80, seed: int = 1) -> Scores:
    """Systems of exactly this quality on the same documents, which differ far more than systems do."""
    generator = np.random.default_rng(seed)
    hardness = generator.normal(0, 2, documents)
    noise = generator.normal(0, 0.3, (len(quality), documents))
    people = np.asarray(quality)[:, None] + hardness + noise - noise.mean(axis=1, keepdims=True)
    judge = people + generator.normal(0, 0.5, people.shape)
    people[:, rated:] = np.nan
    return Scores(
        systems=np.repeat([f"S{index}" for index in range(len(quality))], documents),
        documents=np.tile(np.arange(documents), len(quality)),
        human=[people.ravel()],
        judge=judge.ravel(),
    )


def test_pairing_removes_document_variance() -> None:
    scores = table([3, 3.4], rated=30)
    (found,) = pairwise_differences(scores)
    assert found.paired
    assert found.estimate.value == pytest.approx(-0.4, abs=0.15)
    assert found.differs
    judge, people = (scores.by_document(values) for values in (scores.judge, scores.human_means))
    line = stats.linregress((judge[:, 0] - judge[:, 1])[:30], (people[:, 0] - people[:, 1])[:30])
    expected = line.intercept + line.slope * (judge[:, 0] - judge[:, 1]).mean()
    assert found.estimate.value == pytest.approx(expected)
    t = abs(expected) / (found.estimate.standard_error or 0)
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 28))


def test_systems_rated_on_different_documents_are_compared_unpaired() -> None:
    scores = table([3, 3.4], rated=80)
    people = scores.by_document(scores.human_means)
    people[:40, 0], people[40:, 1] = np.nan, np.nan
    apart = Scores(
        systems=np.repeat(["S0", "S1"], 80),
        documents=np.tile(np.arange(80), 2),
        human=[people.T.ravel()],
        judge=scores.judge,
    )
    (found,) = pairwise_differences(apart)
    assert not found.paired
    judge = apart.by_document(apart.judge)
    means = [regression_estimate(RatedSample(judge=judge[:, side], human=people[:, side])) for side in (0, 1)]
    assert found.estimate.value == pytest.approx((means[0].value or 0) - (means[1].value or 0))
    assert found.estimate.standard_error == pytest.approx(
        np.hypot(means[0].standard_error or 0, means[1].standard_error or 0)
    )


def test_a_guaranteed_difference_bets_on_the_differences_of_documents() -> None:
    generator = np.random.default_rng(3)
    people = generator.integers(1, 6, (2, 60)).astype(float)
    people[:, 40:] = GAP
    scores = Scores(
        systems=np.repeat(["S0", "S1"], 60),
        documents=np.tile(np.arange(60), 2),
        human=[people.ravel()],
        judge=generator.integers(1, 6, 120),
    )
    (found,) = pairwise_differences(scores, betting=Betting(1, 5, np.random.default_rng(7)))
    differences = (people[0] - people[1])[:40]
    order = np.random.default_rng(7).permutation(differences)
    assert found.guaranteed is not None
    assert found.guaranteed.value == pytest.approx(differences.mean())
    assert ends(found.guaranteed) == betting_interval(order, 60, low=-4, high=4)
    people[0, :20], people[1, 20:] = GAP, GAP
    apart = Scores(
        systems=np.repeat(["S0", "S1"], 60),
        documents=np.tile(np.arange(60), 2),
        human=[people.ravel()],
        judge=scores.judge,
    )
    (found,) = pairwise_differences(apart, betting=Betting(1, 5, np.random.default_rng(7)))
    generator = np.random.default_rng(7)
    one, other = (
        betting_interval(
            generator.permutation(values[~np.isnan(values)]), 60, low=1, high=5, confidence_level=0.975
        )
        for values in people
    )
    assert found.guaranteed is not None
    assert ends(found.guaranteed) == pytest.approx((one[0] - other[1], one[1] - other[0]))


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval.low, estimate.interval.high


def test_two_rated_documents_are_too_few() -> None:
    (found,) = pairwise_differences(table([3, 9], rated=2))
    assert found.estimate.value is None
    assert found.estimate.reason == "Only 2 units are rated; this estimate needs 3."
    assert (found.p_value, found.adjusted_p_value, found.differs) == (None, None, False)
    assert rank_sets(["S0", "S1"], [found])[0].worst == 2


def test_ranks_that_are_sure_are_single_and_others_sets() -> None:
    scores = table([5, 4, 3.98, 1], rated=40)
    ranks = {
        each.system: (each.best, each.worst)
        for each in rank_sets(scores.system_names, pairwise_differences(scores))
    }
    assert ranks == {"S0": (1, 1), "S1": (2, 3), "S2": (2, 3), "S3": (4, 4)}


@pytest.mark.oracle("simulation, share of sets with the true rank", of=("rank_sets", "pairwise_differences"))
def test_rank_sets_cover_true_ranks_and_equal_systems_rarely_differ() -> None:
    wrong = 0
    for seed in range(200):
        differences = pairwise_differences(table([3, 3, 3], rated=25, seed=seed))
        wrong += any(each.differs for each in differences)
    assert wrong / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.oracle("fraction worked by hand", of="holm", within=1e-06)
def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == []


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert (adjusted >= np.array(p_values)).all()
    assert (adjusted <= np.minimum(1, len(p_values) * np.array(p_values)) + 1e-12).all()
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_individually_sampled_units_differ_by_adding_variances() -> None:
    """One system was sent to people; two were audited, each on documents of its own."""
    scores = table([3, 3.4, 9], rated=80)
    people, judge = (scores.by_document(values) for values in (scores.human_means, scores.judge))
    generator = np.random.default_rng(5)
    for system in (1, 2):
        people[generator.choice(80, 45, replace=False), system] = GAP
    chances = np.where(np.arange(3) > 0, 35 / 80, 1.0)
    drawn = [
        RatedSample(judge=judge[:, each], human=people[:, each], probabilities=np.full(80, chances[each]))
        for each in range(3)
    ]
    apart = Scores(
        systems=np.repeat(["S0", "S1", "S2"], 80),
        documents=np.tile(np.arange(80), 3),
        human=[people.T.ravel()],
        judge=judge.T.ravel(),
    )
    for beyond in (False, True):
        found = pairwise_differences(apart, drawn=drawn, beyond=beyond)
        sides = [combined_estimate(each, beyond=beyond) for each in drawn]
        for each, (one, other) in zip(found, [(0, 1), (0, 2), (1, 2)], strict=True):
            errors = [sides[side].standard_error or 0 for side in (one, other)]
            assert each.estimate.value == pytest.approx((sides[one].value or 0) - (sides[other].value or 0))
            assert each.estimate.standard_error == pytest.approx(np.hypot(errors[0], errors[1]))
            assert not each.paired
            assert not each.estimate.warnings
        ranks = {each.system: (each.best, each.worst) for each in rank_sets(apart.system_names, found)}
        assert ranks["S2"] == (1, 1)
    sure = pairwise_differences(apart, drawn=drawn, betting=Betting(-20, 30, generator))[2].guaranteed
    assert sure is not None
    assert sure.interval is not None


def test_two_fully_rated_systems_stay_paired_despite_sampled_ones() -> None:
    scores = table([3, 3.4], rated=80)
    drawn = [
        RatedSample(judge=scores.judge[own], human=scores.human_means[own])
        for own in (scores.systems == 0, scores.systems == 1)
    ]
    assert pairwise_differences(scores, drawn=drawn, beyond=True) == pairwise_differences(scores, beyond=True)
