"""Strengths of systems from comparisons: beside choix, by hand, and how often intervals and ranks hold."""

import numpy as np
import pytest

from agreement.comparison import Strengths, Verdicts, system_strengths
from benchmarks.coverage_questions import Comparisons, held_strengths

pytestmark = pytest.mark.fast

WINS = [[0, 7, 9, 6, 11], [3, 0, 6, 8, 7], [2, 4, 0, 5, 9], [5, 3, 6, 0, 6], [1, 4, 2, 5, 0]]
CHOIX = [0.88977992, 0.22784896, -0.12647227, -0.15885148, -0.83230513]
"""What choix 0.4.1 finds by maximum likelihood (opt_pairwise, alpha 0) of WINS[row][column]."""


def of_wins(wins: list[list[int]]) -> Strengths:
    """Each win once in either order, so that no place is better."""
    first, second, points = [], [], []
    for one, row in enumerate(wins):
        for other, times in enumerate(row):
            for _ in range(times):
                first += [one, other]
                second += [other, one]
                points += [1, 0]
    documents = np.repeat(np.arange(len(points) // 2), 2)
    return system_strengths(Verdicts(first=first, second=second, documents=documents, points=points))


def values(found: Strengths) -> dict[str, float]:
    return {each.system: each.strength.value for each in found.systems if each.strength}


@pytest.mark.oracle("package choix 0.4.1", of="system_strengths", within=1e-06)
def test_strengths_without_ties_and_positions_match_choix() -> None:
    found = of_wins(WINS)
    assert values(found) == pytest.approx(
        {str(order_effect): value for order_effect, value in enumerate(CHOIX)}, abs=1e-6
    )
    assert [each.system for each in found.systems] == ["0", "1", "2", "3", "4"]
    assert found.first_wins is not None
    assert found.first_wins.value == pytest.approx(0.5)
    assert found.ties == 0


def repeated(outcomes: list[tuple[str, str, float, int]]) -> Strengths:
    rows = [(first, second, points) for first, second, points, times in outcomes for _ in range(times)]
    first, second, points = zip(*rows, strict=True)
    return system_strengths(Verdicts(first=first, second=second, documents=range(len(rows)), points=points))


def test_two_systems_by_hand() -> None:
    # A wins 8 and loses 2 with 4 ties in either order: odds 4, and e^tie = 4 / sqrt(8 x 2).
    found = repeated(
        [
            ("A", "B", 1, 8),
            ("A", "B", 0, 2),
            ("A", "B", 0.5, 4),
            ("B", "A", 0, 8),
            ("B", "A", 1, 2),
            ("B", "A", 0.5, 4),
        ]
    )
    assert values(found) == pytest.approx({"A": np.log(4) / 2, "B": -np.log(4) / 2})
    assert found.ties == pytest.approx(1 / (1 + 2))
    (pair,) = found.differences
    assert pair.value == pytest.approx(np.log(4))
    assert pair.low is not None
    assert pair.low > 0
    assert [found.systems[0].verdicts, found.systems[0].won, found.systems[0].tied] == [28, 16, 8]
    assert (found.systems[0].best, found.systems[0].worst) == (1, 1)


def test_winning_position_is_separated_from_a_winning_system() -> None:
    found = repeated(
        [
            ("A", "B", 1, 9),
            ("A", "B", 0, 3),
            ("A", "B", 0.5, 2),
            ("B", "A", 1, 9),
            ("B", "A", 0, 3),
            ("B", "A", 0.5, 2),
        ]
    )
    assert values(found) == pytest.approx({"A": 0, "B": 0}, abs=1e-9)
    assert found.first_wins is not None
    assert found.first_wins.value == pytest.approx(9 / 12)


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ([("A", "B", 1, 3)], "There are readable verdicts on 3 documents; 5 are needed."),
        (
            [("A", "B", 1, 6), ("B", "A", 0, 6)],
            "won, lost or missed every comparison with the others, so there is no finite strength.",
        ),
        (
            [("A", "B", 1, 6), ("B", "A", 1, 6)],
            "The likelihood has no maximum: one place, or one group of systems, always wins.",
        ),
        ([("A", "B", np.nan, 6)], "There are readable verdicts on 0 documents; 5 are needed."),
    ],
)
def test_infinite_strength_has_a_reason(outcomes: list[tuple[str, str, float, int]], reason: str) -> None:
    found = repeated(outcomes)
    assert reason in found.reason
    assert [each.strength for each in found.systems] == [None, None]
    assert found.first_wins is None


@pytest.mark.parametrize(
    "pairs", [["AB"], ["AB", "BC"], ["BA", "CA"], ["AB", "CB", "CD", "AD"]], ids="-".join
)
def test_one_order_alone_cannot_separate_strength_from_position_bias(pairs: list[str]) -> None:
    found = repeated([(pair[0], pair[1], points, 4) for pair in pairs for points in (1, 0, 0.5)])
    assert found.reason.startswith("Texts were shown in one order only")
    assert {each.strength for each in found.systems} == {None}
    assert found.differences == ()
    # One pair in its other order, too, is enough for all.
    more = [*pairs, pairs[0][::-1]]
    assert repeated([(pair[0], pair[1], points, 4) for pair in more for points in (1.0, 0.0)]).reason == ""


def test_circular_orders_separate_strength_from_position_bias() -> None:
    # Each first place wins 8 of 12 against systems that are all equal.
    found = repeated(
        [
            (first, second, points, times)
            for first, second in (("A", "B"), ("B", "C"), ("C", "A"))
            for points, times in ((1.0, 8), (0.0, 4))
        ]
    )
    assert values(found) == pytest.approx({"A": 0, "B": 0, "C": 0}, abs=1e-9)
    assert found.first_wins is not None
    assert found.first_wins.value == pytest.approx(8 / 12)


def test_systems_that_never_met_have_no_common_strength() -> None:
    pairs = ("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")
    found = repeated([(first, second, points, 4) for first, second in pairs for points in (1.0, 0.0)])
    assert "missed every comparison with the others" in found.reason
    assert {each.strength for each in found.systems} == {None}


def test_intervals_and_ranks_cover_outputs_that_differ_by_document() -> None:
    strengths, order_effect, ranks = held_strengths(Comparisons(25, of_document=0.8), 120)
    assert 0.9 < strengths < 0.99
    assert order_effect > 0.88
    assert ranks > 0.93
