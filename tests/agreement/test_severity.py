"""Severity of raters: a published example, derivatives, and how often intervals hold."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from agreement import drift, rater_severity, severity, severity_drift, why_not_severity
from agreement.severity import NO_VARIANCE, severity_misfit
from agreement.severity_likelihood import RatedPoints, SeverityLikelihood
from benchmarks.coverage_severity import Panel, found_misfits, held_drifts, held_severities

pytestmark = pytest.mark.fast

LSAT = "3 6 2 11 1 1 3 4 1 8 0 16 0 3 2 15 10 29 14 81 3 28 15 80 16 56 21 173 11 61 28 298"
"""How many of 1,000 persons gave which answers to the five items of LSAT 6, from 00000 to 11111
(Bock and Lieberman 1970)."""


@pytest.mark.oracle("Rizopoulos 2006, package ltm, LSAT 6", of="rater_severity", within=0.002)
def test_with_two_points_it_is_the_rasch_model_of_lsat_6() -> None:
    patterns = np.array([[int(bit) for bit in f"{each:05b}"] for each in range(32)], dtype=float)
    persons = np.repeat(patterns, [int(each) for each in LSAT.split()], axis=0)
    rated = RatedPoints.of(persons.T, [0, 1], ["all"] * 1000, np.arange(1000))
    likelihood = SeverityLikelihood(rated, 0.0)
    # Rizopoulos 2006, package ltm, rasch(LSAT): discrimination .7551, these difficulties, -2466.938.
    difficulty, spread = np.array([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802]), 0.7551
    severities = spread * (difficulty - difficulty.mean())
    published = np.concatenate([[-spread * difficulty.mean()], severities, [0], [np.log(spread)]])
    loss, gradient = likelihood.loss(published)
    assert loss == pytest.approx(2466.938, abs=2e-3)
    assert np.abs(gradient).max() < 0.05  # of 1,000 persons, at figures of four decimals


def panel(seed: int, **kind: float) -> tuple[np.ndarray, list[str], np.ndarray]:
    return Panel(documents=12, systems=3, **kind).values(np.random.default_rng(seed))  # type: ignore[arg-type]


def test_gradient_and_sums_by_document_are_the_derivatives_of_the_loss() -> None:
    values, systems, documents = panel(1)
    values[0, ::3] = np.nan
    likelihood = SeverityLikelihood(RatedPoints.of(values, [1, 2, 3, 4, 5], systems, documents), 0.25)
    at = np.random.default_rng(2).normal(size=len(likelihood.start)) / 2

    def loss(tried: np.ndarray) -> float:
        return likelihood.loss(tried)[0]

    numeric = scipy.optimize.approx_fprime(at, loss, 1e-6)
    assert likelihood.loss(at)[1] == pytest.approx(numeric, abs=1e-3)
    plain = SeverityLikelihood(likelihood.rated, 0.0)
    # The rater's part of the data's own gradient, which the ridges on means do not touch, has the sum 0.
    raters = plain.scores_by_document(at).sum(axis=0)
    assert raters[:3].sum() == pytest.approx(-raters[3:6].sum())


def test_sums_by_document_add_up_to_the_gradient() -> None:
    values, systems, documents = panel(1)
    values[0, ::3] = np.nan
    likelihood = SeverityLikelihood(RatedPoints.of(values, [1, 2, 3, 4, 5], systems, documents), 0.0)
    at = np.random.default_rng(2).normal(size=len(likelihood.start)) / 2
    at[3:6] -= at[3:6].mean()  # where the ridges on means pull nothing
    at[6:-1] -= at[6:-1].mean()
    assert likelihood.scores_by_document(at).sum(axis=0) == pytest.approx(-likelihood.loss(at)[1])


def test_equal_units_need_no_extra_memory() -> None:
    generator = np.random.default_rng(6)
    units = 20_000
    values = generator.integers(1, 8, (3, units)).astype(float)
    systems, documents = [f"S{index % 4}" for index in range(units)], np.arange(units) // 4
    rated = RatedPoints.of(values, list(range(1, 8)), systems, documents)
    tracemalloc.start()
    likelihood = SeverityLikelihood(rated, 0.25)
    likelihood.loss(likelihood.start)
    likelihood.scores_by_document(likelihood.start)
    likelihood.fit_of_raters(likelihood.start)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 60,000 values x 21 nodes x 7 points are 71 MB.
    assert peak < 35e6


def test_a_system_that_a_severe_rater_got_is_not_put_down_for_it() -> None:
    values, systems, documents = Panel(
        documents=40, systems=2, severities=(-1.5, 0.0, 1.5), means=(1.0, 1.0)
    ).values(np.random.default_rng(3))
    first = np.array(systems) == "S0"
    values[0, first], values[2, ~first] = np.nan, np.nan
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["mild", "middle", "severe"])
    one, other = found.systems
    assert other.mean - one.mean > 0.5
    assert abs(other.fair.value - one.fair.value) < 0.25
    assert [each.severity.value for each in found.raters] == pytest.approx([-1.5, 0, 1.5], abs=0.5)
    mild, _, severe = found.raters
    assert severe.fair_mean.value < mild.fair_mean.value - 1
    assert found.spread == pytest.approx(1, abs=0.4)


def test_a_rater_who_answers_at_random_does_not_fit() -> None:
    values, systems, documents = panel(4, spread=1.6)
    values[1] = np.random.default_rng(5).integers(1, 6, values.shape[1])
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert found.raters[1].outfit > 1.25
    assert found.raters[1].outfit > max(found.raters[0].outfit, found.raters[2].outfit)


def test_only_raters_in_different_shares_make_means_unfair() -> None:
    values, systems, documents = panel(4)
    alike = values.copy()
    alike[0, documents < 4] = np.nan  # of all systems
    other = values.copy()
    other[0, np.array(systems) == "S0"] = np.nan
    found = [
        rater_severity(each, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
        for each in (values, alike, other)
    ]
    assert [each.same_raters for each in found] == [True, True, False]
    assert [each.rated_everything for each in found] == [True, False, False]


def test_raters_of_one_system_each_are_not_the_same_raters(monkeypatch: pytest.MonkeyPatch) -> None:
    # Five of ten raters rate each system, so each rater has .2 of a system's values. With a limit of .21,
    # they stand for 101 raters of each system with the usual .01, who take longer.
    monkeypatch.setattr(severity, "SAME_SHARE", 0.21)
    generator = np.random.default_rng(7)
    values = np.full((10, 40), np.nan)
    for unit in range(40):
        system, document = divmod(unit, 20)
        own = 5 * system + np.array([document, document + 1]) % 5
        values[own, unit] = generator.integers(1, 4, 2)
    systems, documents = [f"S{unit // 20}" for unit in range(40)], np.arange(40) % 20
    assert not rater_severity(values, [1, 2, 3], systems, documents, list("abcdefghij")).same_raters


@pytest.mark.oracle("jackknife of documents, model refitted", of="rater_severity", within=0.02)
def test_model_misfit_matches_the_jackknife() -> None:
    values, systems, documents = Panel(documents=30, systems=3).values(np.random.default_rng(4))
    values[2, ::2] = np.random.default_rng(5).integers(1, 6, values.shape[1] // 2)

    def fitted(kept: np.ndarray) -> severity.SeverityFit:
        rated = RatedPoints.of(
            values[:, kept], [1, 2, 3, 4, 5], np.array(systems)[kept].tolist(), documents[kept]
        )
        fit = severity.fit_severities(rated, severity.PENALTY, 0.95)
        assert fit is not None
        return fit

    def moments(fit: severity.SeverityFit) -> np.ndarray:
        means = fit.likelihood.mean_residuals(fit.parameters).sum(axis=0)
        return np.concatenate([means, fit.likelihood.excess_squares(fit.parameters).mean(axis=0)])

    fit = fitted(documents >= 0)
    without = np.array([moments(fitted(documents != each)) for each in range(30)])
    errors = np.sqrt(29 / 30 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    expected = 2 * scipy.stats.t.sf(np.abs(moments(fit)) / errors, 29)
    found = severity_misfit(fit.likelihood, fit.parameters, fit.inverse)
    assert list(found.p_values) == pytest.approx(expected, abs=0.02)
    model = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert model.misfit_p_value == min(each for each in found.adjusted if each is not None) < 0.05
    assert model.finds_misfit()


def test_system_with_one_value_or_raters_by_chance_have_no_p_value() -> None:
    values, systems, documents = Panel(documents=20, systems=3).values(np.random.default_rng(4))
    values[:, np.array(systems) == "S0"] = 5
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert [each.adjusted_p_value is None for each in found.systems] == [True, False, False]
    assert not found.finds_misfit()
    by_chance = np.random.default_rng(12).integers(1, 4, (3, 40)).astype(float)
    by_chance[2] = 4 - by_chance[0]  # the spread of units ends at its bound
    systems, documents = [f"S{index % 2}" for index in range(40)], np.repeat(np.arange(10), 4)
    found = rater_severity(by_chance, [1, 2, 3], systems, documents, ["A", "B", "C"])
    assert [each.adjusted_p_value for each in found.systems] == [None, None]
    assert all(each.adjusted_p_value is not None for each in found.raters)


def test_misfit_needs_a_difference_that_two_decimals_show() -> None:
    values, systems, documents = panel(4)
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    system = replace(found.systems[0], mean=3.0, expected=3.004, adjusted_p_value=1e-9)
    assert not replace(found, systems=(system,), raters=()).finds_misfit()
    assert replace(found, systems=(replace(system, expected=3.006),), raters=()).finds_misfit()


def test_intervals_of_fair_means_end_where_the_scale_does() -> None:
    values, systems, documents = Panel(documents=5, systems=2, means=(3.0, 6.0)).values(
        np.random.default_rng(3)
    )
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["a", "b", "c"])
    high = [each.fair.high for each in found.systems]
    assert max(high) == 5
    assert min(each.fair_mean.low for each in found.raters) >= 1


def test_without_differences_of_units_the_spread_at_its_bound_has_no_variance() -> None:
    # Raters who go each by chance vary on a unit as much as between units.
    generator = np.random.default_rng(12)
    values = generator.integers(1, 4, (3, 40)).astype(float)
    values[2] = 4 - values[0]
    documents = np.repeat(np.arange(10), 4)
    fit = severity.fit_severities(RatedPoints.of(values, [1, 2, 3], ["S"] * 40, documents), 0.25, 0.95)
    assert fit is not None
    assert fit.parameters[-1] == -5
    assert not fit.covariance[-1].any()
    assert not fit.covariance[:, -1].any()
    assert (np.diag(fit.covariance)[:4] > 0).all()
    assert np.diag(fit.covariance).max() < 1


def test_a_search_that_does_not_end_gives_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(severity, "_STEPS", 2)
    values, systems, documents = panel(4)
    found = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert found.reason == "The search for the most likely severities did not end, so none are given."
    assert (found.raters, found.systems, found.spread) == ((), (), None)


def test_intervals_hold_and_fit_is_one_where_the_model_is_true() -> None:
    severities, fair, fit = held_severities(Panel(documents=15, systems=4), 40)
    assert severities > 0.87
    assert fair > 0.85
    assert 0.9 < fit < 1.1


def test_true_model_is_rarely_said_not_to_fit() -> None:
    assert found_misfits(Panel(documents=15, systems=4), 40) <= 0.15
    assert found_misfits(Panel(documents=15, systems=4), 5, spoilt="rater") >= 0.6


@pytest.mark.parametrize(
    ("values", "points", "reason"),
    [
        ([[1.0] * 6, [np.nan] * 6], [1, 2], "Fewer than two raters gave values."),
        ([[1.0, 2, 1, 2], [1, 1, 2, 2]], [1, 2], "There are values on 4 documents; 5 are needed."),
        ([[1.0] * 6, [1.0] * 6], [1, 2], "Every value is the same."),
        (
            [[1.0, 2] * 3, [1.0] * 6],
            list(range(1, 101)),
            "The scale has 100 points; the model takes 11 at most.",
        ),
    ],
)
def test_inestimable_severity_has_a_reason(values: list[list[float]], points: list[int], reason: str) -> None:
    table = np.array(values)
    documents = np.arange(table.shape[1])
    assert why_not_severity(table, points, documents) == reason
    with pytest.raises(ValueError, match=reason):
        rater_severity(table, points, ["A"] * table.shape[1], documents, ["A", "B"])


def test_only_the_rater_with_growing_severity_is_detected() -> None:
    generator = np.random.default_rng(4)
    kind = Panel(documents=60, systems=6)
    times = np.array([generator.permutation(60).repeat(6) for _ in range(3)])
    moved = np.zeros(times.shape)
    moved[2] = 1.2 * (times[2] * 3 // 60)
    values, systems, documents = kind.values(generator, moved)
    found = severity_drift(values, times.astype(float), [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert [(each.adjusted_p_value or 0) < 0.001 for each in found] == [False, False, True]
    change = found[2].change
    assert change is not None
    assert change.low < 2.4 < change.high
    assert change.value == pytest.approx(found[2].by_third[2].value - found[2].by_third[0].value)


def test_missing_times_or_too_short_a_span_has_a_reason() -> None:
    values, systems, documents = Panel(documents=18, systems=3).values(np.random.default_rng(2))
    times = np.tile(np.arange(values.shape[1], dtype=float), (3, 1))
    times[1] = np.nan
    times[2, 2:] = np.nan
    first, second, third = severity_drift(values, times, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"])
    assert first.change is not None
    for each in (second, third):
        assert each.reason == "A third of the rater’s time has no value with a time."


def test_change_without_variance_has_no_p_value(monkeypatch: pytest.MonkeyPatch) -> None:
    values, systems, documents = Panel(documents=18, systems=3).values(np.random.default_rng(2))
    times = np.tile(np.arange(values.shape[1], dtype=float), (3, 1))

    def fit_without_variance(*given: Any) -> severity.SeverityFit:
        fit = severity.fit_severities(*given)
        assert fit is not None
        fit.covariance[:] = 0
        return fit

    monkeypatch.setattr(drift, "fit_severities", fit_without_variance)
    for each in severity_drift(values, times, [1, 2, 3, 4, 5], systems, documents, ["A", "B", "C"]):
        assert each.change is not None
        assert (each.p_value, each.adjusted_p_value, each.reason) == (None, None, NO_VARIANCE)


@pytest.mark.oracle("simulation, share of intervals that cover", of="severity_drift")
@pytest.mark.parametrize("kind", [Panel(18), Panel(18, drift=0.8)])
def test_intervals_of_changes_hold(kind: Panel) -> None:
    held, rejected = held_drifts(kind, 25)
    assert held >= 0.85  # of 75: standard error .025
    assert rejected <= 0.15
