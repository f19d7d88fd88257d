"""Differences of systems with raters as a sample: by hand, beside dense matrices, and in simulations."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from agreement import CrossedModelError, SystemDifference, system_differences
from agreement.crossed import CrossedDifferences, crossed_differences, why_not_crossed
from agreement.crossed_fit import ErrorVariances, fit_by_mean_squares, fit_by_reml
from benchmarks.coverage_crossed import Panel, crossed_model
from tests.agreement.dense_mixed_model import criterion, simulated

pytestmark = pytest.mark.fast

DEVIATIONS = (0.3, 0.4, 0.4, 0.3, 0.5, 0.6)


def of_two_systems(first_minus_second: list[list[float]]) -> tuple[CrossedDifferences, SystemDifference]:
    """The model of two systems whose differences (raters, documents) are given."""
    first = np.array(first_minus_second, dtype=float)
    found = crossed_differences(np.stack([first + 1, np.ones_like(first)], axis=2), ["A", "B"])
    return found, found.differences[0]


@pytest.mark.oracle("fraction worked by hand", of="crossed_differences", within=1e-06)
def test_two_raters_and_three_documents_by_hand() -> None:
    # Differences of mean 2: MS of raters 6, of documents 3/2, error 1/2. Var = (6 + 3/2 - 1/2) / 6 = 7/6 with
    # (6 + 3/2 - 1/2)^2 / (36 / 1 + 9/4 / 2 + 1/4 / 2) = 49 / 37.25 degrees of freedom. Scores have half the
    # mean squares of differences: variances (3 - 1/4) / 3, (3/4 - 1/4) / 2 and 1/4.
    found, pair = of_two_systems([[4, 2, 3], [2, 1, 0]])
    assert vars(found.variances) == pytest.approx(
        {"rater_by_system": 11 / 12, "document_by_system": 1 / 4, "residual": 1 / 4}
    )
    t = scipy.stats.t(49 / 37.25)
    assert pair.value == pytest.approx(2)
    assert pair.p_value == pytest.approx(2 * t.sf(2 / np.sqrt(7 / 6)))
    assert [pair.low, pair.high] == pytest.approx(
        [2 - t.ppf(0.975) * np.sqrt(7 / 6), 2 + t.ppf(0.975) * np.sqrt(7 / 6)]
    )
    assert (found.systems, found.raters, found.documents) == (2, 2, 3)


def test_zero_rater_variance_leaves_the_paired_t_test() -> None:
    differences = [[4.0, 0, 2], [3.0, 1, 2]]  # means 2 and 2: the raters' mean square is 0
    found, pair = of_two_systems(differences)
    assert found.variances.rater_by_system == 0
    mean = np.array(differences).mean(axis=0)
    (paired,) = system_differences(np.stack([mean, np.zeros(3)], axis=1), ["A", "B"])
    assert [pair.low, pair.high, pair.p_value] == pytest.approx([paired.low, paired.high, paired.p_value])


def test_zero_rater_and_document_variance_leaves_the_residual() -> None:
    found, pair = of_two_systems([[2, 0, 1], [0, 2, 1]])  # all marginal means 1, error 4 / 2
    assert (found.variances.rater_by_system, found.variances.document_by_system) == (0, 0)
    assert pair.p_value == pytest.approx(2 * scipy.stats.t(2).sf(1 / np.sqrt(2 / 6)))


@pytest.mark.oracle(
    "package SciPy 1.17.1, likelihood of dense matrices", of="crossed_differences", within=0.01
)
@pytest.mark.parametrize(
    ("seed", "size", "gaps"), [(1, (3, 6, 3), 0.2), (4, (4, 5, 3), 0.35), (3, (3, 5, 3), 0.0)]
)
def test_the_restricted_likelihood_is_as_large_as_dense_matrices_can_make_it(
    seed: int, size: tuple[int, int, int], gaps: float
) -> None:
    values = simulated(seed, *size, DEVIATIONS, gaps)
    fit, dense = fit_by_reml(values), criterion(values)
    deviance, means, covariance = dense(fit.components)
    assert fit.means == pytest.approx(means)
    assert fit.covariance == pytest.approx(covariance)

    def deviance_at(tried: np.ndarray) -> float:
        return dense(np.abs(tried))[0]

    best = scipy.optimize.fmin(
        deviance_at,
        np.full(6, 0.2),
        maxfun=3_000,
        xtol=1e-7,
        ftol=1e-10,
        disp=False,
    )
    assert deviance <= deviance_at(best) + 1e-8
    assert fit.components == pytest.approx(np.abs(best), abs=1e-2)


def with_all_variances() -> np.ndarray:
    """Complete values on which mean squares give a variance above 0 for each part of the model."""
    return simulated(0, 6, 20, 4, (0.6, 0.5, 0.8, 0.5, 0.5, 0.6), 0.0)


def test_without_gaps_both_ways_agree() -> None:
    values = with_all_variances()
    fit, squares = fit_by_reml(values), fit_by_mean_squares(values)
    assert (fit.components > 0).all()
    assert vars(fit.variances) == pytest.approx(vars(squares.variances), rel=1e-5)
    for pair in ((0, 1), (2, 3)):
        assert fit.difference(*pair) == pytest.approx(squares.difference(*pair), rel=1e-4)


def test_variance_derivatives_match_dense_matrices() -> None:
    """The degrees of freedom rest on them: 2 v^2 / (g' (2 / information) g)."""
    values = simulated(5, 3, 8, 3, DEVIATIONS, 0.2)
    fit, dense = fit_by_reml(values), criterion(values)
    active = np.flatnonzero(fit.components)
    contrast = np.array([1.0, -1, 0])

    def of(variances: np.ndarray) -> float:
        return float(contrast @ dense(variances)[2] @ contrast)

    steps = [np.where(np.arange(6) == each, 1e-3 * fit.components, 0) for each in active]
    slopes = [(of(fit.components + h) - of(fit.components - h)) / (2 * h.sum()) for h in steps]
    assert fit.slopes @ contrast @ contrast == pytest.approx(slopes, rel=1e-4)
    second = [
        [
            (
                dense(fit.components + h + k)[0]
                - dense(fit.components + h - k)[0]
                - dense(fit.components - h + k)[0]
                + dense(fit.components - h - k)[0]
            )
            / (4 * h.sum() * k.sum())
            for k in steps
        ]
        for h in steps
    ]
    assert fit.information == pytest.approx(np.array(second), rel=1e-2, abs=1e-2 * np.abs(second).max())


def test_the_unit_of_the_scale_changes_nothing_else() -> None:
    values = simulated(1, 3, 8, 3, DEVIATIONS, 0.2)
    one, hundred = (crossed_differences(scaled, ["A", "B", "C"]) for scaled in (values, 100 * values + 7))
    for each, other in zip(one.differences, hundred.differences, strict=True):
        assert other.value == pytest.approx(100 * (each.value or 0), rel=1e-6)
        assert other.p_value == pytest.approx(each.p_value, rel=1e-4)


def test_a_rating_that_is_missing_matters_little() -> None:
    values = with_all_variances()
    names = ["A", "B", "C", "D"]
    whole = crossed_differences(values, names)
    values[0, 0, 0] = np.nan
    part = crossed_differences(values, names)
    assert part.method != whole.method
    for each, other in zip(part.differences, whole.differences, strict=True):
        assert each.value == pytest.approx(other.value, abs=0.05)
        assert (each.high or 0) - (each.low or 0) == pytest.approx(
            (other.high or 0) - (other.low or 0), rel=0.05
        )


def test_a_pair_with_few_documents_in_common_has_no_interval() -> None:
    values = simulated(2, 3, 8, 3, DEVIATIONS, 0.0)
    values[:, 2:, 2] = np.nan
    found = {(each.first, each.second): each for each in crossed_differences(values, "ABC").differences}
    assert found["A", "B"].p_value is not None
    assert (found["A", "C"].p_value, found["A", "C"].documents) == (None, 2)
    assert found["A", "C"].reason == "Only 2 documents were rated for both; 3 or more are needed."


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        (np.s_[:1], "Fewer than two raters gave values."),
        (np.s_[:, :2], "Two raters rated the same items on 2 documents; 3 are needed."),
        (np.s_[:, :, :1], "Fewer than two systems have values."),
    ],
)
def test_inestimable_rater_differences_have_a_reason(kept: tuple[slice, ...], reason: str) -> None:
    values = simulated(2, 3, 8, 3, DEVIATIONS, 0.0)
    part = np.full_like(values, np.nan)
    part[kept] = values[kept]
    assert why_not_crossed(part) == reason
    assert why_not_crossed(values) == ""
    with pytest.raises(ValueError, match=reason[:20]):
        crossed_differences(part, "ABC")


def test_raters_without_a_common_item_give_no_comparison() -> None:
    values = simulated(2, 2, 8, 2, DEVIATIONS, 0.0)
    values[0, ::2], values[1, 1::2] = np.nan, np.nan
    assert why_not_crossed(values) == "Two raters rated the same items on 0 documents; 3 are needed."


def test_raters_of_one_mind_leave_nothing_to_a_model() -> None:
    values = np.broadcast_to([1.0, 2.0], (2, 5, 2))
    assert why_not_crossed(values) == "Every rater gives the same differences on every document."


@pytest.mark.parametrize(
    "effects",
    [np.zeros((3, 5, 1)), np.arange(15).reshape(3, 5, 1) % 4],
    ids=["constant", "rater on document"],
)
@pytest.mark.parametrize("systems", [[1.0, 1, 1], [1.0, 2, 4]], ids=["equal systems", "unequal systems"])
def test_values_without_error_and_with_a_gap_have_a_reason(effects: np.ndarray, systems: list[float]) -> None:
    values = effects + np.array(systems)
    values[1, 2, 0] = np.nan
    assert why_not_crossed(values) == "Every rater gives the same differences on every document."


def test_gap_in_values_without_residual_leaves_raters_test() -> None:
    """Each rater gives one difference on all documents, so the model tests these differences."""
    of_raters = np.array([[1.0, 2], [3, 3], [5, 4], [2, 5]])
    values = np.broadcast_to(of_raters[:, None], (4, 6, 2)).copy()
    values[0, 0, 0] = np.nan
    (pair,) = crossed_differences(values, "AB").differences
    differences = of_raters[:, 0] - of_raters[:, 1]
    assert pair.value == pytest.approx(differences.mean(), abs=1e-4)
    assert pair.p_value == pytest.approx(scipy.stats.ttest_1samp(differences, 0).pvalue, abs=1e-3)


def test_small_panels_have_finite_intervals_or_a_reason() -> None:
    """Few values on few levels reach the ends of the search, such as a residual of 0."""
    generator = np.random.default_rng(29)
    reasons = 0
    for _ in range(60):
        size = generator.integers((2, 3, 2), (5, 9, 4))
        shape = [each if generator.random() < 0.7 else 1 for each in size]
        values = np.zeros(size) + generator.integers(0, 3, size=shape)
        values[generator.random(size) < 0.1] = np.nan
        try:
            found = crossed_differences(values, "ABCD"[: size[2]]).differences
        except CrossedModelError:
            reasons += 1
            continue
        for each in found:
            numbers = np.array([each.value, each.low, each.high, each.p_value], dtype=float)
            assert np.isfinite(numbers).all() if each.p_value is not None else each.reason
    assert 0 < reasons < 60


def test_too_many_raters_with_gaps_are_rejected() -> None:
    values = simulated(3, 300, 3, 3, DEVIATIONS, 0.1)
    assert "at most 400 pairs" in why_not_crossed(values)


def test_smallest_difference_is_detected_with_its_power() -> None:
    variances, size = ErrorVariances(0.04, 0.03, 0.16), (13, 3, 32)
    difference = variances.smallest_difference(*size, significance_level=0.01)
    freedom = variances.degrees_of_freedom(*size)
    shift = difference / np.sqrt(variances.of_difference(3, 32))
    power = scipy.stats.nct(freedom, shift).sf(scipy.stats.t(freedom).ppf(0.995))
    assert power == pytest.approx(0.8, abs=1e-4)
    more_raters = variances.smallest_difference(13, 6, 32, significance_level=0.01)
    more_documents = variances.smallest_difference(13, 3, 64, significance_level=0.01)
    assert more_raters < more_documents < difference


def test_resampled_panel_is_no_system_difference() -> None:
    """Of true nulls 5 % are rejected by the model, far more where raters count as all there are."""
    crossed, paired = crossed_model(Panel(), 250)
    assert 0.03 < crossed < 0.07
    assert paired > 0.15
