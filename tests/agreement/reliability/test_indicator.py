"""R, P, Q, M and what R tells, on systems small enough to see through."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from agreement import Resampling, kendall_tau_b, mean_absolute_error, pearson, spearman
from agreement.comparison import CORRELATIONS, Scores
from agreement.reliability import agreement_with_humans, expected_interval, indicator, reliability, validity
from agreement.reliability.indicator import with_interval_of_documents

GAP = float("nan")
RTS = [[1, 2, 3, 4], [4, 1, 3, 2], [5, 5, 5, 5], [2, 3, 1, 4]]
MCQ = [[1, 2, 4, 3], [1, 4, 2, 3], [1, 2, 3, 4], [2, 3, 1, 4]]
PEOPLE = [[1, 3, 2, 4], [4, 3, 1, 2], [2, 3, 4, 5], [3, 3, 2, 5]]
NAMES = ["A", "B", "C", "D"]
ORACLES: dict[str, Any] = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall_tau_b": stats.kendalltau,
}


def scores(people: Any = PEOPLE, rts: Any = RTS) -> Scores:
    items = len(rts[0])
    return Scores(
        systems=np.repeat(NAMES[: len(rts)], items),
        documents=np.tile(np.arange(items), len(rts)),
        human=np.empty((0, len(rts) * items)) if people is None else [np.ravel(people)],
        judge=np.ravel(rts),
    )


@pytest.mark.oracle("NumPy 2.4.6, corrcoef", of="indicator", within=1e-06)
def test_each_system_has_its_indicator_or_a_reason() -> None:
    found = indicator(scores(), np.ravel(MCQ), pearson)
    assert [each.system for each in found] == NAMES
    expected = [np.corrcoef(RTS[index], MCQ[index])[0, 1] for index in (0, 1, 3)]
    assert [found[index].coefficient.value for index in (0, 1, 3)] == pytest.approx(expected)
    assert found[2].coefficient.reason == (
        "Every value of the judge is 5; a correlation needs values that differ."
    )


def test_indicator_needs_no_human_scores_and_gives_reasons_otherwise() -> None:
    found = reliability(scores(people=None), np.ravel(MCQ), spearman)
    assert found.systems[0].indicator.value == pytest.approx(0.8)
    assert found.systems[0].items == 4
    assert found.systems[0].rated == 0
    assert found.systems[0].agreement.reason == "No person has rated these items yet."
    assert found.systems[0].quality.reason == "No person has rated these items yet."
    assert found.meta_correlation.value is None
    assert found.validity.correlation.value is None
    assert found.validity.p_value_reason == "The correlation is undefined."
    assert found.agreement_spread is None


def test_m_resamples_documents_and_recomputes_everything() -> None:
    generator = np.random.default_rng(4)
    quality = generator.integers(1, 6, (5, 30)).astype(float)
    judge = np.clip(quality + generator.integers(-2, 3, (5, 30)), 1, 5)
    judge[0, :4], quality[1, 3:6] = GAP, GAP
    table = Scores(
        systems=np.repeat([*NAMES, "E"], 30),
        documents=np.tile(np.arange(30), 5),
        human=[quality.ravel()],
        judge=judge.ravel(),
    )
    plan = Resampling(by="documents", replicates=100)
    found = reliability(table, judge.ravel(), pearson).meta_correlation
    resampled = with_interval_of_documents(found, table, pearson, np.random.default_rng(9), plan)
    draws = np.random.default_rng(9).integers(30, size=(100, 30))
    expected = []
    for draw in draws:
        chosen = np.sort(draw)
        sides = []
        for human, values in zip(quality[:, chosen], judge[:, chosen], strict=True):
            both = ~np.isnan(human) & ~np.isnan(values)
            sides.append((stats.pearsonr(human[both], values[both]).statistic, np.nanmean(human)))
        expected.append(stats.pearsonr(*np.transpose(sides)).statistic)
    assert resampled.value == found.value
    assert resampled.interval is not None
    assert [resampled.interval.low, resampled.interval.high] == pytest.approx(
        list(np.quantile(expected, [0.025, 0.975]))
    )


def test_two_items_are_always_collinear() -> None:
    gaps = [[1, 2, GAP, GAP], *RTS[1:]]
    found = indicator(scores(rts=gaps), np.ravel(MCQ), spearman, generator=np.random.default_rng(1))
    assert found[0].coefficient.value is None
    assert found[0].coefficient.interval is None
    assert found[0].coefficient.reason == (
        "Only 2 items of this system have both values; 3 are needed, and a bound needs more."
    )


def test_systems_with_two_items_leave_the_indicator_unvalidated() -> None:
    gaps = [[1, 2, GAP, GAP], *RTS[1:]]
    assert validity(scores(), np.ravel(MCQ), spearman).systems == 3
    assert validity(scores(rts=gaps), np.ravel(MCQ), spearman).systems == 2
    everywhere = [[1, 2, GAP, GAP], [2, 1, GAP, GAP]]
    few = scores(people=PEOPLE[:2], rts=everywhere)
    assert validity(few, np.ravel(MCQ[:2]), spearman).correlation.reason == (
        "No system has 3 items with all the values that this needs."
    )
    assert reliability(few, np.ravel(MCQ[:2]), spearman).meta_correlation.reason == (
        "No system has 3 items with all the values that this needs."
    )


def test_missing_values_of_the_other_method_leave_results_undefined() -> None:
    found = reliability(scores(), np.full(16, GAP), spearman)
    reasons = {each.indicator.reason for each in found.systems}
    assert reasons == {"The other judge has no value for these items yet."}
    assert found.indicator_spread is None
    assert found.validity.p_value is None


def test_two_systems_have_no_p_value() -> None:
    found = validity(scores(PEOPLE[:2], RTS[:2]), np.ravel(MCQ[:2]), spearman)
    assert found.p_value is None
    assert found.p_value_reason == "A p value needs 3 systems, but 2 have both."


@pytest.mark.oracle("package SciPy 1.17.1, pearsonr, spearmanr and kendalltau", of="validity", within=1e-09)
@pytest.mark.parametrize("name", ORACLES)
def test_p_value_matches_scipy(name: str) -> None:
    generator = np.random.default_rng(5)
    quality = generator.normal(size=(9, 30))
    rts, mcq, people = (
        quality + generator.normal(size=(9, 30)) * generator.uniform(0.2, 2, (9, 1)) for _ in range(3)
    )
    table = Scores(
        systems=np.repeat(np.arange(9), 30),
        documents=np.tile(np.arange(30), 9),
        human=[np.ravel(people)],
        judge=np.ravel(rts),
    )
    correlate = ORACLES[name]
    r = [correlate(*pair)[0] for pair in zip(rts, mcq, strict=True)]
    p = [correlate(*pair)[0] for pair in zip(rts, people, strict=True)]
    found = validity(table, np.ravel(mcq), CORRELATIONS[name])
    expected = correlate(r, p)
    assert found.systems == 9
    assert found.correlation.value == pytest.approx(expected[0], abs=1e-9)
    assert found.p_value == pytest.approx(expected[1], abs=1e-9)


def test_few_systems_in_full_order_are_weak_evidence() -> None:
    # R is .8, 1, 0 and so is P: one of the 3! orders, and its mirror image
    rts = [[1, 2, 3, 4]] * 3
    other = [[1, 2, 4, 3], [1, 2, 3, 4], [2, 4, 1, 3]]
    found = validity(scores(other, rts), np.ravel(other), spearman)
    assert found.correlation.value == pytest.approx(1)
    assert found.p_value == pytest.approx(2 / 6)


def test_spread_covers_the_defined_values() -> None:
    found = reliability(scores(), np.ravel(MCQ), spearman)
    values = [0.8, -1.0, 1.0]
    assert found.indicator_spread is not None
    assert found.indicator_spread.systems == 3
    assert found.indicator_spread.median == pytest.approx(np.median(values))
    assert (found.indicator_spread.smallest, found.indicator_spread.largest) == pytest.approx((-1, 1))


def test_the_same_seed_gives_the_same_intervals() -> None:
    generator = np.random.default_rng(8)
    values = generator.integers(1, 6, (2, 60)).astype(float)
    table = Scores(systems=["A"] * 60, documents=range(60), human=np.empty((0, 60)), judge=values[0])
    first, second = (
        indicator(table, values[1], spearman, generator=np.random.default_rng(3))[0].coefficient
        for _ in range(2)
    )
    assert first.interval is not None
    assert first == second
    assert first.interval.low < (first.value or 0) < first.interval.high


@pytest.mark.oracle("Bonett and Wright 2000", of="expected_interval", within=0.0005)
@pytest.mark.parametrize(("items", "low", "high"), [(100, 0.269, 0.600), (30, 0.089, 0.707)])
def test_the_interval_to_expect_of_a_spearman_of_45(items: int, low: float, high: float) -> None:
    interval = expected_interval(0.45, items, spearman)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-4)


def test_undefined_expected_interval_is_rejected() -> None:
    with pytest.raises(ValueError, match="5 items"):
        expected_interval(0.5, 4, pearson)
    with pytest.raises(ValueError, match="between -1 and 1"):
        expected_interval(1, 40, pearson)
    with pytest.raises(ValueError, match="not a correlation"):
        expected_interval(0.5, 40, mean_absolute_error)
    narrow, wide = (expected_interval(0.5, items, kendall_tau_b) for items in (400, 40))
    assert wide.low < narrow.low < 0.5 < narrow.high < wide.high


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.oracle(
    "package SciPy 1.17.1, pearsonr, spearmanr and kendalltau", of="agreement_with_humans", within=1e-12
)
def test_human_agreement_of_each_system_matches_scipy(name: str) -> None:
    found = agreement_with_humans(scores(), CORRELATIONS[name])
    expected = [ORACLES[name](RTS[index], PEOPLE[index])[0] for index in (0, 1, 3)]
    values = [found[index].coefficient.value for index in (0, 1, 3)]
    assert values == pytest.approx(expected, abs=1e-12)
    assert found[2].coefficient.value is None
