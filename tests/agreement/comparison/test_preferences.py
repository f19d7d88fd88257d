"""Where a judge prefers the system that people prefer, by points over documents."""

import numpy as np
import pytest

from agreement.comparison import (
    Scores,
    all_pairs,
    correct_preferences,
    human_ranking,
    neighbours,
)
from tests.agreement.comparison.tables import GAP, grid, scores


@pytest.mark.oracle("fraction worked by hand", of="correct_preferences", within=1e-06)
def test_a_document_gives_a_point_to_the_better_system_and_halves_to_equal_ones() -> None:
    result = correct_preferences(scores())
    found = [
        (pair.first, pair.second, pair.judge_points, pair.human_points, pair.correct) for pair in result.pairs
    ]
    assert found == [
        ("A", "B", 0.5, 0, True),  # the judge: behind, equal
        ("A", "C", 1, 0, False),  # the judge: behind, ahead, so neither
        ("B", "C", 1, 0, False),
    ]
    assert (result.correct, result.compared) == (1, 3)
    assert result.share.value == pytest.approx(1 / 3)


def test_no_preference_is_correct_where_people_have_none() -> None:
    result = correct_preferences(grid([[1, 2, 2, 1]], [3, 3, 3, 3], documents=2))
    assert [pair.correct for pair in result.pairs] == [True]


def test_points_count_wins_and_not_their_margins() -> None:
    """Three narrow wins beat two wide ones, although the mean says otherwise."""
    table = grid([[2, 2, 2, 1, 1, 1, 1, 1, 5, 5]], [2, 2, 2, 1, 1, 1, 1, 1, 5, 5], documents=5)
    assert table.human_means[:5].mean() < table.human_means[5:].mean()
    pair = correct_preferences(table).pairs[0]
    assert (pair.human_points, pair.documents) == (3, 5)


def test_neighbours_are_next_to_each_other_in_human_rank() -> None:
    assert human_ranking(scores()) == ("C", "B", "A")
    assert neighbours(human_ranking(scores())) == (("C", "B"), ("B", "A"))
    result = correct_preferences(scores(), neighbours(human_ranking(scores())))
    assert (result.correct, result.compared) == (1, 2)


@pytest.mark.oracle("fraction worked by hand", of="human_ranking")
def test_several_dimensions_are_ranked_by_their_mean() -> None:
    other = scores(human=[[5, 5, 1, 1, 2, 2]])  # A 5 and 1.5, B 1 and 2.5, C 2 and 4.5
    assert human_ranking(scores(), other) == ("A", "C", "B")  # equal ones as they come


def test_unrated_system_has_no_rank() -> None:
    assert human_ranking(scores(human=[[1, 2, GAP, GAP, 4, 5]])) == ("C", "A")


def test_rankings_of_other_systems_do_not_mix() -> None:
    with pytest.raises(ValueError, match="not about the same systems"):
        human_ranking(scores(), scores(systems=[1, 1, 2, 2, 3, 3]))


def test_only_documents_with_all_four_scores_count() -> None:
    result = correct_preferences(scores(judge=[2, GAP, 3, 3, 4, 1]))
    assert [pair.documents for pair in result.pairs] == [1, 1, 2]
    assert result.share.counts.ratings == 2 * 4


def test_a_pair_without_common_documents_is_not_compared() -> None:
    result = correct_preferences(scores(judge=[2, 3, 3, 3, GAP, GAP]))
    assert [pair.correct for pair in result.pairs] == [True, None, None]
    assert result.pairs[1].judge_points is None
    assert (result.correct, result.compared) == (1, 1)
    assert result.share.value == 1


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (scores().of_items([0, 1]), "There is no pair of systems to compare."),
        (
            scores(human=np.empty((0, 6))),
            "People have rated no two of these systems on the same document yet.",
        ),
        (
            scores(judge=[GAP] * 6),
            "The judge has compared no two of these systems on the same document yet.",
        ),
        (
            scores(human=[[1, GAP, 2, GAP, 4, GAP]], judge=[GAP, 2, GAP, 3, GAP, 4]),
            "Judge and people have compared no two of these systems on the same document.",
        ),
    ],
)
def test_without_a_comparison_the_share_is_undefined(table: Scores, reason: str) -> None:
    result = correct_preferences(table, generator=np.random.default_rng(0))
    assert result.share.value is None
    assert result.share.reason == reason
    assert result.compared == 0


def test_error_names_the_unknown_system() -> None:
    with pytest.raises(ValueError, match="There are no scores of the system Z"):
        correct_preferences(scores(), [("A", "Z")])


def test_turning_a_pair_round_changes_its_points_only() -> None:
    forward = correct_preferences(scores(), all_pairs("ABC"))
    backward = correct_preferences(scores(), all_pairs("CBA"))
    assert forward.correct == backward.correct
    assert backward.pairs[-1].judge_points == 2 - (forward.pairs[0].judge_points or 0)


def test_only_order_matters_to_points() -> None:
    stretched = scores(judge=[10, 100, 100, 100, 1000, -5])
    assert correct_preferences(stretched) == correct_preferences(scores())


def test_the_interval_resamples_documents() -> None:
    generator = np.random.default_rng(8)
    quality = np.repeat(np.linspace(2.8, 3.2, 6), 40)
    human, judge = quality + generator.normal(size=(2, 240))
    share = correct_preferences(grid([human], judge, documents=40), generator=generator).share
    assert share.interval is not None
    assert share.interval.method == "percentile bootstrap of documents"
    assert 0 <= share.interval.low < share.interval.high <= 1


def test_resample_share_equals_the_share_of_its_documents() -> None:
    """Each document twice is the same share; weights of documents and copies of them agree."""
    table = scores()
    twice = Scores(
        systems=[*"AABBCC"] * 2,
        documents=["one", "two"] * 3 + ["three", "four"] * 3,
        human=np.tile(table.human, 2),
        judge=np.tile(table.judge, 2),
    )
    assert correct_preferences(twice).share.value == correct_preferences(table).share.value
