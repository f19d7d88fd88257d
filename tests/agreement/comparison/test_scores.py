"""What goes into a comparison: arrays that fit together, or one sentence why they do not."""

from typing import Any

import numpy as np
import pytest

from tests.agreement.comparison.tables import GAP, scores, verdicts


def test_labels_keep_their_input_order() -> None:
    table = scores(systems=[22, 22, 8, 8, 9, 9], documents=["z", "a"] * 3)
    assert table.system_names == ("22", "8", "9")
    assert table.document_labels == ("z", "a")
    assert table.systems.tolist() == [0, 0, 1, 1, 2, 2]
    assert table.documents.tolist() == [0, 1] * 3


def test_the_mean_of_people_leaves_gaps_out() -> None:
    table = scores(human=[[1, GAP, 3, 4, 5, GAP], [2, GAP, GAP, 4, 4, 1]])
    np.testing.assert_array_equal(table.human_means, [1.5, GAP, 3, 4, 4.5, 1])


def test_equal_scores_of_other_people_have_equal_means() -> None:
    table = scores(human=[[0.1, 0.3, 1, 1, 1, 1], [0.2, 0.2, 1, 1, 1, 1], [0.3, 0.1, 1, 1, 1, 1]])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert table.human_means[0] == table.human_means[1]


def test_items_can_be_chosen() -> None:
    chosen = scores().of_items([5, 0])
    assert chosen.system_names == ("C", "A")
    assert chosen.document_labels == ("two", "one")
    assert chosen.judge.tolist() == [1, 2]
    assert chosen.human.tolist() == [[5, 1], [5, 1]]


def test_no_items_can_be_chosen() -> None:
    nothing = scores().of_items(np.zeros(6, dtype=bool))
    assert nothing.system_names == ()
    assert nothing.human.shape == (2, 0)


def test_another_judge_is_compared_with_the_same_people() -> None:
    other = scores().of_judge([1, 1, 1, 1, 1, 2])
    assert other.judge.tolist() == [1, 1, 1, 1, 1, 2]
    assert other.human.tolist() == scores().human.tolist()


def test_arrays_cannot_be_changed_afterwards() -> None:
    table, asked = scores(), verdicts(("A", "B", "one", 1))
    for array in (table.judge, table.human, table.systems, asked.points, asked.documents):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_values_are_laid_out_by_document_and_system() -> None:
    table = scores().of_items([0, 1, 2, 5])
    laid_out = table.by_document(table.judge)
    np.testing.assert_array_equal(laid_out, [[2, 3, GAP], [3, GAP, 1]])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"judge": [1, 2]}, "There are 2 values of the judge, but human scores of 6 items"),
        ({"judge": [[1] * 6]}, "The judge's values must be a list"),
        ({"judge": ["good"] * 6}, "The judge's values must be numbers"),
        ({"judge": [np.inf] * 6}, "The judge's values must be finite"),
        ({"human": [1] * 6}, "Human scores must be a table"),
        ({"human": [[1, 2]]}, "human scores of 2 items"),
        ({"systems": ["A"]}, r"There are 6 values, but systems have the shape \(1,\)"),
        ({"documents": [["one"] * 6]}, "documents have the shape"),
        ({"documents": ["one"] * 6}, "The system A has two items for the document one"),
    ],
)
def test_invalid_input_gets_a_message(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        scores(**changes)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ([("A", "B", "one", 2)], "Points must be 1, 0.5 or 0"),
        ([("A", "B", "one", 1), ("B", "B", "one", 1)], "names the same system twice"),
    ],
)
def test_a_verdict_compares_two_systems_for_points(
    asked: list[tuple[str, str, str, float]], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        verdicts(*asked)
