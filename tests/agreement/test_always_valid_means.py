"""Differences of systems and judges for any number of looks."""

import math

import numpy as np
import pytest

from agreement.always_valid import always_valid_differences
from agreement.comparison.between_judges import error_difference_by_document, nearness_by_document
from agreement.comparison.scores import Scores
from benchmarks.coverage_stopping import BENCHES, CONTESTS, documents_until_sure, excluded_at_any_look

# The stakes of the module and their shares by hand: l^2 / sum of l^2.
STAKES = [0.98, 0.7, 0.5, 0.35, 0.25, 0.12]
SHARES = [stake**2 / sum(each**2 for each in STAKES) for stake in STAKES]


def capital(scaled: list[float], mean: float) -> float:
    return max(
        sum(
            share * math.prod(1 + stake * (z - mean) / mean for z in scaled[:looks])
            for share, stake in zip(SHARES, STAKES, strict=True)
        )
        for looks in range(1, len(scaled) + 1)
    )


def number(value: float | None) -> float:
    assert value is not None
    return value


def test_p_value_and_ends_match_the_explicit_capital() -> None:
    differences = [1.0, 0.0, 2.0, 1.0, -1.0, 2.0, 1.0, 1.0, 3.0, 0.0, 2.0, 1.0]
    scaled = [(each / 4 + 1) / 2 for each in differences]
    (found,) = always_valid_differences([("A", "B", differences)], reach=4)
    assert found.value == pytest.approx(13 / 12)
    assert found.p_value == pytest.approx(2 / capital(scaled, 0.5))
    assert found.low is not None
    # At the end the gambler against smaller means has just won 40 times the stake.
    assert capital(scaled, (found.low / 4 + 1) / 2) >= 40
    assert capital(scaled, (found.low / 4 + 1) / 2 + 1e-4) < 40
    mirrored = [1 - each for each in scaled]
    assert found.high is not None
    assert capital(mirrored, 1 - (found.high / 4 + 1) / 2) >= 40


def test_pairs_are_corrected_and_decisions_never_taken_back() -> None:
    generator = np.random.default_rng(5)
    drawn = generator.choice([-1.0, 0.0, 1.0, 2.0], size=(3, 120), p=[0.1, 0.3, 0.4, 0.2])
    pairs = [("A", "B", drawn[0]), ("A", "C", drawn[1] - 0.6), ("B", "C", drawn[2] - 1)]
    alone = [always_valid_differences([each], reach=4)[0] for each in pairs]
    found = always_valid_differences(pairs, reach=4)
    for one, own in zip(found, alone, strict=True):
        assert one.p_value == own.p_value
        assert number(one.low) <= number(own.low) < number(own.high) <= number(one.high)
    smallest = min(found, key=lambda each: number(each.p_value))
    assert smallest.adjusted_p_value == pytest.approx(min(3 * number(smallest.p_value), 1))
    decided = [
        always_valid_differences([(one, other, each[:looks]) for one, other, each in pairs], reach=4)
        for looks in range(1, 121)
    ]
    for index in range(3):
        sure = [each[index].is_sure for each in decided]
        assert sure == sorted(sure)
    assert [each.is_sure for each in decided[-1]].count(True) >= 1


def test_forecast_is_when_repeated_documents_become_sure() -> None:
    differences = np.array([1.0, 0.0, 2.0, -1.0, 1.0, 0.0])
    (found,) = always_valid_differences([("A", "B", differences)], reach=4)
    assert found.more_documents is not None
    repeated = np.tile(differences, 20)
    for documents, is_sure in ((6 + found.more_documents, True), (5 + found.more_documents, False)):
        (then,) = always_valid_differences([("A", "B", repeated[:documents])], reach=4)
        assert then.is_sure is is_sure


def test_gaps_are_excluded_and_undefined_results_have_a_reason() -> None:
    (found,) = always_valid_differences([("A", "B", [np.nan, 1.0, np.nan])], reach=4)
    assert (found.documents, found.value, found.reason) == (1, 1.0, "")
    (none,) = always_valid_differences([("A", "B", [np.nan])], reach=4)
    assert (none.value, none.p_value, none.is_sure) == (None, None, False)
    assert none.reason == "No finished document has a value of both."
    with pytest.raises(ValueError, match="between -4 and 4"):
        always_valid_differences([("A", "B", [5.0])], reach=4)


@pytest.mark.parametrize("index", [0, 2])
def test_no_look_excludes_the_truth_where_the_usual_interval_does(index: int) -> None:
    """`python benchmarks/coverage.py stopping` measures more."""
    valid, usual = excluded_at_any_look(CONTESTS[index], 120, 40)
    assert valid <= 0.05
    assert usual > 0.1


def test_equal_judges_rarely_differ() -> None:
    valid, usual = excluded_at_any_look(BENCHES[0], 100, 100)
    assert valid <= 0.1
    assert usual > valid


def test_large_differences_need_fewer_documents_than_the_plan() -> None:
    plan, mean, by_plan, _ = documents_until_sure(0.75, 20)
    assert plan == 62
    assert mean < plan / 2
    assert by_plan >= 0.9


def scores(judge: list[float]) -> Scores:
    human = [[1.0, 2.0, 3.0, 4.0, np.nan], [3.0, 2.0, 4.0, np.nan, np.nan]]
    return Scores(
        systems=["a", "b", "a", "b", "a"], documents=[7, 7, 5, 5, 6], human=np.array(human), judge=judge
    )


def test_nearness_counts_items_and_errors_are_squared() -> None:
    first, second = scores([2, 3, 4, 4, 1]), scores([3, 2, 3, 1, 1])
    # Means of people: 2, 2, 3.5, 4. Distances: 0 1 .5 0 and 1 0 .5 3.
    assert nearness_by_document(first, second).tolist() == pytest.approx([0, 0.5, np.nan], nan_ok=True)
    expected = [(0 + 1 - 1 - 0) / 2, (0.25 + 0 - 0.25 - 9) / 2, np.nan]
    assert error_difference_by_document(first, second).tolist() == pytest.approx(expected, nan_ok=True)
    named = nearness_by_document(first, second, is_named=True)
    assert named.tolist() == pytest.approx(
        [(0 - 0.5 + 0 - 1) / 2, (0.5 - 0.5 + 1 - 0) / 2, np.nan], nan_ok=True
    )
