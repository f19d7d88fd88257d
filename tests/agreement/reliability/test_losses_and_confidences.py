from typing import Any

import numpy as np
import pytest

from agreement.reliability import (
    Guarantee,
    another_point,
    at_cut,
    certify,
    check_audit,
    closeness,
    cross_fitted_loss,
    fit_error_model,
    fold_numbers,
    human_ceiling,
    largest_probability,
    more_than_one_point,
    squared_distance,
    steadiness,
    usual_value,
)
from benchmarks.coverage_certificates import LEVEL, AuditedJudge, false_alarms

GAP: Any = float("nan")
THIRD = 1 / 3


def test_another_point_is_one_that_is_not_nearest() -> None:
    people = [3, 3, 3 + THIRD, 3 + 2 * THIRD, 3.5, 3.5, GAP]
    assert another_point([3, 4, 3, 3, 3, 4, 3], people)[:6].tolist() == [0, 1, 0, 1, 0, 0]
    assert np.isnan(another_point([3, GAP], [GAP, 3])).all()
    assert another_point([1], [2], step=2).tolist() == [0]


def test_a_distance_of_one_is_not_more_than_one() -> None:
    # 4 + 1/3 - (3 + 1/3) is 1.0000000000000004 for a computer
    assert more_than_one_point([4 + THIRD, 5, 1], [3 + THIRD, 3 + 2 * THIRD, 3]).tolist() == [0, 1, 1]


def test_the_other_side_of_a_cut() -> None:
    assert at_cut(3)([3, 2, 4, GAP], [3, 3, 2.9, 1])[:3].tolist() == [0, 1, 1]


def test_a_squared_distance_is_a_share_of_the_scale() -> None:
    assert squared_distance([1, 3, 5], [5, 3, 4], span=4).tolist() == [1, 0, 1 / 16]


@pytest.mark.oracle("fraction worked by hand", of="human_ceiling", within=1e-06)
def test_human_ceiling_puts_one_person_in_the_judge_position() -> None:
    ceiling = human_ceiling([[1, 5, 3], [1, 5, GAP], [4, 5, GAP]], more_than_one_point)
    # unit 1: 1 against 2.5 and 4 against 1 are too far, all three of them; unit 2 none; unit 3 has one person
    assert ceiling.risk == pytest.approx((1 + 0) / 2)
    assert ceiling.units == 2
    alone = human_ceiling([[1, 2, 3]], another_point)
    assert alone.risk is None
    assert alone.reason == "No unit was rated by two people, so their agreement is unknown."


def test_confidences_are_larger_if_a_judge_agrees_with_itself() -> None:
    assert closeness([3, 5, GAP], [3, 2.5, 1])[:2].tolist() == [0, -2.5]
    assert np.isnan(closeness([GAP], [1]))[0]
    spread = steadiness([[1, 3, GAP], [2, 2, 2], [4, GAP, GAP]])
    assert spread[:2].tolist() == [-1, 0]
    assert np.isnan(spread[2])
    assert largest_probability([[0.2, 0.8], [0.5, 0.5]]).tolist() == [0.8, 0.5]


@pytest.mark.oracle("normal equations of ridge regression", of="fit_error_model", within=1e-09)
def test_an_error_model_is_ridge_regression() -> None:
    generator = np.random.default_rng(4)
    features = generator.normal(3, [1, 5, 0.1], (60, 3))
    losses = features @ [0.3, -0.1, 0] + generator.normal(size=60)
    model = fit_error_model(features, losses, penalty=2)
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    centred = np.vstack([z - z.mean(axis=0), np.sqrt(2) * np.eye(3)])
    slopes = np.linalg.lstsq(centred, np.concatenate([losses - losses.mean(), np.zeros(3)]))[0]
    assert model.expected_loss(features) == pytest.approx(losses.mean() + z @ slopes)
    assert model.confidence(features) == pytest.approx(-(losses.mean() + z @ slopes), abs=1e-9)


def test_gaps_and_constant_features_do_no_harm() -> None:
    model = fit_error_model([[1, 7], [2, 7], [GAP, 7], [3, 7]], [0, 1, 1, GAP])
    assert np.isfinite(model.expected_loss([[1.5, 7]])).all()
    with pytest.raises(ValueError, match="two rated units"):
        fit_error_model([1, 2], [GAP, 1])


def test_no_unit_is_predicted_by_a_model_that_has_seen_it() -> None:
    generator = np.random.default_rng(2)
    features, losses = generator.normal(size=(40, 2)), generator.random(40)
    folds = fold_numbers(40, 4, generator)
    assert np.bincount(folds).tolist() == [10] * 4
    expected = cross_fitted_loss(features, losses, folds)
    changed = losses.copy()
    changed[0] = 50
    moved = cross_fitted_loss(features, changed, folds) != expected
    assert not moved[folds == folds[0]].any()
    assert moved[folds != folds[0]].all()


def test_a_constant_judge_passes_on_a_skewed_scale_and_a_shuffled_one_with_it() -> None:
    generator = np.random.default_rng(11)
    human = np.full((3, 200), 5.0)
    human[:, :10] = 2
    judge = np.full(200, 5.0)
    judge[:10] = 4
    found = certify(
        judge,
        human,
        np.zeros(200),
        more_than_one_point,
        [0],
        Guarantee(0.2),
        documents=None,
        generator=generator,
        batch=np.zeros(400),
    )
    assert found.constant_value == 5
    assert found.certificate.threshold == found.constant.threshold == found.shuffled.threshold == 0
    assert found.ceiling.risk == 0


@pytest.mark.oracle("a judge that is right, its controls that are wrong", of="certify")
def test_discriminating_judge_passes_and_its_controls_fail() -> None:
    generator = np.random.default_rng(12)
    human = np.tile(generator.integers(1, 6, 200).astype(float), (3, 1))
    found = certify(
        human[0],
        human,
        np.zeros(200),
        another_point,
        [0],
        Guarantee(0.2),
        documents=None,
        generator=generator,
    )
    assert found.certificate.threshold == 0
    assert found.constant.threshold is None
    assert found.shuffled.threshold is None


def test_the_usual_value_is_the_most_frequent() -> None:
    assert usual_value([[1, 2, 2, 5, 5, GAP]]) == 5
    assert usual_value(np.empty((0, 3))) is None
    assert usual_value([[GAP]]) is None
    nobody = certify(
        [3, 3],
        np.full((1, 2), GAP),
        [0, 0],
        another_point,
        [0],
        Guarantee(0.2),
        documents=None,
        generator=np.random.default_rng(0),
    )
    assert nobody.constant_value is None
    assert nobody.certificate.threshold is None


def capital_by_hand(documents: list[tuple[int, int]], risk: float, most: int) -> float:
    """Return the largest capital so far, from (errors, units) of each document in order."""
    ratio = (0.8 / 0.03) ** (1 / 5)
    stakes = [0.03 * ratio**power for power in range(6)]
    held, largest = [1.0] * 6, 1.0
    for errors, units in documents:
        gain = (errors - risk * units) / (risk * most)
        held = [each * (1 + stake * gain) for each, stake in zip(held, stakes, strict=True)]
        largest = max(largest, sum(held) / 6)
    return largest


@pytest.mark.oracle("capital worked by hand", of="check_audit", within=1e-12)
def test_audit_contradicts_after_the_largest_capital_of_its_bets() -> None:
    losses = np.tile([1.0, 0, 0, 0], 10)
    found = check_audit(losses, 0.1, documents=None)
    wanted = capital_by_hand([(int(each), 1) for each in losses], 0.1, 1)
    assert found.p_value == pytest.approx(1 / wanted, rel=1e-12)
    assert found.contradicts
    assert found.reason == "10 of 40 audited units count against the judge. This contradicts a risk of 0.1."
    after = found.alarm_after or 0
    assert check_audit(losses[:after], 0.1, documents=None).contradicts
    assert not check_audit(losses[: after - 1], 0.1, documents=None).contradicts


def test_audit_keeps_its_alarm_after_many_right_units() -> None:
    losses = np.concatenate([np.ones(12), np.zeros(400)])
    found = check_audit(losses, 0.1, documents=None)
    assert (found.contradicts, found.alarm_after) == (
        True,
        check_audit(losses[:12], 0.1, documents=None).alarm_after,
    )


def test_audit_bets_on_whole_documents_in_the_order_of_their_first_ratings() -> None:
    documents = ["b", "a", "b", "c", "a", "c", "d"]
    found = check_audit([1, 0, 1, 0, 1, GAP, GAP], 0.2, documents=documents)
    # d has no rating; the bets allow for two units of a document
    assert found.p_value == pytest.approx(1 / capital_by_hand([(2, 2), (1, 2), (0, 1)], 0.2, 2), rel=1e-12)
    assert (found.audited, found.errors) == (5, 3)


def test_audit_with_more_errors_than_the_risk_allows_contradicts_for_certain() -> None:
    losses = np.zeros(60)
    losses[-9:] = 1
    assert check_audit(losses, 0.1, documents=None).p_value != 0
    closed = check_audit(losses, 0.1, documents=None, units=80)  # 8 of the 80 may be wrong, 9 are
    assert (closed.p_value, closed.contradicts, closed.alarm_after) == (0, True, 60)
    assert check_audit([0, 1], 0.0, documents=None).alarm_after == 2
    assert check_audit([1, 1], 1.0, documents=None).p_value == 1


def test_audit_without_errors_or_ratings_does_not_contradict() -> None:
    assert check_audit(np.zeros(10), 0.1, documents=None, units=50).p_value == 1
    nothing = check_audit([GAP], 0.1, documents=None)
    assert (nothing.p_value, nothing.contradicts) == (None, False)
    with pytest.raises(ValueError, match="0 and 1"):
        check_audit([0.5], 0.1, documents=None)


@pytest.mark.oracle("simulation, 150 audits, a look after every rating", of="check_audit")
def test_audit_looked_at_after_every_rating_keeps_its_level() -> None:
    kind, simulations = AuditedJudge(documents=60, items=4, alike=0.6), 150
    alarms = false_alarms(kind, simulations)
    assert alarms["bets"] <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / simulations) < alarms["binomial"]
