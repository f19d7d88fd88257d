"""One rater held against the others, and preferences between two texts: by hand, and as published."""

import gzip
import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from agreement.comparison import (
    CORRELATIONS,
    Scores,
    Verdicts,
    correlation_with_other_raters,
    text_preferences,
    text_preferences_of_scores,
    text_preferences_of_verdicts,
)
from benchmarks.coverage_spread import PREFERRING, held_text_preferences
from tests.reference import reference_data

GAP = np.nan
SPEARMAN = CORRELATIONS["spearman"]


def scores(human: list[list[float]], judge: list[float] | None = None) -> Scores:
    """Two systems for as many documents as give the items."""
    items = len(human[0])
    return Scores(
        systems=["A", "B"] * (items // 2),
        documents=[item // 2 for item in range(items)],
        human=human,
        judge=judge or [GAP] * items,
    )


def test_rater_is_compared_with_the_mean_of_the_other_raters() -> None:
    own, others = [1.0, 2, 3, 4], [[4.0, 3, 2, 1], [4.0, 3, 2, 1]]
    found = scores([own, *others])
    alone = correlation_with_other_raters(found, 0, SPEARMAN)
    assert alone.value == pytest.approx(-1)
    # Means of all: (1 + 4 + 4) / 3 = 3, 8/3, 7/3, 2 fall as well; with one other rater they do not vary.
    assert correlation_with_other_raters(found, 0, SPEARMAN, with_own=True).value == pytest.approx(-1)
    two = scores([own, others[0]])
    assert correlation_with_other_raters(two, 0, SPEARMAN, with_own=True).value is None


@pytest.mark.oracle(
    "package SciPy 1.17.1, SummEval’s experts", of="correlation_with_other_raters", within=1e-06
)
def test_experts_of_summeval_are_as_scipy_has_them() -> None:
    with gzip.open(reference_data() / "news_summeval" / "summaries.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    human = np.array(
        [[row["expert_annotations"][rater]["consistency"] for row in rows] for rater in range(3)], dtype=float
    )
    found = Scores(
        systems=[row["system"] for row in rows],
        documents=[row["id"] for row in rows],
        human=human,
        judge=[GAP] * len(rows),
    )
    for with_own, others in ((False, human[1:]), (True, human)):
        expected = spearmanr(human[0], others.mean(axis=0).round(9)).statistic
        value = correlation_with_other_raters(found, 0, SPEARMAN, with_own=with_own).value
        assert value == pytest.approx(expected)


@pytest.mark.oracle(
    "fraction worked by hand", of=("text_preferences", "text_preferences_of_scores"), within=1e-06
)
def test_preference_accuracy_halves_judge_ties_and_omits_human_ties() -> None:
    # Documents: as people, the other way, a tie of the judge, a tie of people, no value of the judge.
    human = [[5.0, 3, 2, 4, 5, 1, 3, 3, 4, 2]]
    found = text_preferences_of_scores(scores(human, [4, 2, 5, 1, 3, 3, 1, 2, GAP, 2]))
    assert found.accuracy.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.compared, found.ties) == (3, 1)
    assert found.accuracy.interval is not None


@pytest.mark.oracle("fraction worked by hand", of="text_preferences_of_verdicts", within=1e-06)
def test_pairwise_judge_counts_by_its_mean_over_both_orders() -> None:
    verdicts = Verdicts(
        first=["A", "B", "A", "B"],
        second=["B", "A", "B", "A"],
        documents=[0, 0, 1, 1],
        points=[1, 0, 1, 1],  # A twice; the first text twice
    )
    found = text_preferences_of_verdicts(verdicts, scores([[5.0, 3, 4, 1]]))
    assert found.accuracy.value == pytest.approx(0.75)
    assert (found.compared, found.ties) == (2, 1)


def test_intervals_of_accuracy_on_preferences_hold() -> None:
    systems, noise = PREFERRING[1]
    assert held_text_preferences(systems, 15, noise, 300) == pytest.approx(0.95, abs=0.03)


def test_without_a_preference_of_people_it_is_undefined_with_its_reason() -> None:
    found = text_preferences(np.array([[1.0]]), np.array([[0.5]]))
    assert found.accuracy.value is None
    assert found.accuracy.reason == "People prefer none of these texts to another."
    one = text_preferences(np.array([[1.0, 0]]), np.array([[1.0, 1]]))
    assert (one.accuracy.value, one.accuracy.interval) == (0.5, None)
    assert one.accuracy.interval_reason == "An interval needs such pairs of texts in two documents."
