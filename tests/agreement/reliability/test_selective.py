"""Thresholds with a guarantee: worked examples of others, hand-made ones, and what must always hold."""

import csv
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from agreement.reliability import (
    Guarantee,
    RiskTest,
    calibrate,
    errors_allowed,
    grid_between,
    grid_of,
    least_accepted_ratings,
    plan_calibration,
)
from benchmarks.coverage_certificates import DELTA, ErringJudge, broken_promises
from tests.reference import reference_data

DISTANCES = [0, -1, -2, -3, -4]
calibrate_alone = partial(calibrate, documents=None)  # no two units share a document


def preferences() -> tuple[np.ndarray, np.ndarray]:
    """Confidence and loss of the 500 items that Trust or Escalate calibrates gpt-4-turbo on."""
    path = reference_data() / "selective" / "gpt-4-turbo.csv"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    options = [[float(row[f"probability_{option}"]) for option in ("first", "second")] for row in rows]
    chosen = np.argmax(options, axis=1) + 1
    return np.max(options, axis=1), (chosen != [int(row["human_choice"]) for row in rows]).astype(float)


@pytest.mark.oracle("Jung, Brahman and Choi 2025, 500 preferences", of="calibrate", within=5e-05)
@pytest.mark.parametrize(
    ("risk", "threshold", "accepted", "wrong", "bound"),
    [(0.2, 0.676, 439, 76, 0.1985), (0.15, 0.913, 356, 44, 0.1490), (0.1, 0.998, 241, 17, 0.0966)],
)
def test_worked_thresholds(risk: float, threshold: float, accepted: int, wrong: int, bound: float) -> None:
    confidences, losses = preferences()
    assert 1 - losses.mean() == pytest.approx(0.784)
    certificate = calibrate_alone(confidences, losses, grid_between(0.5, 1, 0.001), Guarantee(risk, 0.1))
    assert certificate.threshold == threshold
    assert certificate.step is not None
    assert (certificate.step.accepted, certificate.step.lost) == (accepted, wrong)
    assert certificate.step.bound == pytest.approx(bound, abs=5e-5)
    assert certificate.steps[-1].p_value > 0.1
    assert certificate.kept_share == pytest.approx(accepted / 500)


def test_a_judge_without_a_good_corner_is_not_certified_at_the_strictest_threshold() -> None:
    # the reference implementation returns the top of the grid here
    confidences = np.repeat([0.0, -1.0], 50)
    losses = np.tile([1.0, 0.0], 50)
    certificate = calibrate_alone(confidences, losses, DISTANCES, Guarantee(0.2))
    assert certificate.threshold is None
    assert certificate.step is None
    assert certificate.kept_share == 0
    assert len(certificate.steps) == 1
    assert certificate.reason == (
        "Among the surest units, 25 of 50 ratings count against the judge; the risk may be up to 0.599, "
        "above 0.2. All units go to humans."
    )
    assert certificate.more_ratings is None
    assert certificate.more_reason == (
        "No number of ratings will change this while 50.0% of the surest units count against the judge: "
        "the risk asked for is 20.0%."
    )


def test_testing_ends_at_the_first_failure_even_if_a_larger_set_passes() -> None:
    confidences = np.repeat([0.0, -1.0, -2.0], [40, 40, 400])
    losses = np.concatenate([np.zeros(40), np.tile([1.0, 0.0], 20), np.zeros(400)])
    certificate = calibrate_alone(confidences, losses, DISTANCES, Guarantee(0.1))
    assert certificate.threshold == 0
    assert [step.threshold for step in certificate.steps] == [0, -1]


def test_abstention_reports_the_further_ratings_that_would_pass() -> None:
    confidences = np.zeros(40)
    losses = np.zeros(40)
    losses[:4] = 1  # 10% of 40: bound .187
    certificate = calibrate_alone(confidences, losses, DISTANCES, Guarantee(0.15))
    assert certificate.threshold is None
    more = certificate.more_ratings
    assert more is not None
    enough = 40 + more
    passes = [stats.binom.cdf(np.ceil(n / 10), n, 0.15) <= 0.1 for n in range(41, enough + 1)]
    assert passes[-1]
    assert not any(passes[:-1])


def test_half_the_units_accepted_doubles_the_ratings_needed() -> None:
    losses = np.zeros(80)
    losses[:4] = 1
    all_sure = calibrate_alone(np.zeros(40), losses[:40], [0], Guarantee(0.15)).more_ratings
    half_sure = calibrate_alone(np.repeat([0.0, -1.0], 40), losses, [0], Guarantee(0.15)).more_ratings
    assert all_sure is not None
    assert half_sure == 2 * all_sure


def test_too_few_ratings_are_not_tested() -> None:
    certificate = calibrate_alone(np.zeros(20), np.zeros(20), DISTANCES, Guarantee(0.2))
    assert certificate.steps == ()
    assert certificate.reason == (
        "None of the thresholds accepts 30 of 20 calibration ratings, too few to test. "
        "All units go to humans."
    )
    assert certificate.more_ratings == 10
    half_sure = calibrate_alone(np.repeat([0.0, -1.0], 10), np.zeros(20), [0], Guarantee(0.2))
    assert half_sure.more_ratings == 40
    never_sure = calibrate_alone(np.full(50, -1), np.zeros(50), [0], Guarantee(0.2))
    assert never_sure.more_reason == "No threshold accepts any of the rated units; widen the grid."
    nothing = calibrate_alone([], [], DISTANCES, Guarantee(0.2))
    assert (nothing.threshold, nothing.more_ratings) == (None, 30)


def test_a_closed_batch_is_certified_by_the_hypergeometric_bound() -> None:
    # 5 wrong of 100 out of 200: 15 wrong at most, .075; the binomial bound is .0908
    losses = np.zeros(100)
    losses[:5] = 1
    guarantee = Guarantee(0.08)
    assert calibrate_alone(np.zeros(100), losses, [0], guarantee).threshold is None
    closed = calibrate_alone(np.zeros(100), losses, [0], guarantee, batch=np.zeros(200))
    assert closed.threshold == 0
    assert closed.step is not None
    assert closed.step.bound == pytest.approx(0.075)
    assert closed.step.units == 200
    assert closed.kept_share == 1
    # 16 of the 200 may be wrong, 5 are known to be: 11 of the other 100
    assert closed.risk_of_unrated == pytest.approx(0.11)


def test_the_start_in_a_batch_looks_at_the_batch_and_not_at_the_sample() -> None:
    batch = np.repeat([0.0, -1.0], [250, 750])
    sample = np.repeat([0.0, -1.0], [31, 69])  # 31 found, 25 expected
    certificate = calibrate_alone(sample, np.zeros(100), DISTANCES, Guarantee(0.2), batch=batch)
    assert certificate.steps[0].threshold == -1


def test_units_without_a_confidence_or_a_loss_are_never_accepted() -> None:
    gap = np.nan
    confidences = [0.0] * 40 + [gap] * 5 + [0.0] * 5
    losses = [0.0] * 40 + [1.0] * 5 + [gap] * 5
    certificate = calibrate_alone(confidences, losses, [0, -1], Guarantee(0.2), batch=[0.0] * 90 + [gap] * 10)
    assert certificate.step is not None
    assert (certificate.step.accepted, certificate.step.lost, certificate.step.units) == (40, 0, 90)
    assert (certificate.rated, certificate.without_loss, certificate.units) == (45, 5, 100)


def test_losses_between_0_and_1_need_the_other_test() -> None:
    losses = np.full(200, 0.05)
    with pytest.raises(ValueError, match="Hoeffding-Bentkus"):
        calibrate_alone(np.zeros(200), losses, [0], Guarantee(0.1))
    guarantee = Guarantee(0.1, test=RiskTest.HOEFFDING_BENTKUS)
    certificate = calibrate_alone(np.zeros(200), losses, [0], guarantee)
    assert certificate.threshold == 0
    assert certificate.steps[0].p_value == pytest.approx(0.021939, abs=1e-6)
    assert certificate.steps[0].bound <= 0.1
    assert certificate.risk_of_unrated is None


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        calibrate_alone([0, 0], [1], [0], Guarantee(0.1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibrate_alone([0], [2], [0], Guarantee(0.1))
    with pytest.raises(ValueError, match="at least one threshold"):
        calibrate_alone([0], [1], [], Guarantee(0.1))
    with pytest.raises(ValueError, match="part of the batch"):
        calibrate_alone(np.zeros(50), np.zeros(50), [0], Guarantee(0.1), batch=np.zeros(40))
    with pytest.raises(ValueError, match="risk"):
        Guarantee(0)
    with pytest.raises(ValueError, match="accepted rating"):
        Guarantee(0.1, least_accepted=0)
    with pytest.raises(ValueError, match="certificate"):
        Guarantee(0.1).divide(0)


def test_several_certificates_divide_delta() -> None:
    assert Guarantee(0.2, 0.1).divide(4) == Guarantee(0.2, 0.025)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), risk=st.sampled_from([0.1, 0.2, 0.3]))
def test_a_larger_risk_never_keeps_fewer_units(seed: int, risk: float) -> None:
    generator = np.random.default_rng(seed)
    confidences = -generator.integers(0, 5, 200).astype(float)
    losses = (generator.random(200) < 0.05 - 0.1 * confidences).astype(float)
    strict, lax = (
        calibrate_alone(confidences, losses, DISTANCES, Guarantee(each)) for each in (risk, 1.5 * risk)
    )
    assert strict.kept_share <= lax.kept_share
    several = calibrate_alone(confidences, losses, DISTANCES, Guarantee(risk).divide(4))
    assert several.kept_share <= strict.kept_share


@pytest.mark.oracle("simulation, 1,000 samples", of="calibrate")
@pytest.mark.parametrize("closed", [True, False])
def test_risk_is_exceeded_in_no_more_than_delta_of_the_samples(closed: bool) -> None:
    # the risk of the set at -1 is just above .2, so every certificate down to there is a mistake
    generator = np.random.default_rng(20)
    batch = -np.repeat(np.arange(3), 200).astype(float)
    losses = np.concatenate([np.arange(200) < wrong for wrong in (30, 51, 120)]).astype(float)
    broken = 0
    for _ in range(1_000):
        sample = generator.choice(600, 150, replace=False)
        certificate = calibrate_alone(
            batch[sample], losses[sample], DISTANCES, Guarantee(0.2), batch=batch if closed else None
        )
        if certificate.threshold is not None:
            broken += losses[batch >= certificate.threshold].mean() > 0.2
    assert broken <= stats.binom.ppf(0.999, 1_000, 0.1)
    assert broken >= (20 if closed else 0)  # the closed test spends its delta


def test_a_grid_keeps_its_points() -> None:
    assert grid_between(0.5, 1, 0.001)[176] == 0.676
    assert grid_of([0, 0, -1, np.nan, -2], thresholds=3).tolist() == [-2, -1, 0]
    with pytest.raises(ValueError, match="No unit"):
        grid_of([np.nan])


@pytest.mark.oracle("package SciPy 1.17.1, binom", of=("plan_calibration", "errors_allowed"), within=1e-06)
def test_plan_reports_the_ratings_needed_before_any_rating() -> None:
    plan = plan_calibration(Guarantee(0.1, 0.1), expected_error=0.02, accepted_share=0.5, power=0.8)
    assert plan.accepted is not None
    assert plan.errors_allowed is not None
    assert stats.binom.cdf(plan.errors_allowed, plan.accepted, 0.1) <= 0.1
    assert stats.binom.cdf(plan.errors_allowed + 1, plan.accepted, 0.1) > 0.1
    assert plan.power is not None
    assert plan.power == pytest.approx(stats.binom.cdf(plan.errors_allowed, plan.accepted, 0.02))
    assert plan.power >= 0.8
    assert plan.ratings == 2 * plan.accepted
    assert plan.least_ratings == 60  # 30 accepted at least


def test_a_planned_sample_passes_as_often_as_it_says() -> None:
    guarantee = Guarantee(0.2, 0.1)
    plan = plan_calibration(guarantee, expected_error=0.1, units=400, power=0.8)
    assert plan.ratings is not None
    assert plan.power is not None
    generator = np.random.default_rng(6)
    losses = (np.arange(400) < 40).astype(float)
    passed = [
        calibrate_alone(
            np.zeros(plan.ratings),
            generator.choice(losses, plan.ratings, replace=False),
            [0],
            guarantee,
            batch=np.zeros(400),
        ).threshold
        is not None
        for _ in range(500)
    ]
    assert np.mean(passed) == pytest.approx(plan.power, abs=4 * 0.4 / np.sqrt(500))


def test_missing_plan_has_a_reason() -> None:
    hopeless = plan_calibration(Guarantee(0.1), expected_error=0.1)
    assert hopeless.ratings is None
    assert hopeless.reason == (
        "A judge that errs as often as the risk allows passes no sample; allow more, or keep fewer units."
    )
    near = plan_calibration(Guarantee(0.1), expected_error=0.0999)
    assert near.reason == "No sample is large enough: the expected error lies too near the risk."
    with pytest.raises(ValueError, match="accepted share"):
        plan_calibration(Guarantee(0.1), expected_error=0, accepted_share=0)
    with pytest.raises(ValueError, match="expected error"):
        plan_calibration(Guarantee(0.1), expected_error=1)
    with pytest.raises(ValueError, match="Power"):
        plan_calibration(Guarantee(0.1), expected_error=0, power=1)


def test_a_closed_batch_needs_fewer_ratings() -> None:
    guarantee = Guarantee(0.1, 0.1)
    small = least_accepted_ratings(guarantee, units=60)
    assert small is not None
    assert small < 22
    assert least_accepted_ratings(guarantee, errors=3, units=20) is None
    assert errors_allowed(np.array([5, 22]), guarantee).tolist() == [-1, 0]


def test_documents_of_one_unit_change_no_certificate() -> None:
    generator = np.random.default_rng(21)
    confidences = -generator.integers(0, 5, 200).astype(float)
    losses = (generator.random(200) < 0.05 - 0.05 * confidences).astype(float)
    documents = generator.permutation(200)
    found = calibrate(confidences, losses, DISTANCES, Guarantee(0.2), documents=documents)
    assert found.threshold is not None
    assert found == calibrate_alone(confidences, losses, DISTANCES, Guarantee(0.2))


def test_documents_change_nothing_in_a_closed_batch() -> None:
    losses = np.zeros(100)
    losses[:5] = 1
    found, alone = (
        calibrate(np.zeros(100), losses, [0], Guarantee(0.08), documents=documents, batch=np.zeros(200))
        for documents in (np.arange(100) // 4, None)
    )
    assert found == alone


@pytest.mark.oracle("fraction worked by hand", of="calibrate", within=1e-12)
def test_bet_on_documents_equals_its_hand_worked_capital() -> None:
    # 10 documents of 4 units, one error in one of them, risk .2: gains .8 and -.2, of at most 3.2 to lose
    losses = np.zeros(40)
    losses[0] = 1
    found = calibrate(np.zeros(40), losses, [0], Guarantee(0.2), documents=np.arange(40) // 4)
    stakes = [Fraction(number, 12) for number in range(1, 13)]
    capital = sum((1 + stake / 4) ** 9 * (1 - stake / 16) for stake in stakes) / 12
    assert found.steps[0].p_value == pytest.approx(float(1 / capital), rel=1e-12)
    assert (found.steps[0].accepted, found.steps[0].lost) == (40, 1)
    # 11 documents without an error and no other test: the least risk that the same capital rejects
    clean = calibrate(np.zeros(44), np.zeros(44), [0], Guarantee(0.3), documents=np.arange(44) // 4)
    numbers = np.arange(1, 13) / 12
    bound = optimize.brentq(
        lambda risk: np.mean((1 + numbers * risk / (1 - risk)) ** 11) - 10, 0.01, 0.9, xtol=1e-12
    )
    assert clean.threshold == 0
    assert clean.steps[0].bound == pytest.approx(bound, abs=2e-9)


def test_more_similar_documents_pass_with_the_reported_ratings() -> None:
    losses = np.tile([1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 4)
    found = calibrate(np.zeros(48), losses, [0], Guarantee(0.2), documents=np.arange(48) // 4)
    assert found.threshold is None
    assert found.more_ratings is not None
    times = -(-(48 + found.more_ratings) // 48)
    enough = calibrate(
        np.zeros(48 * times),
        np.tile(losses, times),
        [0],
        Guarantee(0.2),
        documents=np.arange(48 * times) // 4,
    )
    assert enough.threshold == 0


def test_a_gap_in_the_losses_leaves_documents_of_the_others() -> None:
    losses = np.where(np.arange(80) % 2, np.nan, 0.0)
    found = calibrate(np.zeros(80), losses, [0], Guarantee(0.2), documents=np.arange(80) // 2)
    assert found == calibrate_alone(np.zeros(80), losses, [0], Guarantee(0.2))
    with pytest.raises(ValueError, match="Documents and losses differ in shape"):
        calibrate(np.zeros(80), losses, [0], Guarantee(0.2), documents=[1, 2])


def test_documents_keep_a_guarantee_that_units_taken_as_independent_break() -> None:
    kind, simulations = ErringJudge(documents=40, items=12, alike=0.9), 200
    with_documents, as_independent, in_batch = broken_promises(kind, simulations)
    highest = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / simulations)
    assert max(with_documents, in_batch) <= highest < as_independent
