"""Entropy of a unit's values, raters' effects, and the share of severity in the variance within units."""

import numpy as np
import pytest
from scipy.stats import entropy, ttest_rel

from agreement import ReliabilityData, Resampling, Stream, normalised_entropy, rater_effects, severity_share
from agreement.data import FloatArray


def add_gaps() -> FloatArray:
    generator = np.random.default_rng(3)
    given = generator.integers(1, 5, (4, 60)) + np.array([[0], [0], [1], [2]])
    values: FloatArray = np.clip(given, 1, 5).astype(float)
    values[generator.random(values.shape) < 0.3] = np.nan
    return values


def data_of(values: np.ndarray) -> ReliabilityData:
    documents = np.arange(values.shape[1]) // 2
    domain = [1, 2, 3, 4, 5]
    return ReliabilityData(values, measurement_level="interval", value_domain=domain, documents=documents)


@pytest.mark.oracle("package SciPy 1.17.1, entropy", of="normalised_entropy", within=1e-06)
def test_entropy_matches_scipy_over_its_maximum() -> None:
    assert normalised_entropy(np.array([1.0, 5, 5]), 5) == pytest.approx(entropy([1, 2]) / np.log(3))
    # Seven values on five points are spread most evenly as 2, 2, 1, 1, 1.
    wanted = entropy([4, 3]) / entropy([2, 2, 1, 1, 1])
    assert normalised_entropy(np.array([1.0] * 4 + [2.0] * 3), 5) == pytest.approx(wanted)
    assert normalised_entropy(np.array([4.0, 4, 4]), 5) == 0
    assert normalised_entropy(np.array([1.0, 2, 3]), 5) == pytest.approx(1)
    assert normalised_entropy(np.array([3.0]), 5) == 0


@pytest.mark.oracle("least squares with dummies", of=("rater_effects", "severity_share"), within=1e-06)
def test_effects_and_share_match_least_squares_with_dummies() -> None:
    values = add_gaps()
    pairable = (~np.isnan(values)).sum(axis=0) >= 2
    rater, unit = np.nonzero(~np.isnan(values) & pairable)
    given = values[rater, unit]
    units = np.eye(values.shape[1])[unit]
    both = np.column_stack([units, np.eye(4)[rater]])
    rest = []
    for design in (units, both):
        found = np.linalg.lstsq(design, given)[0]
        rest.append(((given - design @ found) ** 2).sum() / (len(given) - np.linalg.matrix_rank(design)))
    effects = np.linalg.lstsq(both, given)[0][values.shape[1] :]
    assert rater_effects(values) == pytest.approx(effects - effects.mean())
    assert severity_share(data_of(values)).value == pytest.approx(1 - rest[1] / rest[0])


@pytest.mark.oracle("package SciPy 1.17.1, ttest_rel", of="severity_share", within=1e-06)
def test_share_of_two_raters_follows_from_the_paired_t_test() -> None:
    generator = np.random.default_rng(1)
    values = np.clip(generator.integers(1, 4, (2, 40)) + np.array([[0], [1]]), 1, 5).astype(float)
    t = ttest_rel(values[0], values[1]).statistic
    assert severity_share(data_of(values)).value == pytest.approx(1 - 40 / (t**2 + 39))


@pytest.mark.parametrize(("second", "share"), [([2, 3, 4, 5, 4, 3], 1.0), ([1, 4, 2, 4, 4, 1], 0.0)])
def test_share_is_one_for_a_constant_shift_and_zero_without_one(second: list[float], share: float) -> None:
    first = [1.0, 2, 3, 4, 3, 2]
    assert severity_share(data_of(np.array([first, second]))).value == pytest.approx(share)


def test_interval_resamples_documents_and_contains_the_share() -> None:
    found = severity_share(
        data_of(add_gaps()), generator=Stream(1), resampling=Resampling(by="documents", replicates=200)
    )
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    assert found.interval.method == "percentile bootstrap of documents"


def test_share_without_variation_or_of_many_raters_has_a_reason() -> None:
    equal = severity_share(data_of(np.full((3, 10), 4.0)))
    assert equal.value is None
    assert equal.reason is not None
    assert "no variance within units" in equal.reason
    many = severity_share(
        data_of(np.random.default_rng(1).integers(1, 6, (21, 30)).astype(float)), generator=Stream(1)
    )
    assert many.value is not None
    assert many.interval is None
    assert "more than 20 raters" in (many.interval_reason or "")
