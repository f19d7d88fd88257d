"""One judge against another: by hand, on shared items, and how often a difference is found without one."""

import numpy as np
import pytest

from agreement import PairedDifference, Stream, spearman
from agreement.comparison import (
    Scores,
    alpha_with_people,
    category_agreement,
    compare_two_judges,
    correct_preferences,
    highest_judges,
    holm_over_pairs,
)
from benchmarks.coverage_judges import TwoJudges, rejected_between_judges

pytestmark = pytest.mark.fast
GAP = float("nan")
STREAM = Stream(3).of("test")


def grid(judge: list[float], human: list[list[float]], systems: int = 3) -> Scores:
    number = len(judge)
    return Scores(
        systems=[f"S{each % systems}" for each in range(number)],
        documents=[each // systems for each in range(number)],
        human=human,
        judge=judge,
    )


HUMAN = [[1.0, 2, 5, 2, 4, 4, 3, 1, 5, 2, 3, 5]]
ONE = [1.0, 3, 5, 2, 4, 5, 3, 2, 4, 2, 2, 5]
OTHER = [3.0, 1, 4, 2, 5, 3, GAP, 1, 2, 2, 4, 3]


def test_each_value_is_the_judge_value_on_the_common_items() -> None:
    first, second = grid(ONE, HUMAN), grid(OTHER, HUMAN)
    items, found = compare_two_judges(first, second, measurement_level="ordinal", generator=STREAM)
    kept = ~np.isnan(OTHER)
    one, other = first.of_items(kept), second.of_items(kept)
    assert items == 11
    for each, side in ((one, "first"), (other, "second")):
        assert getattr(found["spearman"], side) == pytest.approx(spearman(each.human_means, each.judge).value)
        alpha = alpha_with_people(each, measurement_level="ordinal").with_mean.value
        assert getattr(found["alpha"], side) == pytest.approx(alpha)
        assert getattr(found["preferences"], side) == pytest.approx(correct_preferences(each).share.value)
    assert found["systems"].value is not None
    assert found["systems"].reason == "3 systems are too few for Williams’ test, which needs 5."


def test_named_categories_are_compared_by_accuracy() -> None:
    first, second = (
        grid([1.0, 2, 2, 1, 1, 2], [[1.0, 2, 2, 1, 2, 2]]),
        grid([2.0] * 6, [[1.0, 2, 2, 1, 2, 2]]),
    )
    _, found = compare_two_judges(first, second, measurement_level="nominal", generator=STREAM)
    assert set(found) == {"accuracy"}
    assert found["accuracy"].first == category_agreement(first, [1, 2]).accuracy.value
    assert found["accuracy"].value == pytest.approx(5 / 6 - 4 / 6)


def test_pair_without_a_common_item_has_no_value() -> None:
    first, second = grid([1.0, GAP, 2], [[1.0, 2, 3]]), grid([GAP, 2.0, GAP], [[1.0, 2, 3]])
    assert compare_two_judges(first, second, generator=STREAM) == (0, {})


def pair(first: str, second: str, value: float, p_value: float):
    return (first, second, 9, {"alpha": PairedDifference(value, 9, p_value=p_value)})


@pytest.mark.oracle("fraction worked by hand", of="highest_judges", within=1e-06)
def test_holm_covers_the_pairs_and_names_possible_best_judges() -> None:
    pairs = holm_over_pairs(
        [pair("A", "B", 0.1, 0.03), pair("A", "C", 0.3, 0.001), pair("B", "C", 0.2, 0.02)]
    )
    assert [each.adjusted["alpha"] for each in pairs] == pytest.approx([0.04, 0.003, 0.04])
    found = highest_judges(pairs, "alpha")
    assert found is not None
    assert (found.highest, found.may_be_highest, found.is_sure) == (("A",), ("A",), True)
    unsure = highest_judges(holm_over_pairs([pair("A", "B", -0.1, 0.3), pair("A", "C", 0.3, 0.001)]), "alpha")
    assert unsure is not None
    assert (unsure.highest, unsure.may_be_highest, unsure.is_sure) == (("B",), ("A", "B"), False)
    assert highest_judges(pairs, "spearman") is None


@pytest.mark.oracle("simulation, share of pairs told apart", of=("compare_two_judges", "holm_over_pairs"))
def test_equal_judges_rarely_differ_beyond_the_level() -> None:
    shares = rejected_between_judges(TwoJudges(documents=25, systems=6), 120, replicates=300)
    assert all(share < 0.11 for share in shares.values())
    # A judge with twice the noise is found: the test can fail.
    worse = rejected_between_judges(TwoJudges(documents=25, systems=6, noise=(0.6, 1.4)), 30, replicates=300)
    assert min(worse["spearman"], worse["alpha"]) > 0.8
