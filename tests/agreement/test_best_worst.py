"""Best-worst scores by hand."""

import numpy as np
import pytest

from agreement import best_worst_scores
from agreement.student import ratio_interval

pytestmark = pytest.mark.fast

SHOWN = ["ABCD", "ABCD", "ABC"]


@pytest.mark.oracle("fraction worked by hand", of="best_worst_scores", within=1e-06)
def test_scores_by_hand() -> None:
    found = {each.system: each for each in best_worst_scores(SHOWN, "AAB", "DCC", documents=[1, 2, 3])}
    assert {name: each.score.value for name, each in found.items()} == pytest.approx(
        {"A": 2 / 3, "B": 1 / 3, "C": -2 / 3, "D": -1 / 2}
    )
    assert list(found) == ["A", "B", "D", "C"]
    assert (found["C"].shown, found["C"].best, found["C"].worst) == (3, 0, 2)


def test_interval_is_the_stretched_share_interval() -> None:
    scores = best_worst_scores(SHOWN * 4, "AAB" * 4, "DCC" * 4, documents=list(range(6)) * 2)
    found = next(each.score for each in scores if each.system == "A")
    # On six documents, each with the same outcome twice: points 1, 1, 1/2 as shares.
    expected, _ = ratio_interval(np.array([2, 2, 1, 2, 2, 1.0]), np.full(6, 2.0))
    assert expected is not None
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (2 * expected.low - 1, 2 * expected.high - 1)
    )


def test_one_document_gives_no_interval() -> None:
    found = best_worst_scores(["AB"], ["A"], ["B"])
    assert [each.score.interval for each in found] == [None, None]
    assert found[0].score.interval_reason == "An interval needs answers on two documents."


@pytest.mark.parametrize(("shown", "best", "worst"), [("AB", "A", "A"), ("AB", "A", "C"), ("AAB", "A", "B")])
def test_answers_that_do_not_fit_are_errors(shown: str, best: str, worst: str) -> None:
    with pytest.raises(ValueError, match="two of the different systems that were shown"):
        best_worst_scores([shown], [best], [worst])
    with pytest.raises(ValueError, match="Each answer needs"):
        best_worst_scores([shown], [], [])
