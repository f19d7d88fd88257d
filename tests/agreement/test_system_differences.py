"""Differences between systems that are the same on every document: the signs decide."""

import numpy as np
import pytest

from agreement.ranks import rank_sets
from agreement.system_differences import system_differences

pytestmark = pytest.mark.fast


def constant(documents: int, difference: float) -> np.ndarray:
    """Scores (documents, 2) of two systems that are everywhere so far apart."""
    second = np.linspace(1, 3, documents)
    return np.stack([second + difference, second], axis=1)


def test_the_same_difference_on_thirty_documents_is_sure() -> None:
    found = system_differences(constant(30, 2), ["A", "B"])
    assert [found[0].value, found[0].low, found[0].high] == pytest.approx([2, 2, 2])
    assert found[0].p_value == 2**-29
    assert [(each.best, each.worst) for each in rank_sets(["A", "B"], found)] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(("documents", "has_interval"), [(5, False), (6, True)])
def test_few_documents_give_a_p_value_and_no_interval(documents: int, has_interval: bool) -> None:
    (found,) = system_differences(constant(documents, -1), ["A", "B"])
    assert found.p_value == 2.0 ** (1 - documents)  # .0625 and .03125
    assert (found.low is not None) == has_interval == (not found.reason)


def test_the_same_scores_everywhere_are_no_difference() -> None:
    (found,) = system_differences(constant(30, 0), ["A", "B"])
    assert (found.value, found.p_value) == (0, None)
    assert found.reason == "Both have the same score on every document."


@pytest.mark.oracle("all 2^8 sign flips", of="system_differences")
def test_signs_match_all_permutations() -> None:
    flips = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1).T
    means = np.abs((flips * 1.5).mean(axis=1))
    (found,) = system_differences(constant(8, 1.5), ["A", "B"])
    assert found.p_value == np.mean(means >= 1.5 - 1e-12)


def test_fixed_document_error_shrinks_with_ratings_and_ends_with_all() -> None:
    scores = np.array([[1.0, 2.0], [3.0, 3.0], [2.0, 4.0], [5.0, 4.0], [np.nan, 4.0]])
    texts = np.array([[4, 4], [4, 5]])
    (all_rated,) = system_differences(scores, ["A", "B"], texts=texts)
    assert (all_rated.value, all_rated.low, all_rated.p_value) == (-0.5, None, None)
    assert all_rated.reason == "Every output is rated, so the difference is known and nothing is tested."
    (some,) = system_differences(scores, ["A", "B"], texts=texts * 4)
    (of_many,) = system_differences(scores, ["A", "B"])
    assert some.low is not None
    assert of_many.low is not None
    assert some.low + 0.5 == pytest.approx((of_many.low + 0.5) * (3 / 4) ** 0.5)
