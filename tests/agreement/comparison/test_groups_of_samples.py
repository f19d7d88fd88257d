"""Two judges compared over groups of their samples."""

import numpy as np
import pytest
from scipy import stats

from agreement import pearson, spearman
from agreement.comparison import Level, Scores
from agreement.comparison.between_judges import compare_groups

DOCUMENTS, SYSTEMS = 40, 5


def judged(noise, seed):
    truth = np.random.default_rng(1).normal(size=DOCUMENTS * SYSTEMS)
    samples = truth[:, None] + noise * np.random.default_rng(seed).normal(size=(len(truth), 100))
    scores = Scores(
        systems=np.tile(np.arange(SYSTEMS), DOCUMENTS),
        documents=np.repeat(np.arange(DOCUMENTS), SYSTEMS),
        human=truth[None],
        judge=samples.mean(axis=1),
    )
    return scores, samples


def test_tests_match_scipy_over_ten_groups_of_ten():
    (scores, first), (_, second) = judged(2, 2), judged(2.5, 3)
    found = compare_groups(scores, first, second, pearson, Level.DATASET)
    of_groups = [
        [np.corrcoef(scores.human[0], group.mean(axis=1))[0, 1] for group in np.split(samples, 10, axis=1)]
        for samples in (first, second)
    ]
    assert found.first == pytest.approx(np.mean(of_groups[0]))
    assert found.second == pytest.approx(np.mean(of_groups[1]))
    assert found.u_p == pytest.approx(stats.mannwhitneyu(of_groups[0], of_groups[1]).pvalue)
    assert found.t_p == pytest.approx(stats.ttest_ind(of_groups[0], of_groups[1]).pvalue)


def p_of(scores, first, second):
    return compare_groups(scores, first, second, spearman).u_p


def test_better_judge_differs_from_a_worse_one_and_not_from_itself():
    (scores, good), (_, bad) = judged(1, 2), judged(4, 3)
    assert p_of(scores, good, bad) < 0.001
    assert p_of(scores, good, good) > 0.9


def test_too_few_samples_or_no_people_state_the_requirement():
    scores, samples = judged(1, 2)
    few = compare_groups(scores, samples[:, :19], samples, spearman)
    assert few.u_p is None
    assert "20 samples" in few.reason
    none = compare_groups(scores, np.full_like(samples, np.nan), samples, spearman)
    assert "No item" in none.reason
    same = compare_groups(scores, np.repeat(samples[:, :1], 20, axis=1), samples[:, [0] * 20], spearman)
    assert "the same correlation" in same.reason
