"""A short form of benchmarks/routing.py: on real scores the guarantees hold, and what they keep is real."""

import pytest

from agreement.reliability import DecidedBy
from benchmarks.routing import (
    Cover,
    Setting,
    Splits,
    cover,
    papers_rule,
    try_splits,
)
from tests.published.news_summeval import DIMENSIONS
from tests.reference import reference_data


@pytest.fixture(autouse=True)
def real_scores() -> None:
    reference_data()


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("confidence", ["-|RTS-MCQ|, batch", "-|RTS-MCQ|, open", "error model, batch"])
def test_the_kept_set_breaks_its_risk_no_more_often_than_delta(dimension: str, confidence: str) -> None:
    assert try_splits(Setting(dimension, "more than one", confidence, 0.2), 100).honest


def test_consistency_stays_with_the_judge_and_fluency_does_not() -> None:
    consistency, fluency = (
        try_splits(Setting(dimension, "more than one", "-|RTS-MCQ|, batch", 0.2), 50)
        for dimension in ("consistency", "fluency")
    )
    assert consistency.certified == 50
    assert consistency.kept > 0.7
    assert fluency.certified <= 2


@pytest.mark.parametrize("dimension", ["consistency", "fluency"])
def test_guaranteed_intervals_cover_at_20_ratings(dimension: str) -> None:
    found = {each.estimate: each for each in cover(dimension, 20, 150)}
    assert found["Guaranteed (betting)"].covered >= 0.9 * 150
    assert found["PPI++"].width < found["Guaranteed (betting)"].width


def test_a_broken_guarantee_is_noticed() -> None:
    setting = Setting("fluency", "more than one", "-|RTS-MCQ|, batch", 0.2)
    assert Splits(setting, 1_000, 1_000, 1.0, 110).honest
    assert not Splits(setting, 1_000, 1_000, 1.0, 160).honest
    assert Cover("fluency", 20, "Guaranteed (betting)", 1_000, 0, 890, 1.0, None, guaranteed=True).honest
    assert not Cover("fluency", 20, "Guaranteed (betting)", 1_000, 0, 850, 1.0, None, guaranteed=True).honest


def test_the_papers_rule_keeps_fewer_units_for_a_higher_r() -> None:
    shares = [papers_rule("relevance", r, DecidedBy.LOWER_BOUND)[0] for r in (0.3, 0.4, 0.5)]
    assert shares == sorted(shares, reverse=True)
