"""Correlations and differences between two arrays, against SciPy and by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from agreement import (
    MEASURES,
    PairMeasure,
    ReliabilityData,
    Resampling,
    between_raters,
    bias,
    kendall_tau_b,
    mean_absolute_error,
    mean_values,
    pearson,
    root_mean_squared_error,
    spearman,
    values_within_documents,
    with_mean,
    within_documents,
)
from agreement.measures import correlations_of_rows, pair_data, units_with_both
from tests.agreement.tables import GAP, ratings

ORACLES = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_tau_b": lambda x, y: stats.kendalltau(x, y).statistic,
}


def oracle(name: str, x: np.ndarray, y: np.ndarray) -> float | None:
    """SciPy's value over units with both; None where it is not defined."""
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        return None
    return float(ORACLES[name](x, y))


points = st.sampled_from([GAP, 1.0, 2.0, 3.0, 4.0, 5.0])
decimals = st.one_of(st.just(GAP), st.integers(-500, 500).map(lambda number: number / 8))


@pytest.mark.oracle(
    "package SciPy 1.17.1, random tables", of=("pearson", "spearman", "kendall_tau_b"), within=1e-10
)
@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("cells", [points, decimals], ids=["five points", "many values"])
def test_correlations_agree_with_scipy(name: str, cells: st.SearchStrategy) -> None:
    @settings(max_examples=60, deadline=None)
    @given(arrays.arrays(float, st.tuples(st.just(2), st.integers(2, 30)), elements=cells))
    def agrees(table: np.ndarray) -> None:
        value, expected = MEASURES[name](*table).value, oracle(name, *table)
        assert (value is None) == (expected is None)
        if expected is not None:
            assert value == pytest.approx(expected, abs=1e-10)

    agrees()


@pytest.mark.parametrize("name", ORACLES)
def test_many_distinct_pairs_go_through_in_blocks(name: str) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 2500))
    assert MEASURES[name](x, x + y).value == pytest.approx(oracle(name, x, x + y), abs=1e-12)


def test_a_large_offset_does_not_hurt_pearson() -> None:
    x = np.array([1.0, 2.0, 3.0, 5.0])
    assert pearson(x + 1e9, x**2).value == pytest.approx(oracle("pearson", x, x**2), abs=1e-12)


@pytest.mark.oracle(
    "fraction worked by hand",
    of=("root_mean_squared_error", "mean_absolute_error", "bias", "rmse", "mae"),
    within=1e-15,
)
@pytest.mark.parametrize(
    ("measure", "expected"),
    [(root_mean_squared_error, (5 / 3) ** 0.5), (mean_absolute_error, 1.0), (bias, 1 / 3)],
)
def test_differences_by_hand(measure: PairMeasure, expected: float) -> None:
    # differences 2, -1, 0; the last two units have a gap
    result = measure([3, 2, 4, GAP, 1], [1, 3, 4, 2, GAP])
    assert result.value == pytest.approx(expected, abs=1e-15)
    assert (result.counts.units, result.counts.pairable_units) == (5, 3)


def test_arrays_of_unequal_length_are_rejected() -> None:
    with pytest.raises(ValueError, match="Two lists of equal length are needed"):
        spearman([1, 2, 3], [1, 2])


def loop(
    oracle_of: Callable[[np.ndarray, np.ndarray], float | None],
    x: np.ndarray,
    y: np.ndarray,
    documents: np.ndarray,
) -> list[float | None]:
    return [oracle_of(x[documents == one], y[documents == one]) for one in np.unique(documents)]


@pytest.mark.oracle("package SciPy 1.17.1, a loop over documents", of="within_documents", within=1e-10)
@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(("documents", "units"), [(30, 200), (4, 1500), (300, 1200)])
def test_within_documents_agrees_with_a_loop(name: str, documents: int, units: int) -> None:
    generator = np.random.default_rng(documents)
    x, y = generator.integers(1, 4, (2, units)).astype(float)
    x[generator.random(units) < 0.1] = GAP
    labels = generator.integers(0, documents, units)
    expected = loop(lambda a, b: oracle(name, a, b), x, y, labels)
    each = values_within_documents(MEASURES[name], x, y, labels)
    assert [None if np.isnan(value) else pytest.approx(value, abs=1e-10) for value in each] == expected
    result = within_documents(MEASURES[name], x, y, labels)
    defined = [value for value in expected if value is not None]
    assert result.value == pytest.approx(np.mean(defined), abs=1e-12)
    assert result.counts.groups == len(expected)
    assert result.counts.undefined_groups == len(expected) - len(defined)


def test_a_mean_over_no_document_is_undefined() -> None:
    result = within_documents(spearman, [1, 1, 2, 2], [1, 2, 1, 2], ["a", "a", "b", "b"])
    assert result.value is None
    assert result.reason == (
        "Spearman's rho is undefined within each of the 2 documents: "
        "none has values that differ on both sides."
    )


def test_the_interval_of_a_mean_over_documents_resamples_documents() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=400)
    y = x + generator.normal(size=400)
    result = within_documents(pearson, x, y, np.arange(400) // 10, generator=generator)
    assert result.name == "pearson_within_documents"
    assert result.interval is not None
    assert result.interval.method == "percentile bootstrap of documents"
    each = values_within_documents(pearson, x, y, np.arange(400) // 10)
    error = np.std(each, ddof=1) / np.sqrt(40)
    half_width = (result.interval.high - result.interval.low) / 2
    assert half_width == pytest.approx(1.96 * error, rel=0.15)


TABLE = ratings([[1, 2, 3, 4], [2, 2, 3, GAP], [1, 4, 5, 5]])


def test_every_pair_of_raters_is_compared_once() -> None:
    compared = between_raters(TABLE, root_mean_squared_error)
    assert [(one.first, one.second) for one in compared] == [("1", "2"), ("1", "3"), ("2", "3")]
    squares = [one.coefficient.value**2 for one in compared if one.coefficient.value is not None]
    assert squares == pytest.approx([1 / 3, 9 / 4, 3], abs=1e-14)


def test_the_mean_skips_gaps() -> None:
    assert mean_values(TABLE.values) == pytest.approx([4 / 3, 8 / 3, 11 / 3, 4.5])
    assert np.isnan(mean_values(np.array([[GAP], [GAP]]))).all()


def test_each_rater_is_compared_with_the_mean_of_all_or_of_the_others() -> None:
    with_all = with_mean(TABLE, bias)
    assert [(one.first, one.second) for one in with_all] == [("mean", "1"), ("mean", "2"), ("mean", "3")]
    assert with_all[1].coefficient.value == pytest.approx((4 / 3 + 8 / 3 + 11 / 3 - 7) / 3)
    with_others = with_mean(TABLE, bias, of_others=True)
    assert with_others[1].coefficient.value == pytest.approx((1 + 3 + 4 - 7) / 3)


def test_comparisons_go_within_documents_when_asked() -> None:
    kendall = between_raters(TABLE, kendall_tau_b, within=["a", "a", "b", "b"])[1].coefficient
    assert kendall.value == pytest.approx(1.0)
    assert (kendall.counts.groups, kendall.counts.undefined_groups) == (2, 1)


def test_comparisons_have_intervals_by_units_or_documents() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(1, 6, 300)
    data = ReliabilityData(
        np.clip(truth + generator.integers(-1, 2, (2, 300)), 1, 5),
        measurement_level="ordinal",
        value_domain=range(1, 6),
        documents=np.arange(300) // 10,
    )
    for by in ("units", "documents"):
        compared = between_raters(data, spearman, generator=generator, resampling=Resampling(by=by))
        interval = compared[0].coefficient.interval
        assert interval is not None
        assert interval.method == f"percentile bootstrap of {by}"
    mean = with_mean(data, spearman, within=data.documents, generator=generator)[0].coefficient
    assert mean.interval is not None
    assert mean.value is not None
    assert mean.interval.low < mean.value < mean.interval.high


@pytest.mark.parametrize("measure", [pearson, spearman, kendall_tau_b])
def test_row_correlations_match_single_rows_with_ties_and_gaps(measure: PairMeasure) -> None:
    generator = np.random.default_rng(5)
    first, second = generator.integers(1, 6, (2, 40, 9)).astype(float)
    for side in (first, second):
        side[generator.random(side.shape) < 0.1] = GAP
    first[0] = 3
    found = correlations_of_rows(measure, first, second)
    assert np.isnan(found[0])
    for row in range(1, 40):
        expected = oracle(measure.estimator.name, first[row], second[row])
        assert found[row] == pytest.approx(expected, abs=1e-12)


def test_correlations_of_rows_are_of_correlations_only() -> None:
    with pytest.raises(ValueError, match="is not a correlation"):
        correlations_of_rows(bias, np.ones((1, 2)), np.ones((1, 2)))


@pytest.mark.parametrize("measure", [pearson, spearman, kendall_tau_b], ids=lambda each: each.estimator.name)
def test_resamples_without_a_unit_that_has_both_values_are_undefined(measure: PairMeasure) -> None:
    nothing_shared = pair_data([1, GAP], [GAP, 2])
    of_resamples = measure.estimator.statistic(units_with_both(nothing_shared))
    assert np.isnan(of_resamples(np.empty((2, 0)))).all()
