"""Assignment plans keep what they promise, whatever the numbers of items and people."""

from collections import Counter
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.rating.planning import (
    CannotBeMetError,
    DealtPlan,
    ListRefusedError,
    deal_balanced,
    everyone,
    plan_from_list,
    read_list,
    severity_between_systems,
    sharing,
)

ITEMS, PEOPLE, SEEDS = st.integers(0, 60), st.integers(1, 8), st.integers(0, 2**31)
BUNDLES = st.lists(st.integers(0, 60), max_size=60) | ITEMS.map(lambda items: list(range(items)))
SHARES = st.sampled_from([0, 0.05, 0.1, 0.25, 0.5, 1])


def holds_together(plan: DealtPlan, items: int, annotators: int, largest_bundle: int = 1) -> None:
    """Check what every plan keeps: real annotators, none twice an item, equal loads, a true matrix."""
    assert len(plan.raters) == items
    assert all(len(set(raters)) == len(raters) for raters in plan.raters)
    assert {annotator for raters in plan.raters for annotator in raters} <= set(range(annotators))
    assert max(plan.loads) - min(plan.loads) <= largest_bundle
    assert np.array_equal(plan.overlap, plan.overlap.T)
    assert list(np.diag(plan.overlap)) == plan.loads
    assert sum(plan.loads) == plan.ratings


def largest(bundles: list[int]) -> int:
    return max(Counter(bundles).values(), default=0)


@given(ITEMS, PEOPLE)
def test_everyone_rates_everything(items: int, annotators: int) -> None:
    plan = everyone(items, annotators)
    holds_together(plan, items, annotators)
    assert (plan.overlap == items).all()


@settings(deadline=None)
@given(BUNDLES, PEOPLE, PEOPLE, SEEDS)
def test_balanced_gives_each_item_exactly_n_raters(
    bundles: list[int], annotators: int, n: int, seed: int
) -> None:
    if n > annotators:
        with pytest.raises(CannotBeMetError, match="Invite more people"):
            deal_balanced(bundles, annotators, n, seed)
        return
    plan = deal_balanced(bundles, annotators, n, seed)
    holds_together(plan, len(bundles), annotators, largest(bundles))
    assert set(plan.raters_per_item) <= {n}
    assert len(set(zip(bundles, plan.raters, strict=True))) == len(set(bundles))
    assert plan == deal_balanced(bundles, annotators, n, seed)


@settings(deadline=None)
@given(BUNDLES, st.integers(2, 8), PEOPLE, SHARES, SEEDS)
def test_sharing_gives_every_pair_its_share(
    bundles: list[int], annotators: int, n: int, share: float, seed: int
) -> None:
    n = min(n, annotators)
    plan = sharing(bundles, annotators, n, share, seed)
    holds_together(plan, len(bundles), annotators, largest(bundles))
    promised = ceil(round(share * len(bundles), 6))
    assert (plan.smallest_overlap or 0) >= promised
    assert set(plan.raters_per_item) <= {n, annotators}
    if n < annotators:
        assert plan.raters_per_item.get(annotators, 0) < promised + max(largest(bundles), 1)
    assert len(set(zip(bundles, plan.raters, strict=True))) == len(set(bundles))
    assert plan == sharing(bundles, annotators, n, share, seed)


def test_pairs_of_a_balanced_plan_share_nearly_equal_numbers() -> None:
    overlap = deal_balanced(range(200), 5, 2, seed=1).overlap
    pairs = overlap[~np.eye(5, dtype=bool)]
    assert pairs.max() - pairs.min() <= 2  # 200 items, 10 pairs: 20 each


def test_a_block_is_only_as_large_as_the_promise_needs() -> None:
    assert sharing(range(200), 5, 2, 0.05, seed=1).raters_per_item == {2: 200}
    assert sharing(range(200), 5, 1, 0.1, seed=1).raters_per_item == {1: 180, 5: 20}


def test_severity_cannot_separate_systems_with_the_same_raters() -> None:
    # 30 documents of 4 systems: whole documents leave nothing, single items leave something.
    documents, systems = np.repeat(np.arange(30), 4).tolist(), list(range(4)) * 30
    assert severity_between_systems(deal_balanced(documents, 5, 2, seed=1), systems) == pytest.approx((0, 0))
    average, most = severity_between_systems(deal_balanced(range(120), 5, 2, seed=1), systems) or (0, 0)
    assert 0 < average < most < 2**0.5


def test_severity_of_a_plan_by_hand() -> None:
    # System 0 has raters 0 and 1 alike, system 1 rater 0 alone: (1/2 - 1)^2 + (1/2)^2 = 1/2.
    plan = DealtPlan(2, ((0, 1), (0,)))
    assert severity_between_systems(plan, [0, 1]) == pytest.approx((0.5**0.5, 0.5**0.5))
    assert severity_between_systems(DealtPlan(2, ((0,), (1,))), [7, 9]) == pytest.approx((2**0.5, 2**0.5))
    assert severity_between_systems(DealtPlan(2, ((0,), ())), [0, 1]) is None


def test_another_seed_is_another_plan() -> None:
    assert deal_balanced(range(30), 5, 2, seed=1) != deal_balanced(range(30), 5, 2, seed=2)


@pytest.mark.parametrize(("annotators", "n", "share"), [(1, 1, 0.1), (3, 4, 0.1), (3, 2, 1.5)])
def test_impossible_share_is_rejected(annotators: int, n: int, share: float) -> None:
    with pytest.raises(CannotBeMetError):
        sharing(range(10), annotators, n, share, seed=1)


def test_a_list_is_read_and_planned() -> None:
    text = "\ufeffItem, annotator\r\np1/s1,ann\np1/s1,BO\np1/s2,ann\np1/s1,ann\n"
    text = text.replace("Item, ", "Item,")
    pairs = read_list(text, items={"p1/s1": 10, "p1/s2": 11}, annotators={"ann": 5, "bo": 6})
    assert pairs == [(10, 5), (10, 6), (11, 5)]
    assert plan_from_list(pairs, [10, 11, 12], [5, 6]).raters == ((0, 1), (0,), ())
    with pytest.raises(CannotBeMetError, match="Upload it again"):
        plan_from_list(pairs, [10], [5, 6])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must name the columns"),
        ("item,annotator\n", "lists nothing"),
        ("item,annotator\np9,ann\n", "Line 2: there is no item “p9”."),
        ("item,annotator\np1,cy\np1\n", "Line 2: there is no annotator “cy”."),
    ],
)
def test_invalid_list_is_rejected_with_reasons(text: str, says: str) -> None:
    with pytest.raises(ListRefusedError, match=says):
        read_list(text, items={"p1": 1}, annotators={"ann": 5})
