"""Mean and spread of each system's scores by people and by the judge."""

import numpy as np
import pytest

from agreement.comparison import human_scores_by_system, scores_by_system
from agreement.streams import Stream
from tests.agreement.comparison.tables import GAP, scores


@pytest.mark.oracle(
    "fraction worked by hand", of=("scores_by_system", "human_scores_by_system"), within=1e-06
)
def test_means_and_deviations_of_each_system() -> None:
    first, second, third = scores_by_system(scores())
    assert [each.system for each in (first, second, third)] == ["A", "B", "C"]
    assert second.human_mean.value == pytest.approx(2.5)
    assert second.human_deviation.value == pytest.approx(0.5)  # of 2 and 3
    assert second.human_spread.value == pytest.approx(0.5)  # 2 and 2, then 4 and 2
    assert third.judge_mean.value == pytest.approx(2.5)
    assert third.judge_deviation.value == pytest.approx(1.5)  # of 4 and 1
    assert second.items == 2


def test_each_side_uses_every_item_that_it_has() -> None:
    table = scores(judge=[2, GAP, 3, 3, 4, 1], human=[[GAP, 2, 2, 4, 4, 5], [GAP, 2, 2, 2, 4, 5]])
    first = scores_by_system(table)[0]
    assert (first.human_mean.value, first.judge_mean.value) == (2, 2)
    assert (first.human_mean.counts.ratings, first.judge_mean.counts.ratings) == (1, 1)
    assert first.judge_deviation.reason == "There is only one value; two or more are needed."


def test_without_people_or_judge_it_says_who_is_missing() -> None:
    first = scores_by_system(scores(human=np.empty((0, 6)), judge=[GAP] * 6))[0]
    assert first.human_mean.reason == "No person has rated these items yet."
    assert first.human_deviation.reason == "No person has rated these items yet."
    assert first.judge_mean.reason == "The judge has no value for these items yet."
    assert first.human_spread.reason is not None


def test_one_person_has_a_mean_but_no_spread() -> None:
    first = scores_by_system(scores(human=[[1, 2, 2, 4, 4, 5]]))[0]
    assert first.human_mean.value == 1.5
    assert first.human_spread.value is None


def test_means_have_intervals() -> None:
    table = scores(judge=[1, 2, 3, 4, 5, 3])
    first = scores_by_system(table, generator=np.random.default_rng(0))[0]
    assert first.judge_mean.interval is not None


def test_human_values_are_equal_for_every_judge() -> None:
    of_people = human_scores_by_system(scores(), generator=Stream(1).of("people"))
    for judge in ([2, 3, 3, 3, 4, 1], [1, 1, 5, 2, 4, 4]):
        found = scores_by_system(scores(judge=judge), generator=Stream(1).of("judge"), people=of_people)
        assert [each.human_mean for each in found] == [each.mean for each in of_people]
        assert [each.human_spread for each in found] == [each.spread for each in of_people]
