"""Alpha among people, with the judge as a rater, with the mean; and a judge beside itself."""

from typing import Literal

import krippendorff
import numpy as np
import pytest

from agreement.comparison import Effect, alpha_with_people, judge_as_one_more_rater, self_consistency
from benchmarks.coverage_replacement import NoisyJudge, effects
from tests.agreement.comparison.tables import GAP, grid, scores

BY_HAND = 12 / 17
"""1 1, 2 2, 3 5: observed 2 * 4 / 6, expected 2 * (6 * 44 - 14^2) / (6 * 5)."""


def test_alpha_of_one_person_and_the_judge_by_hand() -> None:
    alphas = alpha_with_people(grid([[1, 2, 3]], [1, 2, 5], documents=3))
    assert alphas.with_judge.value == pytest.approx(BY_HAND)
    assert alphas.with_mean.value == pytest.approx(BY_HAND)
    assert alphas.among_people.value is None
    assert alphas.among_people.reason == "No item that the judge values has scores of two people."


def test_judge_that_repeats_people_keeps_full_agreement() -> None:
    alphas = alpha_with_people(scores(human=[[1, 2, 3, 4, 5, 5]] * 2, judge=[1, 2, 3, 4, 5, 5]))
    values = [each.value for each in (alphas.among_people, alphas.with_judge, alphas.with_mean)]
    assert values == pytest.approx([1, 1, 1])


def test_the_mean_is_not_rounded() -> None:
    """People say 1 and 2, 3 and 4, 2 and 5: the judge that says the halves agrees fully with the mean."""
    alphas = alpha_with_people(grid([[1, 3, 2], [2, 4, 5]], [1.5, 3.5, 3.5], documents=3))
    assert alphas.with_mean.value == pytest.approx(1)
    assert alphas.with_judge.value is not None
    assert alphas.with_judge.value < 1


@pytest.mark.oracle("package krippendorff 0.9.0", of="alpha_with_people", within=1e-10)
@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_all_three_agree_with_an_independent_package(level: Literal["ordinal", "interval", "ratio"]) -> None:
    generator = np.random.default_rng(6)
    human = generator.integers(1, 6, size=(3, 40)).astype(float)
    human[generator.random(human.shape) < 0.2] = GAP
    judge = generator.integers(2, 11, size=40) / 2
    judge[:5] = GAP
    alphas = alpha_with_people(grid(human, judge, documents=10), measurement_level=level)
    kept = ~np.isnan(judge) & ~np.isnan(human).all(axis=0)
    means = np.nanmean(human[:, kept], axis=0)
    expected = [
        (alphas.among_people, human[:, kept]),
        (alphas.with_judge, np.vstack([human, judge])[:, kept]),
        (alphas.with_mean, np.vstack([means, judge[kept]])),
    ]
    for alpha, table in expected:
        oracle = krippendorff.alpha(table, level_of_measurement=level)
        assert alpha.value == pytest.approx(oracle, abs=1e-10)
        assert alpha.parameters["measurement_level"] == level


def test_nominal_values_have_no_mean() -> None:
    alphas = alpha_with_people(scores(), measurement_level="nominal", generator=np.random.default_rng(0))
    assert alphas.with_mean.value is None
    assert alphas.with_mean.reason == "Nominal values have no mean to compare the judge with."
    assert alphas.with_mean.interval is None
    assert alphas.with_judge.value is not None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"human": np.empty((0, 6))}, "No person has rated these items yet."),
        ({"judge": [GAP] * 6}, "The judge has no value for these items yet."),
        (
            {"human": [[1, 2, 3, GAP, GAP, GAP]], "judge": [GAP, GAP, GAP, 1, 2, 3]},
            "No item has both a human score and a value of the judge.",
        ),
    ],
)
def test_without_people_or_judge_it_says_who_is_missing(changes: dict[str, object], reason: str) -> None:
    alphas = alpha_with_people(scores(**changes), generator=np.random.default_rng(0))
    for alpha in (alphas.among_people, alphas.with_judge, alphas.with_mean):
        assert alpha.value is None
        assert alpha.reason == reason


def test_constant_judge_with_constant_people_is_undefined() -> None:
    alphas = alpha_with_people(scores(human=[[5] * 6] * 2, judge=[5] * 6))
    assert alphas.with_judge.value is None
    assert "Every value is 5" in (alphas.with_judge.reason or "")


def test_a_constant_judge_lowers_alpha() -> None:
    table = scores(human=[[1, 2, 3, 4, 5, 5]] * 2, judge=[3] * 6)
    alphas = alpha_with_people(table)
    assert (alphas.with_judge.value or 1) < (alphas.among_people.value or 0)


def test_intervals_resample_documents() -> None:
    generator = np.random.default_rng(1)
    truth = generator.integers(1, 6, size=90)
    human, judge = truth + generator.integers(-1, 2, size=(3, 90)), truth + generator.integers(-1, 2, size=90)
    alphas = alpha_with_people(grid(human, judge, documents=30), generator=generator)
    for alpha in (alphas.among_people, alphas.with_judge, alphas.with_mean):
        assert alpha.interval is not None
        assert alpha.interval.method == "percentile bootstrap of documents"


@pytest.mark.oracle("package krippendorff 0.9.0", of="judge_as_one_more_rater", within=1e-10)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_one_more_rater_agrees_with_an_independent_package(
    level: Literal["nominal", "ordinal", "interval", "ratio"],
) -> None:
    generator = np.random.default_rng(8)
    human = generator.integers(1, 6, size=(3, 40)).astype(float)
    human[generator.random(human.shape) < 0.3] = GAP
    judge = generator.integers(1, 6, size=40).astype(float)
    judge[:5] = GAP
    found = judge_as_one_more_rater(grid(human, judge, documents=10), measurement_level=level)
    kept = ~np.isnan(judge) & ((~np.isnan(human)).sum(axis=0) >= 2)
    tables = human[:, kept], np.vstack([human, judge])[:, kept]
    first, second = (krippendorff.alpha(each, level_of_measurement=level) for each in tables)
    values = [each.value for each in (found.among_people, found.with_judge, found.difference)]
    assert values == pytest.approx([first, second, second - first], abs=1e-10)


@pytest.mark.parametrize(
    ("noise", "effect", "says"),
    [
        (0.05, Effect.DOES_NOT_LOWER, "It does not lower agreement."),
        (1.0, Effect.CANNOT_TELL, "Cannot tell whether it lowers agreement."),
        (6.0, Effect.LOWERS, "It lowers agreement."),
    ],
)
def test_effect_of_one_more_rater_is_reported(noise: float, effect: Effect, says: str) -> None:
    generator = np.random.default_rng(2)
    scores = NoisyJudge(noise, documents=60).scores(generator)
    found = judge_as_one_more_rater(scores, generator=generator)
    assert found.effect is effect
    assert found.says.startswith(f"{says} With the judge as one more rater alpha is 0.")


def test_one_more_rater_without_two_people_has_a_reason() -> None:
    found = judge_as_one_more_rater(scores(human=[[1, 2, 3, 4, 5, 5]]), generator=np.random.default_rng(0))
    assert (found.effect, found.says, found.difference.value) == (None, "", None)
    assert found.difference.reason == "No item that the judge values has scores of two people."


def test_noisy_judge_seldom_does_not_lower_agreement() -> None:
    """The mean of people against single people was "not below" for .99 and .71 of such judges."""
    as_a_person, noisier = (effects(NoisyJudge(noise, documents=100), 60) for noise in (1, 1.5))
    assert as_a_person[Effect.CANNOT_TELL] >= 0.85
    assert as_a_person[Effect.LOWERS] <= 0.1
    assert noisier[Effect.DOES_NOT_LOWER] <= 0.05
    assert noisier[Effect.LOWERS] >= 0.15


@pytest.mark.oracle("fraction worked by hand", of="self_consistency", within=1e-06)
def test_self_consistency_is_alpha_over_samples() -> None:
    coefficient = self_consistency([[1, 2, 3], [1, 2, 5]])
    assert coefficient.value == pytest.approx(BY_HAND)
    assert coefficient.name == "self_consistency"


def test_a_judge_that_always_repeats_itself_is_consistent() -> None:
    assert self_consistency([[1, 2, 3, GAP]] * 4).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        ([[1, 2, 3]], "No item has two samples; ask the judge more than once about the same items."),
        ([[1, GAP], [GAP, 2]], "No item has two samples; ask the judge more than once about the same items."),
        ([[GAP, GAP]], "The judge has no value for these items yet."),
        (np.empty((0, 3)), "The judge has no value for these items yet."),
    ],
)
def test_one_sample_gives_no_consistency(samples: list[list[float]], reason: str) -> None:
    coefficient = self_consistency(samples, generator=np.random.default_rng(0))
    assert coefficient.value is None
    assert coefficient.reason == reason


def test_the_same_answer_everywhere_is_not_consistency() -> None:
    coefficient = self_consistency([[4, 4, 4], [4, 4, 4]])
    assert coefficient.value is None
    assert "Every value is 4" in (coefficient.reason or "")


def test_samples_of_one_document_are_resampled_together() -> None:
    generator = np.random.default_rng(3)
    samples = generator.integers(1, 6, size=50) + generator.integers(0, 2, size=(3, 50))
    coefficient = self_consistency(samples, documents=np.arange(50) // 2, generator=generator)
    assert coefficient.interval is not None
    assert coefficient.interval.method == "percentile bootstrap of documents"
