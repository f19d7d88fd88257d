"""The alternative annotator test: published results, hand-counted wins, and judges that know nothing."""

import csv
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agreement.reliability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
    benjamini_yekutieli,
    minus_root_mean_squared_error,
    share_of_equal_values,
)
from agreement.reliability.alternative_annotator import p_value_below
from tests.reference import reference_data

GAP: Any = float("nan")


@cache
def lesions() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(annotators, units), and each model's values (units,)."""
    tables = []
    for name in ("lesion_human.csv", "lesion_llm.csv"):
        path = reference_data() / "alt_test" / name
        tables.append(list(csv.DictReader(path.read_text().splitlines())))
    index_of = {
        unit: index for index, unit in enumerate(sorted({row["unit"] for rows in tables for row in rows}))
    }
    found: list[dict[str, np.ndarray]] = []
    for rows in tables:
        values = {row["rater"]: np.full(len(index_of), np.nan) for row in rows}
        for row in rows:
            values[row["rater"]][index_of[row["unit"]]] = float(row["value"])
        found.append(values)
    return np.stack(list(found[0].values())), found[1]


def with_controls(human: Any, judge: Any, **more: Any) -> AlternativeAnnotatorTest:
    settings: dict[str, Any] = {"epsilon": 0.15, "generator": np.random.default_rng(1)} | more
    return alternative_annotator_test(human, judge, **settings)


@pytest.mark.oracle(
    "Calderon, Reichart and Dror 2025, four models", of="alternative_annotator_test", within=5e-06
)
@pytest.mark.parametrize(
    ("model", "winning_rate", "advantage", "verdict"),
    [
        ("gemini_pro", 1, 0.80975, "passes"),
        ("gpt-4o-mini", 0.6667, 0.73486, "passes"),
        ("gemini_flash", 0.1667, 0.71081, "fails"),
        ("gpt-4o", 0, 0.61703, "fails"),
    ],
)
def test_published_results(model: str, winning_rate: float, advantage: float, verdict: str) -> None:
    human, models = lesions()
    found = with_controls(human, models[model])
    assert found.winning_rate == pytest.approx(winning_rate, abs=5e-5)
    assert found.advantage == pytest.approx(advantage, abs=5e-6)
    assert found.verdict == verdict
    assert found.controls["shuffled"].test.winning_rate == 0


def test_wins_counted_by_hand() -> None:
    human = [[1, 2, 3, GAP], [1, 3, 5, 4], [2, 3, 3, GAP]]
    found = with_controls(human, [1, 3, 1, 2], least_units=1)
    first, second, third = found.annotators
    # against 2 and 3: unit 1 {1, 2}: tie; unit 2 {3, 3}: the judge; unit 3 {5, 3}: the annotator
    assert (first.judge_wins, first.annotator_wins) == pytest.approx((2 / 3, 2 / 3))
    # against 1 and 3: {1, 2} tie; {2, 3}: tie; {3, 3}: 1 and 5 are equally far
    assert (second.units, second.judge_wins, second.annotator_wins) == (3, 1, 1)
    # against 1 and 2: {1, 1}: the judge; {2, 3}: tie; {3, 5}: the annotator
    assert (third.judge_wins, third.annotator_wins) == pytest.approx((2 / 3, 2 / 3))
    assert found.advantage == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)


@pytest.mark.oracle("fraction worked by hand", of=("minus_root_mean_squared_error", "share_of_equal_values"))
def test_alignments() -> None:
    others = np.array([[1.0, 4, GAP], [3, 4, 2]])
    values = np.array([2.0, 4, 5])
    assert minus_root_mean_squared_error(values, others).tolist() == [-1, 0, -3]
    assert share_of_equal_values(np.array([3.0, 4, 5]), others).tolist() == [0.5, 1, 0]


def test_a_judge_passes_only_as_a_constant_answer_would() -> None:
    generator = np.random.default_rng(3)
    human = np.where(generator.random((3, 200)) < 0.93, 5.0, 4.0)
    fives = with_controls(human, np.full(200, 5.0))
    assert fives.winning_rate == 1  # the plain test passes it
    assert fives.verdict == "passes, but so would a control"
    assert fives.controls["constant"].test.winning_rate == 1
    assert fives.verdict_reason == (
        "Passes, but so would a control: the judge may stand in for 100% of the annotators, half or more, "
        "but it does not surely beat these controls: always 5, shuffled."
    )
    shuffled = with_controls(human, generator.permutation(human[0]))
    assert shuffled.verdict != "passes"


def test_a_judge_that_knows_the_units_gets_a_verdict() -> None:
    generator = np.random.default_rng(4)
    truth = generator.integers(1, 6, 200).astype(float)
    human = np.clip(truth + generator.integers(-1, 2, (3, 200)), 1, 5)
    good = with_controls(human, truth, annotators=("Ann", "Bob", "Cem"))
    assert good.verdict == "passes"
    assert good.verdict_reason == (
        "Passes: the judge may stand in for 100% of the annotators, half or more, and it beats every control."
    )
    assert [each.annotator for each in good.annotators] == ["Ann", "Bob", "Cem"]
    bad = with_controls(human, np.clip(truth + generator.choice([-2, 0, 2], 200, p=[0.3, 0.4, 0.3]), 1, 5))
    assert bad.verdict == "fails"
    assert bad.controls["constant"].is_beaten


def test_units_of_a_document_count_once() -> None:
    generator = np.random.default_rng(5)
    documents = np.repeat(np.arange(40), 10)
    truth = generator.integers(1, 6, 400).astype(float)
    human = np.clip(truth + generator.integers(-1, 2, (3, 400)), 1, 5).astype(float)
    judge = np.clip(truth + generator.integers(-1, 2, 40)[documents], 1, 5).astype(float)
    pooled, clustered = with_controls(human, judge), with_controls(human, judge, documents=documents)
    assert pooled.advantage == clustered.advantage
    for one, other in zip(pooled.annotators, clustered.annotators, strict=True):
        assert other.p_value > one.p_value
    first = clustered.annotators[0]
    others = human[1:]
    fits = [minus_root_mean_squared_error(values, others) for values in (judge, human[0])]
    d = (fits[1] >= fits[0]).astype(float) - (fits[0] >= fits[1])
    means = d.reshape(40, 10).mean(axis=1)
    assert first.p_value == pytest.approx(stats.ttest_1samp(means, 0.15, alternative="less").pvalue)


def test_annotators_with_few_units_are_excluded_and_listed() -> None:
    human = np.tile(np.arange(1.0, 6), (3, 8))
    human[2, 20:] = np.nan
    found = with_controls(human, human[0], annotators=("Ann", "Bob", "Cem"))
    assert found.left_out == ("Cem",)
    assert len(found.annotators) == 2
    nobody = with_controls(human[:, :10], human[0, :10])
    assert (nobody.winning_rate, nobody.verdict, nobody.controls) == (None, None, {})
    assert nobody.reason == "No annotator has 30 units that another annotator and the judge rated too."
    alone = with_controls(human[:1], human[0])
    assert alone.winning_rate is None
    without_judge = with_controls(human, np.full(40, GAP))
    assert without_judge.winning_rate is None
    assert with_controls(np.empty((0, 5)), np.ones(5)).winning_rate is None


def test_few_documents_are_tested_by_their_means() -> None:
    generator = np.random.default_rng(6)
    documents = np.repeat(np.arange(12), 5)
    truth = generator.integers(1, 6, 60).astype(float)
    human = np.clip(truth + generator.integers(-1, 2, (3, 60)), 1, 5)
    found = with_controls(human, truth, documents=documents)
    assert all(each.p_value < 0.01 for each in found.annotators)
    others = human[1:].astype(float)
    fits = [minus_root_mean_squared_error(values, others) for values in (truth, human[0].astype(float))]
    d = (fits[1] >= fits[0]).astype(float) - (fits[0] >= fits[1])
    assert found.annotators[0].p_value == p_value_below(d.reshape(12, 5).mean(axis=1), 0.15)


def test_two_annotators_are_too_few_for_a_verdict() -> None:
    truth = np.tile(np.arange(1.0, 6), 20)
    found = with_controls(np.stack([truth, truth]), truth)
    assert found.winning_rate == 1
    assert found.verdict is None
    assert "fewer than three annotators" in found.verdict_reason


def test_benjamini_and_yekutieli_by_hand() -> None:
    # thresholds for three tests: .00909, .01818, .02727
    assert benjamini_yekutieli([0.02, 0.009, 0.5], 0.05).tolist() == [False, True, False]
    assert benjamini_yekutieli([0.027, 0.027, 0.0272], 0.05).tolist() == [True, True, True]
    assert benjamini_yekutieli([], 0.05).tolist() == []


@pytest.mark.oracle("package SciPy 1.17.1, false_discovery_control", of="benjamini_yekutieli")
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_benjamini_yekutieli_matches_scipy(p_values: list[float]) -> None:
    adjusted = stats.false_discovery_control(p_values, method="by")
    clear = np.abs(adjusted - 0.05) > 1e-9
    assert (benjamini_yekutieli(p_values, 0.05) == (adjusted <= 0.05))[clear].all()


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(ValueError, match="units"):
        with_controls(np.ones((2, 3)), [1, 2])
    with pytest.raises(ValueError, match="Epsilon"):
        with_controls(np.ones((2, 3)), [1, 2, 3], epsilon=1)
