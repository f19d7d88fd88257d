"""Rankings: by hand, compared with SciPy, and with chance as all names of the systems in turn."""

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import (
    Rankings,
    Resampling,
    Stream,
    concordances,
    kendall_distance,
    kendall_w,
    mean_concordance,
    ranking_alpha,
)
from agreement.comparison import PairwiseAnswers, preference_alpha
from tests.agreement.tables import GAP, ratings

pytestmark = pytest.mark.fast

Row = Sequence[Sequence[float]]
BY_HAND = [[[1, 2, 3], [1, 2, 2]], [[2, 1, 3], [1, 3, 2]]]


def rankings(ranks: Sequence[Row] | np.ndarray, documents: Sequence[int] | None = None) -> Rankings:
    systems = [str(index) for index in range(np.shape(ranks)[2])]
    return Rankings(ranks, systems=systems, documents=documents)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ([1, 2, 3], [1, 2, 3], 0),
        ([1, 2, 3], [3, 2, 1], 1),
        ([1, 2, 3], [2, 1, 3], 1 / 3),
        ([1, 1, 2], [1, 2, 3], 1 / 6),
        ([1, 1, 1], [1, 2, 3], 1 / 2),
        ([1, 1, 2], [5, 5, 9], 0),
        ([1, 2], [2, 2], 1 / 2),
    ],
)
def test_distance_by_hand(first: list[float], second: list[float], distance: float) -> None:
    assert kendall_distance(first, second) == pytest.approx(distance)
    assert kendall_distance(second, first) == pytest.approx(distance)


@pytest.mark.oracle("package SciPy 1.17.1, kendalltau", of="kendall_distance", within=1e-06)
def test_distance_without_ties_matches_kendall_tau() -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        one, other = generator.permutation(7), generator.permutation(7)
        tau = scipy.stats.kendalltau(one, other).statistic
        assert kendall_distance(one, other) == pytest.approx((1 - tau) / 2)


@pytest.mark.parametrize("second", [[1, 2], [1, GAP, 2], [[1, 2, 3]]])
def test_distance_needs_ranks_of_the_same_systems(second: list[float]) -> None:
    with pytest.raises(ValueError, match=r"same two or more systems|inhomogeneous"):
        kendall_distance([1, 2, 3], second)


@pytest.mark.oracle("fraction worked by hand", of="ranking_alpha", within=1e-06)
def test_alpha_of_the_worked_example() -> None:
    # Distances 1/3 and 1/6, so .25 observed; one of four rankings ties a third of its pairs.
    assert ranking_alpha(rankings(BY_HAND)).value == pytest.approx(1 - 0.25 / 0.5)


def alpha_by_all_names(items: Sequence[Row]) -> float | None:
    """Chance as the mean distance over all pairs of rankings and all names that systems may have."""
    items = [item for item in items if len(item) > 1]
    values = [ranks for item in items for ranks in item]
    observed = sum(
        kendall_distance(one, other) / (len(item) - 1)
        for item in items
        for one, other in permutations(item, 2)
    )
    expected = [
        np.mean([kendall_distance(one, [other[name] for name in names]) for names in permutations(range(3))])
        for one, other in permutations(values, 2)
    ]
    return 1 - observed / len(values) / float(np.mean(expected)) if any(expected) else None


@settings(max_examples=30, deadline=None)
@given(
    items=st.lists(
        st.lists(st.sampled_from([*product([1, 2, 3], repeat=3)]), min_size=0, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_alpha_takes_chance_over_all_names(items: list[list[tuple[int, int, int]]]) -> None:
    ranks = np.full((3, len(items), 3), GAP)
    for index, item in enumerate(items):
        for rater, each in enumerate(item):
            ranks[rater, index] = each
    expected = alpha_by_all_names(items)
    found = ranking_alpha(rankings(ranks))
    assert found.value == (None if expected is None else pytest.approx(expected))


@pytest.mark.oracle("package SciPy 1.17.1, mean kendalltau", of="ranking_alpha", within=1e-06)
def test_alpha_without_ties_is_the_mean_tau_whatever_systems_an_item_has() -> None:
    generator = np.random.default_rng(3)
    ranks = np.full((2, 40, 5), GAP)
    taus = []
    for item in range(40):
        chosen = generator.choice(5, size=int(generator.integers(2, 6)), replace=False)
        for rater in range(2):
            ranks[rater, item, chosen] = generator.permutation(len(chosen)) + 1
        taus.append(scipy.stats.kendalltau(*ranks[:, item, chosen]).statistic)
    found = ranking_alpha(rankings(ranks), generator=Stream(1))
    assert found.value is not None
    assert found.value == pytest.approx(np.mean(taus))
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high


def test_of_two_systems_it_is_the_alpha_of_preferences() -> None:
    values = np.random.default_rng(4).choice([-1, 1], size=(2, 30), p=[0.3, 0.7])
    pairs = PairwiseAnswers(values, first=["0"] * 30, second=["1"] * 30)
    alpha = preference_alpha(pairs).value
    ranks = np.stack([np.where(values > 0, 1, 2), np.where(values > 0, 2, 1)], axis=2)
    assert alpha is not None
    # Alpha of numbers takes chance from its 120 mirrored values: 119 / 120 of the disagreement.
    assert ranking_alpha(rankings(ranks)).value == pytest.approx(1 - (1 - alpha) * 120 / 119)


def test_raters_who_always_rank_alike_agree() -> None:
    assert ranking_alpha(rankings([[[1, 2, 3]] * 4] * 3)).value == 1


def test_incomparable_input_has_no_value_but_a_reason() -> None:
    assert "ties all its systems" in (ranking_alpha(rankings([[[1, 1]], [[2, 2]]])).reason or "")
    alone = rankings([[[1, 2]]])
    for statistic in (ranking_alpha, mean_concordance):
        assert "Only one rater" in (statistic(alone).reason or "")
    tied = mean_concordance(rankings([[[1, 1]], [[2, 2]]]))
    assert "difference between its systems" in (tied.reason or "")
    assert tied.counts.undefined_groups == 1


@pytest.mark.oracle("fraction worked by hand", of=("concordances", "mean_concordance"), within=1e-06)
def test_concordance_is_kendalls_w_of_each_item() -> None:
    ranks = np.full((3, 3, 4), GAP)
    ranks[:, 0] = [[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4]]
    ranks[:2, 1, 1:] = [[1, 2, 3], [3, 2, 1]]
    ranks[0, 2] = [1, 2, 3, 4]
    made = rankings(ranks, documents=[1, 1, 2])
    first, second, third = concordances(made)
    # Sums of ranks 4, 6, 8, 12 with mean 7.5: S = 35; its maximum is 45.
    assert first.value == pytest.approx(35 / 45)
    assert first.value == kendall_w(ratings(ranks[:, 0], "ordinal")).value
    assert second.value == pytest.approx(0)
    assert third.value is None
    found = mean_concordance(made, generator=Stream(1))
    assert found.value == pytest.approx(35 / 90)
    assert (found.counts.groups, found.counts.undefined_groups) == (3, 1)
    assert found.interval_reason is not None


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([[[1, GAP]]], "two systems or more"),
        ([[[1, 2, GAP]], [[1, 2, 3]]], "all systems that other raters ranked"),
        ([[1, 2]], "raters by items by"),
    ],
)
def test_rankings_that_do_not_fit_are_errors(ranks: list[Row], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rankings(ranks, systems=["a", "b", "c"][: np.shape(ranks)[-1]])


def test_four_hundred_items_have_an_interval_by_documents() -> None:
    generator = np.random.default_rng(5)
    quality = generator.normal(size=(400, 5))
    ranks = (quality + generator.normal(size=(3, 400, 5))).argsort(axis=2).argsort(axis=2) + 1
    made = rankings(ranks, documents=(np.arange(400) // 4).tolist())
    plan = Resampling(by="documents", replicates=1999)
    for statistic in (ranking_alpha, mean_concordance):
        found = statistic(made, generator=Stream(1), resampling=plan)
        assert found.value is not None
        assert found.interval is not None
        assert found.interval.low < found.value < found.interval.high
        assert "of documents" in found.interval.method
