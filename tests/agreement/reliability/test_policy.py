"""The paper's rule on one cell: above r the judge, otherwise and whenever unsure humans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import Coefficient, Interval, spearman
from agreement.comparison import Scores
from agreement.reliability import CellDecision, DecidedBy, IndicatorRule, decide, indicator


def r_of(value: float, low: float | None = None) -> Coefficient:
    found = spearman([1, 2, 3], [1, 3, 2])
    interval = None if low is None else Interval(low, 1, "bootstrap", 0.95)
    reason = None if interval else "No interval was asked for."
    return Coefficient("r", "R", value, found.counts, "", interval=interval, interval_reason=reason)


def decided(indicator: Coefficient, thresholds=0.4, by=DecidedBy.LOWER_BOUND) -> CellDecision:
    return decide(IndicatorRule(thresholds, by), "A", "fluency", indicator)


def test_the_bound_decides_by_default() -> None:
    decision = decided(r_of(0.5, low=0.35))
    assert decision.to_humans
    assert decision.held_against == 0.35
    assert decision.reason == "The lower bound of R is 0.350, not above 0.4: humans rate these units."
    kept = decided(r_of(0.5, low=0.41))
    assert not kept.to_humans
    assert kept.reason == "The lower bound of R is 0.410, above 0.4: the judge rates these units."


def test_estimate_decides_if_the_rule_requires_it() -> None:
    assert not decided(r_of(0.5), by=DecidedBy.ESTIMATE).to_humans
    assert decided(r_of(0.4), by=DecidedBy.ESTIMATE).to_humans  # R <= r goes to humans


def test_each_dimension_may_have_its_own_threshold() -> None:
    assert decided(r_of(0.5, low=0.45), thresholds={"fluency": 0.5, "relevance": 0.1}).to_humans
    unnamed = decided(r_of(0.9, low=0.8), thresholds={"relevance": 0.1})
    assert unnamed.to_humans
    assert unnamed.threshold is None
    assert unnamed.reason == "The rule names no threshold for this dimension, so humans rate it."


def test_without_a_bound_humans_rate() -> None:
    decision = decided(r_of(0.9))
    assert decision.to_humans
    assert decision.held_against is None
    assert decision.reason.startswith("R has no lower bound, so humans rate these units: ")


@pytest.mark.parametrize(
    ("rts", "mcq", "because"),
    [
        ([1, 2, 3, 4], [np.nan] * 4, "The other judge has no value for these items yet."),
        ([np.nan] * 4, [1, 2, 3, 4], "The judge has no value for these items yet."),
        ([1, 2, np.nan, np.nan], [1, 2, 3, 4], "Only 2 items of this system have both values"),
        ([5, 5, 5, 5], [1, 2, 3, 4], "Every value of the judge is 5"),
        ([1, np.nan, 3, np.nan], [np.nan, 2, np.nan, 4], "No item of this system has both"),
    ],
)
def test_units_whose_indicator_is_undefined_go_to_humans_with_the_reason(rts, mcq, because) -> None:
    table = Scores(systems=["A"] * 4, documents=range(4), human=np.empty((0, 4)), judge=rts)
    found = indicator(table, mcq, spearman, generator=np.random.default_rng(1))[0].coefficient
    decision = decided(found, thresholds=-1)
    assert decision.to_humans
    assert because in decision.reason


def test_full_agreement_of_few_items_has_no_bound() -> None:
    values = [1, 2, 3, 4]
    table = Scores(systems=["A"] * 4, documents=range(4), human=np.empty((0, 4)), judge=values)
    found = indicator(table, values, spearman, generator=np.random.default_rng(1))[0].coefficient
    assert decided(found).to_humans
    assert not decided(found, by=DecidedBy.ESTIMATE).to_humans


@given(value=st.floats(-1, 1), r=st.floats(-1, 1), stricter=st.floats(-1, 1))
def test_a_higher_r_never_sends_fewer_units_to_humans(value: float, r: float, stricter: float) -> None:
    low, high = sorted((r, stricter))
    if decided(r_of(value, low=value), thresholds=low).to_humans:
        assert decided(r_of(value, low=value), thresholds=high).to_humans


def test_a_threshold_is_a_correlation() -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        IndicatorRule(1.5)
    with pytest.raises(ValueError, match="between -1 and 1"):
        IndicatorRule({"fluency": float("nan")})
