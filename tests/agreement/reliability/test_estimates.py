"""Means from all judgments and a few ratings: worked figures, other formulas for the same thing, coverage."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from agreement.reliability import (
    Estimate,
    RatedSample,
    active_inference,
    active_probabilities,
    beyond_batch,
    combined_estimate,
    cut_to_scale,
    draw,
    humans_only,
    judge_only,
    neyman_allocation,
    prediction_powered,
    projected_widths,
    regression_estimate,
    safety_warnings,
    stratified_estimate,
    weighted_estimate,
)

GAP: Any = float("nan")
Y = [4, 3, 5, 2, 4, 4, 3, 5, 1, 2]
F = [4, 4, 5, 3, 4, 5, 3, 5, 2, 3]
FU = [3, 4, 5, 2, 4, 4, 3, 5, 3, 2, 4, 4, 5, 3, 3, 4, 2, 5, 4, 3]
WORKED = RatedSample(judge=F + FU, human=Y + [GAP] * 20)
ALL = (
    humans_only,
    regression_estimate,
    prediction_powered,
    stratified_estimate,
    weighted_estimate,
    active_inference,
)


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval.low, estimate.interval.high


def population(seed: int, units: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """People's values and a judge's for every unit."""
    generator = np.random.default_rng(seed)
    people = np.clip(np.round(generator.normal(3, 1, units) * 3) / 3, 1, 5)
    return people, np.clip(np.round(people * 0.7 + generator.normal(1.5, 0.7, units)), 1, 5)


def rated(people: np.ndarray, judge: np.ndarray, chosen: Any, **more: Any) -> RatedSample:
    human = np.full(len(people), np.nan)
    human[chosen] = people[chosen]
    return RatedSample(judge=judge, human=human, **more)


@pytest.mark.oracle("package ppi-python 0.2.3", of="prediction_powered", within=5e-09)
def test_the_worked_example_of_ppi() -> None:
    """Value, weight and standard error are those of ppi_py, whose interval is normal."""

    def by_ppi_py(estimate: Estimate) -> tuple[float, float]:
        assert estimate.value is not None
        assert estimate.standard_error is not None
        reach = stats.norm.ppf(0.95) * estimate.standard_error
        return estimate.value - reach, estimate.value + reach

    tuned = prediction_powered(WORKED, confidence_level=0.9)
    assert tuned.weight == pytest.approx(0.78232558, abs=5e-9)
    assert tuned.value == pytest.approx(3.14353488, abs=5e-9)
    assert by_ppi_py(tuned)[1] == pytest.approx(3.56936214, abs=1e-8)
    plain = prediction_powered(WORKED, weight=1, confidence_level=0.9)
    assert plain.value == pytest.approx(3.1)
    assert by_ppi_py(plain) == pytest.approx((2.65863946, 3.54136054), abs=5e-9)
    classical = prediction_powered(WORKED, weight=0, confidence_level=0.9)
    assert by_ppi_py(classical) == pytest.approx((2.64000568, 3.95999432), abs=5e-9)
    # With the weight 0 it is Student's interval of ten ratings.
    assert ends(classical) == pytest.approx(stats.t.interval(0.9, 9, np.mean(Y), stats.sem(Y)))


@pytest.mark.parametrize("ratings", [4, 10])
def test_intervals_of_ppi_hold_their_level_with_few_ratings(ratings: int) -> None:
    generator, held = np.random.default_rng(5), 0
    for _ in range(1_000):
        people = generator.normal(size=200)
        judge = 0.6 * people + 0.8 * generator.normal(size=200)
        chosen = generator.choice(200, ratings, replace=False)
        low, high = ends(prediction_powered(rated(people, judge, chosen)))
        held += low <= 0 <= high
    assert 930 <= held <= 990


def test_an_interval_of_a_mean_is_cut_to_the_ends_of_the_scale() -> None:
    few = humans_only(RatedSample(judge=[4, 5, 5, 5, 5, 4], human=[5, 5, 4, GAP, GAP, GAP]))
    assert ((few.interval and few.interval.high) or 0) > 5
    low, _ = ends(few)
    assert ends(cut_to_scale(few, 1, 5)) == (low, 5)
    assert cut_to_scale(few, 1, 5).standard_error == few.standard_error
    alone = humans_only(RatedSample(judge=[4, 5], human=[5, GAP]))
    assert cut_to_scale(alone, 1, 5) == alone


def test_three_ratings_are_too_few_for_an_interval_of_ppi() -> None:
    people, judge = population(3)
    found = prediction_powered(rated(people, judge, [0, 1, 2]))
    assert found.value is not None
    assert found.interval_reason == "3 ratings are too few for an interval, which needs 4."


@pytest.mark.oracle("package SciPy 1.17.1, linregress", of="regression_estimate", within=1e-06)
def test_the_regression_estimate_is_the_line_at_the_mean_of_all_judgments() -> None:
    line = stats.linregress(F, Y)
    estimate = regression_estimate(WORKED)
    mean = np.mean(F + FU)
    assert estimate.weight == pytest.approx(line.slope)
    assert estimate.value == pytest.approx(line.intercept + line.slope * mean)
    sse = np.sum((np.array(Y) - line.intercept - line.slope * np.array(F)) ** 2)
    of_slope = (mean - np.mean(F)) ** 2 / (10 * np.var(F))
    assert estimate.standard_error == pytest.approx(np.sqrt(sse / 8 * ((1 - 10 / 30) / 10 + of_slope)))
    reach = stats.t.ppf(0.975, 8) * (estimate.standard_error or 0)
    assert ends(estimate) == pytest.approx(((estimate.value or 0) - reach, (estimate.value or 0) + reach))


def test_regression_interval_covers_if_the_judge_underrates_the_sample() -> None:
    generator, held = np.random.default_rng(13), 0
    judge = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [8, 6, 6, 10, 30])
    for _ in range(1000):
        people = judge + generator.normal(size=60)
        low, high = ends(regression_estimate(rated(people, judge, slice(20))))
        held += bool(low <= people.mean() <= high)
    # Most of the variance is the slope’s here: without it half of the intervals held.
    assert 930 <= held <= 970


@pytest.mark.oracle("package SciPy 1.17.1, t", of="humans_only", within=1e-06)
def test_people_only_is_students_interval_with_the_finite_population() -> None:
    estimate = humans_only(WORKED)
    error = stats.sem(Y) * np.sqrt(2 / 3)
    assert ends(estimate) == pytest.approx(stats.t.interval(0.95, 9, np.mean(Y), error))
    assert estimate.effective_sample_size == pytest.approx(10)


def test_people_only_beyond_the_batch_is_always_student_interval() -> None:
    everything = RatedSample(judge=F, human=Y)
    for sample in (WORKED, everything):
        estimate = beyond_batch(humans_only(sample), sample)
        assert ends(estimate) == pytest.approx(stats.t.interval(0.95, 9, np.mean(Y), stats.sem(Y)))
    estimate = beyond_batch(regression_estimate(everything), everything)
    assert ends(estimate) == pytest.approx(stats.t.interval(0.95, 9, np.mean(Y), stats.sem(Y)))


def test_beyond_the_batch_the_intervals_hold_the_mean_of_the_population() -> None:
    generator, held = np.random.default_rng(11), {True: 0, False: 0}
    for _ in range(400):
        judge = generator.normal(3, 1, 60)
        people = judge + generator.normal(0, 0.7, 60)
        sample = rated(people, judge, generator.choice(60, 30, replace=False))
        finite = regression_estimate(sample)
        for beyond, estimate in ((True, beyond_batch(finite, sample)), (False, finite)):
            low, high = ends(estimate)
            held[beyond] += low <= 3 <= high
    assert 0.92 <= held[True] / 400 <= 0.98
    assert held[False] / 400 < 0.85


def test_beyond_the_batch_needs_ratings_that_vary() -> None:
    same = RatedSample(judge=[1, 2, 3], human=[4, 4, 4])
    assert ends(humans_only(same)) == (4, 4)
    assert beyond_batch(humans_only(same), same).interval is None
    one = RatedSample(judge=[1], human=[4])
    assert beyond_batch(humans_only(one), one).interval_reason == "An interval needs more than 1 rating."
    assert beyond_batch(judge_only(same), same) == judge_only(same)


def test_useless_judge_adds_nothing_and_useful_judge_adds_ratings() -> None:
    people, judge = population(3)
    chosen = np.random.default_rng(4).choice(400, 60, replace=False)
    useful, useless = (rated(people, values, chosen) for values in (judge, np.full(400, 3.0)))
    assert (regression_estimate(useful).effective_sample_size or 0) > 75
    assert regression_estimate(useless).weight == 0
    assert regression_estimate(useless).value == pytest.approx(people[chosen].mean())
    assert prediction_powered(useless).value == pytest.approx(people[chosen].mean())


def test_with_every_unit_rated_the_mean_is_exact() -> None:
    people, judge = population(5, 50)
    everything = rated(people, judge, slice(None))
    for estimate in (humans_only(everything), regression_estimate(everything)):
        assert ends(estimate) == pytest.approx((people.mean(), people.mean()))
    assert (
        prediction_powered(everything).reason == "Every unit is rated, so the mean of the ratings is exact."
    )


@pytest.mark.oracle("fraction worked by hand", of="judge_only", within=1e-06)
def test_the_judge_alone_has_no_interval() -> None:
    estimate = judge_only(WORKED)
    assert estimate.value == pytest.approx(np.mean(F + FU))
    assert estimate.interval is None
    assert estimate.interval_reason


@pytest.mark.parametrize("function", ALL)
def test_estimate_without_ratings_has_a_message(function: Any) -> None:
    empty = RatedSample(judge=[1, 2, 3], human=[GAP] * 3, probabilities=[0.5] * 3, strata=["a", "a", "b"])
    estimate = function(empty)
    assert estimate.value is None
    assert estimate.reason
    assert estimate.reason.endswith(".")
    assert function(RatedSample(judge=[], human=[], probabilities=[], strata=[])).value is None


def test_without_a_judge_only_people_speak() -> None:
    alone = RatedSample(judge=[GAP] * 6, human=[1, 2, 3, GAP, GAP, GAP], probabilities=[0.5] * 6)
    assert humans_only(alone).value == 2
    assert weighted_estimate(alone).value == pytest.approx(2)
    for function in (regression_estimate, prediction_powered, judge_only, active_inference):
        assert function(alone).reason == "The judge has no value for these units yet."


def test_equal_ratings_give_no_estimate_of_the_spread() -> None:
    same = RatedSample(judge=[1, 2, 3, 4, 5, 5], human=[5, 5, 5, 5, GAP, GAP])
    for function in (humans_only, regression_estimate):
        estimate = function(same)
        assert estimate.value == 5
        assert estimate.interval is None
        assert estimate.interval_reason == (
            "The rated units show no spread that could tell how much others differ; rate more."
        )


def test_scale_with_unsafe_asymptotics_has_a_warning() -> None:
    assert safety_warnings([5] * 17 + [1, 2, 3]) == (
        "The ratings have only 4 distinct values; trust the guaranteed interval.",
        "85% of the ratings are 5; trust the guaranteed interval.",
    )
    assert safety_warnings([1, 2, 3, 4, 5]) == ()
    assert safety_warnings([]) == ()


def test_units_without_a_judgment_bias_nothing() -> None:
    people, judge = population(8)
    gaps = np.where(np.arange(400) % 4 == 0, np.nan, judge)
    generator = np.random.default_rng(9)
    values = [
        regression_estimate(rated(people, gaps, generator.choice(400, 40, replace=False))).value
        for _ in range(400)
    ]
    spread = np.std(np.array(values, dtype=float))
    assert np.mean(np.array(values, dtype=float)) == pytest.approx(people.mean(), abs=4 * spread / 20)
    assert rated(people, gaps, [0]).unjudged == 100


@pytest.mark.parametrize("function", [humans_only, regression_estimate, prediction_powered])
def test_interval_covers_on_a_fully_used_scale(function: Any) -> None:
    people, judge = population(10)
    generator = np.random.default_rng(11)
    held = 0
    for _ in range(600):
        low, high = ends(function(rated(people, judge, generator.choice(400, 60, replace=False))))
        held += low <= people.mean() <= high
    assert held / 600 > 0.925


def test_documents_with_shared_errors_widen_the_interval() -> None:
    generator = np.random.default_rng(12)
    documents = np.repeat(np.arange(60), 8)
    people = 3 + generator.normal(0, 1, 60)[documents] + generator.normal(0, 0.3, 480)
    judge = generator.normal(3, 1, 480)
    sampled = np.isin(documents, generator.choice(60, 20, replace=False))
    alone = rated(people, judge, sampled)
    by_document = rated(people, judge, sampled, documents=documents)
    for function in (humans_only, regression_estimate, prediction_powered):
        assert (function(by_document).width or 0) > 1.5 * (function(alone).width or 9)
        assert function(by_document).value == pytest.approx(function(alone).value)
    assert humans_only(by_document).degrees_of_freedom == 19
    # 20 of 60 documents of equal size: their means are the sample
    means = people[sampled].reshape(20, 8).mean(axis=1)
    expected = stats.sem(means) * np.sqrt(1 - 20 / 60)
    assert humans_only(by_document).standard_error == pytest.approx(expected)


@pytest.mark.oracle("fraction worked by hand", of="stratified_estimate", within=1e-06)
def test_strata_are_weighted_by_their_size() -> None:
    strata = ["a"] * 6 + ["b"] * 4
    sample = RatedSample(judge=[3] * 10, human=[1, 2, 3, GAP, GAP, GAP, 5, 4, GAP, GAP], strata=strata)
    estimate = stratified_estimate(sample)
    assert estimate.value == pytest.approx(0.6 * 2 + 0.4 * 4.5)
    parts = [(0.6**2) * (1 - 3 / 6) * 1 / 3, (0.4**2) * (1 - 2 / 4) * 0.5 / 2]
    assert estimate.standard_error == pytest.approx(np.sqrt(sum(parts)))
    assert estimate.degrees_of_freedom == pytest.approx(sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2))
    lone = RatedSample(judge=[3] * 10, human=[1, 2, 3] + [GAP] * 7, strata=strata)
    assert stratified_estimate(lone).reason == "No unit of the stratum b is rated."
    assert stratified_estimate(WORKED).reason == "The units have no strata."


def test_units_sent_to_people_and_an_audit_of_the_others_are_two_strata() -> None:
    people, judge = population(13)
    chances = np.where(np.arange(400) < 100, 1.0, 0.2)
    audited = 100 + np.random.default_rng(1).choice(300, 60, replace=False)
    sample = rated(people, judge, np.r_[np.arange(100), audited], probabilities=chances)
    estimate = stratified_estimate(sample)
    audit = regression_estimate(rated(people[100:], judge[100:], audited - 100))
    assert estimate.value == pytest.approx(0.25 * people[:100].mean() + 0.75 * (audit.value or 0))
    assert estimate.standard_error == pytest.approx(0.75 * (audit.standard_error or 0))
    assert humans_only(sample).reason == (
        "The units were drawn with different probabilities; only a weighted estimate is unbiased."
    )


@pytest.mark.parametrize("value", [4, GAP])
def test_a_stratum_of_one_unit_does_not_take_the_interval(value: float) -> None:
    """Rated it is known; unrated it counts as one more unit of the others, and that is said."""
    judge, others = [3, 1, 2, 4, 5, 3, 2, 1, 4], [2, 1, 3, 4, 5, GAP, GAP, GAP, GAP]
    sample = RatedSample(judge=[*judge, 3], human=[*others, value], strata=["left"] * 9 + ["sent"])
    estimate = stratified_estimate(sample)
    if np.isnan(value):
        expected = regression_estimate(RatedSample(judge=[*judge, 3], human=[*others, GAP]))
        assert estimate.value == expected.value
        assert ends(estimate) == pytest.approx(ends(expected))
        assert estimate.warnings[0] == (
            "0 of 1 units of the stratum sent are rated, which tells no spread; "
            "it was joined to the stratum left."
        )
    else:
        left = regression_estimate(RatedSample(judge=judge, human=others))
        assert estimate.value == pytest.approx(0.9 * (left.value or 0) + 0.4)
        assert estimate.standard_error == pytest.approx(0.9 * (left.standard_error or 0))
        assert estimate.warnings == (
            "Only 5 of 9 units of the stratum left are rated; asymptotic intervals need 20.",
        )


def test_every_stratum_that_is_rated_in_part_is_warned_of_by_itself() -> None:
    """What was sent to people is known, and its values warn of nothing."""
    people, judge = population(21)
    people[:300] = 5
    sent, left = np.arange(400) < 300, 300 + np.arange(40)
    strata = np.where(sent, "sent", "left")
    enough = rated(people, judge, np.r_[np.arange(300), left], strata=strata)
    assert stratified_estimate(enough).warnings == ()
    fewer = rated(people, judge, np.r_[np.arange(300), left[:19]], strata=strata)
    assert stratified_estimate(fewer).warnings == (
        "Only 19 of 100 units of the stratum left are rated; asymptotic intervals need 20.",
    )


def test_a_small_stratum_with_one_rating_of_two_is_weighed_with_the_largest() -> None:
    people, judge = population(15)
    human = np.where(np.arange(400) < 60, people, GAP)
    human[399] = people[399]
    strata = np.where(np.arange(400) < 398, "left", "sent")
    estimate = stratified_estimate(RatedSample(judge=judge, human=human, strata=strata))
    chances = np.where(np.arange(400) < 398, 60 / 398, 0.5)
    expected = weighted_estimate(RatedSample(judge=judge, human=human, probabilities=chances))
    assert estimate.value == pytest.approx(expected.value)
    assert estimate.standard_error == pytest.approx(expected.standard_error)
    halves = RatedSample(judge=judge, human=human, strata=np.where(np.arange(400) < 200, "a", "b"))
    assert "too few ratings" in (stratified_estimate(halves).interval_reason or "")


def test_audit_with_its_own_probabilities_is_weighted_by_stratum() -> None:
    people, judge = population(13)
    generator = np.random.default_rng(2)
    chances = np.where(np.arange(400) < 100, 1.0, generator.choice([0.2, 0.3, 0.5], 400))
    chosen = np.flatnonzero(generator.random(400) < chances)
    strata = np.where(chances == 1, "sent", "left")
    sample = rated(people, judge, chosen, probabilities=chances, strata=strata)
    audit = weighted_estimate(
        rated(people[100:], judge[100:], chosen[chosen >= 100] - 100, probabilities=chances[100:])
    )
    estimate = stratified_estimate(sample)
    assert estimate.value == pytest.approx(0.25 * people[:100].mean() + 0.75 * (audit.value or 0))
    assert estimate.standard_error == pytest.approx(0.75 * (audit.standard_error or 0))
    assert estimate.degrees_of_freedom == pytest.approx(int((chosen >= 100).sum()) - 2)


@pytest.mark.oracle("fraction worked by hand", of="neyman_allocation")
def test_allocation_favors_larger_and_more_variable_strata() -> None:
    assert neyman_allocation([100, 100], [1, 3], 40).tolist() == [10, 30]
    assert neyman_allocation([4, 100], [9, 1], 40).tolist() == [4, 36]
    assert neyman_allocation([100, 100], [0, 0], 40).tolist() == [20, 20]
    assert neyman_allocation([10, 10], [1, 1], 40).tolist() == [10, 10]


@pytest.mark.oracle(
    "increments of Zrnic and Candes 2024, worked by hand", of="active_inference", within=1e-06
)
def test_active_inference_is_the_mean_of_its_increments() -> None:
    chances = np.array([0.5, 0.25, 1, 0.5])
    sample = RatedSample(judge=[2, 3, 4, 5], human=[3, GAP, 5, GAP], probabilities=chances)
    increments = [2 + (3 - 2) / 0.5, 3, 4 + (5 - 4), 5]
    estimate = active_inference(sample, weight=1)
    assert estimate.value == pytest.approx(np.mean(increments))
    assert estimate.standard_error == pytest.approx(np.std(increments) / 2)
    tuned = active_inference(sample)
    steps = np.linspace(0, 1, 101)
    spreads = [active_inference(sample, weight=step).standard_error or 9 for step in steps]
    assert steps[np.argmin(spreads)] == pytest.approx(tuned.weight, abs=0.006)


@pytest.mark.oracle("simulation, mean of estimates", of="weighted_estimate")
@pytest.mark.parametrize("function", [weighted_estimate, active_inference, stratified_estimate])
def test_audit_makes_routed_values_unbiased(function: Any) -> None:
    people, judge = population(14)
    hard = judge <= 3
    chances = np.where(hard, 1.0, 0.2)
    found = []
    for seed in range(300):
        chosen = [int(each.unit) for each in draw(range(400), chances, seed=seed)]
        found.append(function(rated(people, judge, chosen, probabilities=chances)))
    values = np.array([each.value for each in found], dtype=float)
    assert values.mean() == pytest.approx(people.mean(), abs=4 * values.std() / np.sqrt(300))
    held = [ends(each)[0] <= people.mean() <= ends(each)[1] for each in found]
    assert np.mean(held) > 0.91
    naive = people[hard].mean()
    assert abs(naive - people.mean()) > 20 * values.std() / np.sqrt(300)


def test_skipped_assignments_count_as_missing_and_are_reported() -> None:
    chances = [1.0] * 4 + [0.5] * 4
    people = [5, GAP, 5, GAP, 1, 1, GAP, GAP]
    assigned = [True] * 4 + [True, True, False, False]
    sample = RatedSample(judge=[3] * 8, human=people, probabilities=chances, assigned=assigned)
    assert sample.skipped == 2
    # the two fives stand for four units, the two ones for four
    assert weighted_estimate(sample, weight=0).value == pytest.approx(3)
    assert weighted_estimate(sample).warnings[-1].startswith("2 of 6 assigned units have no rating; ")


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(ValueError, match="but was not assigned"):
        RatedSample(judge=[1], human=[1], assigned=[False])
    with pytest.raises(ValueError, match="probability above 0"):
        RatedSample(judge=[1], human=[1], probabilities=[0])
    with pytest.raises(ValueError, match="units"):
        RatedSample(judge=[1, 2], human=[1])
    with pytest.raises(ValueError, match="whether it was assigned"):
        RatedSample(judge=[1], human=[1], assigned=[True, True])
    with pytest.raises(ValueError, match="confidence level"):
        humans_only(WORKED, confidence_level=1)


def test_wider_intervals_for_fewer_ratings_are_foretold() -> None:
    estimate = humans_only(WORKED)
    widths = projected_widths(estimate, [2, 5, 10, 20, 30, 31])
    assert (widths[0], widths[5]) == (None, None)
    assert widths[2] == pytest.approx(estimate.width)
    assert widths[4] == 0
    assert widths[1] > widths[2] > widths[3]  # type: ignore[operator]
    assert projected_widths(judge_only(WORKED), [5]) == [None]


@settings(max_examples=100, deadline=None)
@given(
    errors=st.lists(st.floats(0, 10), min_size=1, max_size=80),
    share=st.floats(0.05, 1),
    mix=st.floats(0, 1),
)
@example(errors=[0.0, 0.0, 0.0, 1.0], share=0.5, mix=0.0)
def test_active_probabilities_sample_the_requested_share(
    errors: list[float], share: float, mix: float
) -> None:
    chances = active_probabilities(errors, share, mix=mix, least=0.04)
    assert (chances >= 0.04).all()
    assert (chances <= 1).all()
    assert chances.mean() == pytest.approx(share, rel=1e-6)
    order = np.argsort(errors, kind="stable")
    assert (np.diff(chances[order]) >= -1e-12).all()


def test_active_probabilities_need_a_floor() -> None:
    with pytest.raises(ValueError, match="least probability"):
        active_probabilities([1], 0.2, least=0)
    with pytest.raises(ValueError, match="least probability"):
        active_probabilities([1], 0.01, least=0.05)
    with pytest.raises(ValueError, match="0 or more"):
        active_probabilities([-1], 0.2)
    with pytest.raises(ValueError, match="uniform part"):
        active_probabilities([1], 0.2, mix=2)


@pytest.mark.oracle("package SciPy 1.17.1, linregress", of="combined_estimate", within=1e-12)
def test_combined_estimate_is_the_line_of_a_simple_random_sample_beyond_the_batch_or_not() -> None:
    line = stats.linregress(F, Y)
    value = line.intercept + line.slope * np.mean(F + FU)
    assert combined_estimate(WORKED).value == pytest.approx(value, abs=1e-12)
    beyond = combined_estimate(WORKED, beyond=True)
    assert beyond.value == pytest.approx(value, abs=1e-12)
    inside = combined_estimate(WORKED).standard_error or 0
    assert (beyond.standard_error or 0) ** 2 == pytest.approx(inside**2 + np.var(Y, ddof=1) / 30)
