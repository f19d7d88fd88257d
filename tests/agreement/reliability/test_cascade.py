"""Judges in stages: who decides each unit, and one guarantee for all of them."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from agreement.data import FloatArray
from agreement.reliability import (
    Guarantee,
    another_point,
    calibrate,
    calibrate_cascade,
    calls_of_stages,
    certify,
    certify_cascade,
    deciding_stages,
    forecast_cascade,
    grid_of,
    paths_of,
)
from agreement.reliability.bounds import p_value_of_unknown_batch

pytestmark = pytest.mark.fast

NONE = np.nan


@pytest.mark.oracle("worked by hand", of=("deciding_stages", "calls_of_stages"))
def test_first_sure_stage_decides_and_the_rest_go_to_people() -> None:
    confidences = [[0.9, 0.2, NONE, 0.2, 0.9], [0.9, 0.8, 0.8, 0.1, NONE]]
    deciding = deciding_stages(confidences, [0.5, 0.5])
    assert deciding.tolist() == [0, 1, 1, 2, 0]
    assert calls_of_stages(deciding, 2).tolist() == [5, 3, 1]
    assert deciding_stages(confidences, [np.inf, 0.5]).tolist() == [1, 1, 1, 2, 2]


def sample_of(units: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """(stages, units): confidences of two judges, and losses that are likelier where they are unsure."""
    generator = np.random.default_rng(seed)
    confidences = generator.random((2, units)).round(2)
    rates = np.array([[0.5], [0.3]]) * (1 - confidences) ** 2
    return confidences, (generator.random((2, units)) < rates).astype(float)


@pytest.mark.oracle("calibrate, which has an oracle of its own", of="calibrate_cascade", within=1e-12)
@pytest.mark.parametrize("closed", [True, False])
def test_one_stage_is_the_certificate_of_one_judge(closed: bool) -> None:
    confidences, losses = sample_of(400, seed=3)
    drawn, documents = slice(0, 300), np.arange(300) // 3
    grid = grid_of(confidences[1])
    wanted = calibrate(
        confidences[1, drawn],
        losses[1, drawn],
        grid,
        Guarantee(0.3, 0.1),
        documents=documents,
        batch=confidences[1] if closed else None,
    )
    found = calibrate_cascade(
        confidences[1:, drawn],
        losses[1:, drawn],
        [np.sort(grid)[::-1, None]],
        Guarantee(0.3, 0.1),
        documents=documents,
        batch=confidences[1:] if closed else None,
    )
    assert found.thresholds is not None
    assert wanted.step is not None
    assert found.certificate.step is not None
    assert found.thresholds.tolist() == [wanted.threshold]
    assert found.accepted.tolist() == [wanted.step.accepted]
    assert found.errors.tolist() == [wanted.step.lost]
    p_values = [step.p_value for step in wanted.steps]
    assert [step.p_value for step in found.certificate.steps] == pytest.approx(p_values, abs=1e-12)


@pytest.mark.oracle("certify, which has an oracle of its own", of="certify_cascade", within=1e-12)
def test_one_stage_has_the_controls_of_one_judge() -> None:
    confidences, losses = sample_of(300, seed=5)
    human = np.tile(1.0 + np.arange(300) % 5, (2, 1))
    judge = np.where(losses[1] > 0, 6 - human[0], human[0])
    rest = {"documents": None, "batch": confidences[1]}
    wanted = certify(
        judge,
        human,
        confidences[1],
        another_point,
        grid_of(confidences[1]),
        Guarantee(0.3),
        generator=np.random.default_rng(11),
        **rest,
    )
    path = np.sort(grid_of(confidences[1]))[::-1, None]
    found = certify_cascade(
        judge,
        human,
        confidences[1],
        another_point,
        [path],
        Guarantee(0.3),
        generator=np.random.default_rng(11),
        **rest,
    )
    pairs = [
        (found.cascade.certificate, wanted.certificate),
        (found.constant, wanted.constant),
        (found.shuffled, wanted.shuffled),
    ]
    for of_cascade, of_judge in pairs:
        p_values = [step.p_value for step in of_judge.steps]
        assert [step.p_value for step in of_cascade.steps] == pytest.approx(p_values, abs=1e-12)
    assert wanted.certificate.step is not None
    assert (found.constant_value, found.ceiling) == (wanted.constant_value, wanted.ceiling)


def hypergeometric(errors: int, ratings: int, units: int, wrong: int) -> Fraction:
    """P(at most so many wrong ones), by counting samples."""
    ways = sum(comb(wrong, k) * comb(units - wrong, ratings - k) for k in range(errors + 1))
    return Fraction(ways, comb(units, ratings))


@pytest.mark.parametrize(
    ("errors", "ratings", "largest"), [(0, 12, 60), (2, 30, 90), (5, 40, 41), (3, 20, 20)]
)
def test_p_value_of_an_unknown_batch_is_the_largest_over_all_sizes(
    errors: int, ratings: int, largest: int
) -> None:
    risk = Fraction(1, 5)
    every_size = [
        hypergeometric(errors, ratings, units, min(int(risk * units) + 1, units))
        for units in range(ratings, largest + 1)
    ]
    found = p_value_of_unknown_batch([errors], [ratings], [largest], 0.2)
    assert found[0] == pytest.approx(float(max(every_size)), abs=1e-12)


def test_guarantee_holds_for_all_stages_together() -> None:
    broken, kept, simulations = 0, 0.0, 300
    for seed in range(simulations):
        confidences, losses = sample_of(600, seed)
        losses[1] = np.maximum(losses[1], losses[0] * (confidences[1] < 0.4))  # both fail on the same units
        drawn = np.random.default_rng(seed + 10_000).permutation(600)[:150]
        known = np.full_like(confidences, np.nan)
        known[0], known[:, drawn] = confidences[0], confidences[:, drawn]
        found = calibrate_cascade(
            confidences[:, drawn],
            losses[:, drawn],
            paths_of(known, comparable=False),
            Guarantee(0.1, 0.1),
            documents=None,
            batch=600,
        )
        if found.thresholds is None:
            continue
        deciding = deciding_stages(confidences, found.thresholds)
        decided = deciding < 2
        kept += decided.mean() / simulations
        broken += losses[deciding[decided], np.flatnonzero(decided)].mean() > 0.1
    assert broken / simulations <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / simulations)
    assert kept > 0.3


def test_stage_without_values_decides_nothing() -> None:
    confidences, losses = sample_of(200, seed=5)
    confidences[0] = losses[0] = np.nan
    found = calibrate_cascade(
        confidences,
        losses,
        paths_of(confidences, comparable=False),
        Guarantee(0.2, 0.1),
        documents=None,
        batch=confidences,
    )
    assert found.thresholds is not None
    assert np.isinf(found.thresholds[0])
    assert found.accepted[0] == 0


def test_unit_without_value_of_a_sure_stage_goes_to_the_next_stage() -> None:
    # The first stage is surest where it has no value, and the second is wrong there.
    confidences = np.array([[0.9] * 60 + [0.5] * 140, [0.8] * 200])
    losses = np.array([[NONE] * 60 + [0.0] * 140, [1.0] * 60 + [0.0] * 140])
    found = calibrate_cascade(
        confidences, losses, [np.array([[0.5, 0.5]])], Guarantee(0.2, 0.1), documents=None, batch=1000
    )
    assert [(each.accepted, each.lost) for each in found.certificate.steps] == [(200, 60)]
    assert found.thresholds is None


def test_unrated_units_are_excluded() -> None:
    confidences, losses = sample_of(200, seed=6)
    losses[:, :50] = np.nan
    found = calibrate_cascade(
        confidences,
        losses,
        paths_of(confidences, comparable=True),
        Guarantee(0.2, 0.1),
        documents=None,
        batch=400,
    )
    assert (found.certificate.rated, found.certificate.without_loss) == (150, 50)
    assert found.certificate.units == 400


def test_bad_judges_leave_everything_to_people() -> None:
    confidences, _ = sample_of(100, seed=7)
    found = calibrate_cascade(
        confidences,
        np.ones((2, 100)),
        paths_of(confidences, comparable=False),
        Guarantee(0.2, 0.1),
        documents=None,
        batch=100,
    )
    assert found.thresholds is None
    assert "All units go to humans" in (found.certificate.reason or "")


@pytest.mark.parametrize(
    ("confidences", "losses", "batch", "says"),
    [
        ([[0.5, 0.5]], [[0.0]], None, "differ in shape"),
        ([[0.5, 0.5]], [[0.0, 0.5]], None, "losses of 0 and 1"),
        ([[0.5, 0.5]], [[0.0, 1.0]], 1, "part of the batch"),
    ],
)
def test_bad_input_is_rejected(
    confidences: list[list[float]], losses: list[list[float]], batch: int | None, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        calibrate_cascade(
            confidences, losses, [np.array([[0.5]])], Guarantee(0.2), documents=None, batch=batch
        )


def test_paths_start_strict_and_end_with_everything() -> None:
    confidences, _ = sample_of(100, seed=8)
    for path in paths_of(confidences, comparable=False):
        counts = [int(np.sum(deciding_stages(confidences, thresholds) < 2)) for thresholds in path]
        assert counts == sorted(counts)
        assert counts[-1] == 100
    with pytest.raises(ValueError, match="No stage has a confidence"):
        paths_of(np.full((2, 3), np.nan), comparable=False)


@pytest.mark.oracle("worked by hand", of="forecast_cascade", within=1e-12)
def test_forecast_counts_what_other_documents_choose() -> None:
    # The judge is right where it is sure, and wrong elsewhere, in each of 10 documents of 4 units.
    sure = np.tile([1.0, 1.0, 0.0, 0.0], 10)
    wrong = 1 - sure
    found = forecast_cascade(
        sure[None],
        wrong[None],
        np.repeat(np.arange(10), 4),
        [0.0, 0.5],
        comparable=False,
        generator=np.random.default_rng(1),
    )
    assert found.decided.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert found.reached.tolist() == [[1.0, 0.5], [1.0, 0.0]]
    assert found.errors.tolist() == [0.0, 0.5]
    assert found.error_rates.tolist() == [0.0, 0.5]
    with pytest.raises(ValueError, match="two documents"):
        forecast_cascade([[1.0]], [[0.0]], [1], [0.1], comparable=False, generator=np.random.default_rng(1))


def test_forecast_is_not_deceived_by_noise() -> None:
    generator = np.random.default_rng(9)
    confidences = generator.random((2, 240))
    losses = (generator.random((2, 240)) < 0.3).astype(float)
    found = forecast_cascade(
        confidences, losses, np.arange(240) // 4, [0.2], comparable=False, generator=np.random.default_rng(2)
    )
    rate = found.error_rates[0]
    assert np.isnan(rate) or rate > 0.2  # the judges are wrong on 30 % whatever their confidence
