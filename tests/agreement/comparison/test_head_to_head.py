"""Two texts shown in both orders: points, position consistency, and preferences beside people's."""

import numpy as np
import pytest

from agreement.comparison import Verdicts, correct_verdicts, head_to_head_points, position_consistency
from tests.agreement.comparison.tables import GAP, scores, verdicts

ASKED = [
    ("A", "B", "one", 1),
    ("B", "A", "one", 1),  # whoever stands first wins
    ("A", "B", "two", 1),
    ("B", "A", "two", 0),  # A wins
    ("A", "B", "three", 0.5),
    ("B", "A", "three", 0.5),  # a tie
    ("A", "B", "four", 1),
    ("B", "A", "four", GAP),  # unreadable
    ("A", "B", "five", 0.5),
    ("B", "A", "five", 1),  # a tie, then B, which stands first
]


@pytest.mark.oracle("fraction worked by hand", of="head_to_head_points", within=1e-06)
def test_points_are_the_mean_over_both_orders_summed_over_documents() -> None:
    (pair,) = head_to_head_points(verdicts(*ASKED))
    assert (pair.first, pair.second) == ("A", "B")
    assert pair.points.value == pytest.approx(0.5 + 1 + 0.5 + 0.25)
    assert (pair.documents, pair.left_out) == (4, 1)


@pytest.mark.oracle("fraction worked by hand", of="position_consistency", within=1e-06)
def test_position_consistency_is_the_share_with_the_same_outcome() -> None:
    result = position_consistency(verdicts(*ASKED))
    assert result.share.value == pytest.approx(2 / 4)
    assert (result.consistent, result.favours_first, result.favours_second) == (2, 2, 0)
    assert result == head_to_head_points(verdicts(*ASKED))[0].consistency


def test_preference_for_the_second_position_is_reported_as_such() -> None:
    result = position_consistency(verdicts(("A", "B", "one", 0), ("B", "A", "one", 0)))
    assert (result.consistent, result.favours_first, result.favours_second) == (0, 0, 1)


def test_samples_of_one_order_are_averaged_before_the_orders_are() -> None:
    asked = [("A", "B", "one", 1), ("A", "B", "one", 1), ("A", "B", "one", 0), ("B", "A", "one", 1)]
    (pair,) = head_to_head_points(verdicts(*asked))
    assert pair.points.value == pytest.approx((2 / 3 + 0) / 2)
    assert pair.consistency.favours_first == 1  # A with 2 of 3, then B


def test_a_pair_is_turned_round_on_demand() -> None:
    (pair,) = head_to_head_points(verdicts(*ASKED), [("B", "A")])
    assert pair.points.value == pytest.approx(4 - 2.25)
    assert (pair.consistency.consistent, pair.consistency.favours_first) == (2, 2)


def test_the_order_of_verdicts_does_not_matter() -> None:
    shuffled = [ASKED[index] for index in np.random.default_rng(0).permutation(len(ASKED))]
    (pair,) = head_to_head_points(verdicts(*shuffled), [("A", "B")])
    assert pair == head_to_head_points(verdicts(*ASKED))[0]


def test_other_pairs_do_not_mix() -> None:
    asked = verdicts(*ASKED, ("C", "A", "one", 1), ("A", "C", "one", 0))
    points = {(pair.first, pair.second): pair.points.value for pair in head_to_head_points(asked)}
    assert points == {("A", "B"): pytest.approx(2.25), ("C", "A"): pytest.approx(1)}
    assert position_consistency(asked).share.value == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    "asked",
    [
        verdicts(("A", "B", "one", 1), ("A", "B", "two", 0)),
        verdicts(("A", "B", "one", 1), ("B", "A", "two", 0)),
        verdicts(("A", "B", "one", GAP), ("B", "A", "one", 1)),
    ],
    ids=["one order", "orders of other documents", "unreadable"],
)
def test_one_order_alone_gives_no_points(asked: Verdicts) -> None:
    (pair,) = head_to_head_points(asked, generator=np.random.default_rng(0))
    assert pair.points.value is None
    assert pair.points.reason == "No document has a readable verdict in both orders; ask the judge in both."
    assert pair.left_out == len(asked.document_labels)
    assert position_consistency(asked).share.value is None


def test_nothing_asked_is_no_pair() -> None:
    assert head_to_head_points(verdicts()) == ()
    assert position_consistency(verdicts()).share.value is None


@pytest.mark.oracle("fraction worked by hand", of="correct_verdicts")
def test_verdicts_are_compared_with_human_scores() -> None:
    asked = verdicts(*ASKED, ("C", "A", "one", 0), ("A", "C", "one", 1))
    result = correct_verdicts(asked, scores())  # people rated documents one and two
    found = [
        (pair.first, pair.second, pair.documents, pair.judge_points, pair.human_points)
        for pair in result.pairs
    ]
    assert found == [("A", "B", 2, 1.5, 0), ("C", "A", 1, 0, 1)]
    assert (result.correct, result.compared) == (0, 2)
    assert result.share.value == 0


def test_pairs_can_be_chosen_among_those_asked() -> None:
    result = correct_verdicts(verdicts(*ASKED), scores(), [("B", "A"), ("C", "B")])
    assert [pair.correct for pair in result.pairs] == [False, None]


def test_intervals_resample_documents() -> None:
    generator = np.random.default_rng(2)
    asked = [
        (first, second, str(document), float(generator.choice([1, 1, 0.5, 0])))
        for document in range(60)
        for first, second in (("A", "B"), ("B", "A"))
    ]
    (pair,) = head_to_head_points(verdicts(*asked), generator=generator)
    for coefficient in (pair.points, pair.consistency.share):
        assert coefficient.interval is not None
        assert coefficient.interval.method == "percentile bootstrap of documents"
        assert coefficient.interval.low < (coefficient.value or 0) < coefficient.interval.high
    assert pair.points.interval is not None
    assert pair.points.interval.high > 1  # in points, not a share
