"""People's preferences: fractions by hand, raters who toss coins, and strengths of systems."""

from collections.abc import Sequence
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from agreement import Resampling, Stream, percent_agreement
from agreement.comparison import (
    PairwiseAnswers,
    Verdicts,
    preference_alpha,
    share_of_agreement,
    strengths_by_preference,
    system_strengths,
    verdicts_of_answers,
)
from benchmarks.coverage_questions import Comparisons

pytestmark = pytest.mark.fast

GAP = float("nan")
BY_HAND = [[2, 1, -1], [1, -1, -2]]


def answers(values: Sequence[Sequence[float]] | np.ndarray, **more: object) -> PairwiseAnswers:
    """Comparisons of A and B, on a document each."""
    number = np.shape(values)[1]
    return PairwiseAnswers(values, **{"first": ["A"] * number, "second": ["B"] * number, **more})  # type: ignore[arg-type]


def test_alpha_of_the_worked_example() -> None:
    # In both orientations six answers are for either; two units of six have one of each.
    winners = answers(np.sign(BY_HAND))
    assert preference_alpha(winners).value == pytest.approx(7 / 18)
    assert share_of_agreement(winners).value == pytest.approx(2 / 3)
    # Squared differences: 24 within units of 576 over all.
    found = preference_alpha(answers(BY_HAND, strongest=2, ties=False), by_strength=True)
    assert found.value == pytest.approx(13 / 24)
    assert (found.counts.units, found.counts.ratings) == (3, 6)


@pytest.mark.oracle("package krippendorff 0.9.0", of="preference_alpha", within=1e-06)
@pytest.mark.parametrize("by_strength", [False, True])
def test_alpha_matches_the_package_on_both_orientations(by_strength: bool) -> None:
    generator = np.random.default_rng(3)
    values = np.clip(np.round(generator.normal(0.4, 1, 90) + generator.normal(0, 1, (3, 90))), -2, 2)
    values[generator.random(values.shape) < 0.2] = GAP
    found = preference_alpha(answers(values, strongest=2), by_strength=by_strength)
    coded = values if by_strength else np.sign(values)
    expected = krippendorff.alpha(
        np.hstack([coded, -coded]), level_of_measurement="interval" if by_strength else "nominal"
    )
    assert found.value == pytest.approx(expected)


@pytest.mark.parametrize("systems", [2, 4, 12])
def test_coins_have_alpha_zero_for_any_number_of_systems(systems: int) -> None:
    generator = np.random.default_rng(systems)
    pairs = np.array(list(combinations(range(systems), 2)))
    chosen = pairs[generator.integers(len(pairs), size=4000)]
    found = preference_alpha(
        PairwiseAnswers(
            generator.choice([-1, 1], size=(2, 4000)),
            first=[str(one) for one in chosen[:, 0]],
            second=[str(other) for other in chosen[:, 1]],
        )
    )
    assert found.value == pytest.approx(0, abs=0.05)


def test_names_in_another_order_change_nothing() -> None:
    generator = np.random.default_rng(8)
    values = generator.choice([-1, 0, 1], size=(3, 60), p=[0.2, 0.2, 0.6])
    turned = np.where(generator.random(60) < 0.5, 1, -1)
    documents = np.arange(60) // 2
    plan = Resampling(by="documents")
    found, other = (
        preference_alpha(answers(each, documents=documents), generator=Stream(2), resampling=plan)
        for each in (values, values * turned)
    )
    assert found.value == pytest.approx(other.value)
    assert found.interval is not None
    assert other.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (other.interval.low, other.interval.high)
    )


def test_raters_who_always_take_the_first_system_agree() -> None:
    """With names as values there would be no variation."""
    assert preference_alpha(answers(np.ones((2, 10)))).value == 1


def test_incomparable_input_has_no_value_but_a_reason() -> None:
    assert "Every answer is a tie" in (preference_alpha(answers(np.zeros((2, 3)))).reason or "")
    assert "No unit has values from two raters" in (
        preference_alpha(answers([[1, GAP], [GAP, 1]])).reason or ""
    )
    assert "There are no ratings yet" in (preference_alpha(answers(np.full((2, 2), GAP))).reason or "")


@pytest.mark.oracle("fraction worked by hand", of="share_of_agreement", within=1e-06)
def test_share_of_agreement_is_percent_agreement_of_winners() -> None:
    values = np.random.default_rng(4).choice([-2, -1, 0, 1, 2], size=(3, 50))
    documents = np.arange(50) // 2
    made = answers(values, strongest=2, documents=documents)
    found = share_of_agreement(made, generator=Stream(1))
    expected = percent_agreement(made.winners, generator=Stream(1), resampling=Resampling(by="documents"))
    assert (
        found.value
        == expected.value
        == pytest.approx(np.mean([np.mean(one == other) for one, other in combinations(np.sign(values), 2)]))
    )
    assert found.interval == expected.interval


@pytest.mark.parametrize(
    ("values", "more", "said"),
    [
        ([[2]], {}, "whole numbers from -1 to 1, with NaN"),
        ([[0]], {"ties": False}, "whole numbers from -1 to 1, without 0, with NaN"),
        ([[0.5]], {}, "whole numbers"),
        ([[1]], {"second": ["A"]}, "names the same system twice"),
        ([[1]], {"shown_first": [[True, False]]}, "sides have"),
        ([[1]], {"second": []}, "with two systems for each"),
    ],
)
def test_answers_that_do_not_fit_are_errors(
    values: list[list[float]], more: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        answers(values, **more)


def test_units_are_not_resampled() -> None:
    with pytest.raises(ValueError, match="resampled by documents"):
        preference_alpha(answers(BY_HAND, strongest=2), resampling=Resampling(by="units"))


@pytest.mark.oracle("fraction worked by hand", of="strengths_by_preference", within=1e-06)
def test_strengths_by_hand() -> None:
    # Each rater sees each side first on half of the documents: A wins 8, loses 2, ties 4 in either order.
    values = np.array([[1] * 8 + [-1] * 2 + [0] * 4] * 2)
    sides = np.array([[True] * 14, [False] * 14])
    found = strengths_by_preference(answers(values, shown_first=sides))
    strengths = {each.system: each.strength.value for each in found.systems if each.strength}
    assert strengths == pytest.approx({"A": np.log(4) / 2, "B": -np.log(4) / 2})
    assert found.ties == pytest.approx(1 / 3)
    assert found.first_wins is not None
    assert found.first_wins.value == pytest.approx(0.5)


def test_answers_of_several_raters_equal_the_same_judge_verdicts() -> None:
    verdicts = Comparisons(30).verdicts(np.random.default_rng(6))
    names = np.array(verdicts.system_names)
    order = np.random.default_rng(7).random(len(verdicts.points)) < 0.5
    one, other = names[verdicts.first], names[verdicts.second]
    made = PairwiseAnswers(
        np.where(order, 1, -1)[None] * (2 * verdicts.points - 1),
        first=np.where(order, one, other).tolist(),
        second=np.where(order, other, one).tolist(),
        documents=verdicts.documents,
        shown_first=order[None],
    )
    again = verdicts_of_answers(made)
    assert isinstance(again, Verdicts)
    assert strengths_by_preference(made).systems == system_strengths(verdicts).systems


def test_strengths_need_the_side_shown_first_and_both_sides() -> None:
    with pytest.raises(ValueError, match="which output each rater saw first"):
        strengths_by_preference(answers([[1, 1]]))
    values = np.array([[1, -1, 1, -1, 0, 1]])
    found = strengths_by_preference(answers(values, shown_first=np.ones((1, 6))))
    assert found.reason.startswith("Texts were shown in one order only")
