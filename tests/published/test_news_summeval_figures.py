"""Tables 4 to 7, 20 to 25 and 29 of Shen and others 2023, computed from raw replies."""

from collections.abc import Callable
from functools import cache

import krippendorff
import numpy as np
import pytest

from agreement.comparison import (
    CORRELATIONS,
    CorrectPreferences,
    SystemScores,
    all_pairs,
    alpha_with_people,
    correct_preferences,
    correct_verdicts,
    correlation_by_system,
    correlation_with_humans,
    head_to_head_points,
    human_ranking,
    meta_correlation,
    neighbours,
    position_consistency,
    reliability_and_correlation,
    reliability_by_system,
    scores_by_system,
)
from tests.published.news_summeval import DIMENSIONS, lines, published, scores, verdicts

Key = tuple[str, str, str, str, str]  # method, dimension, system, subset, coefficient
Figures = dict[Key, float | None]

METHODS = ("rts", "mcq")
MEASURES = {name.removesuffix("_tau_b"): measure for name, measure in CORRELATIONS.items()}


def correlation_with_humans_figures(method: str, dimension: str) -> Figures:
    return {
        (method, dimension, "", "", name): correlation_with_humans(scores(method, dimension), measure).value
        for name, measure in MEASURES.items()
    }


def per_system_correlation_figures(method: str, dimension: str) -> Figures:
    return {
        (method, dimension, each.system, "", name): each.coefficient.value
        for name, measure in MEASURES.items()
        for each in correlation_by_system(scores(method, dimension), measure)
    }


def meta_correlation_figures(method: str, dimension: str) -> Figures:
    return {
        (method, dimension, "", "", name): meta_correlation(scores(method, dimension), measure).value
        for name, measure in MEASURES.items()
    }


def reliability_indicator_figures(_: str, dimension: str) -> Figures:
    rts, mcq = (scores(method, dimension) for method in METHODS)
    return {
        ("rts-mcq", dimension, each.system, "", name): each.coefficient.value
        for name, measure in MEASURES.items()
        for each in reliability_by_system(rts, mcq.judge, measure)
    }


def indicator_vs_human_correlation_figures(method: str, dimension: str) -> Figures:
    one = scores(method, dimension)
    other = scores("mcq" if method == "rts" else "rts", dimension)
    return {
        (method, dimension, "", "", name): reliability_and_correlation(one, other.judge, measure).value
        for name, measure in MEASURES.items()
    }


@cache
def of_systems(method: str, dimension: str) -> tuple[SystemScores, ...]:
    return scores_by_system(scores(method, dimension))


def mean_judge_score_figures(method: str, dimension: str) -> Figures:
    return {
        (method, dimension, each.system, "", ""): each.judge_mean.value
        for each in of_systems(method, dimension)
    }


def mean_human_score_figures(method: str, dimension: str) -> Figures:
    return {
        ("", dimension, each.system, "", ""): each.human_mean.value for each in of_systems(method, dimension)
    }


def sd_of_human_scores_figures(method: str, dimension: str) -> Figures:
    return {
        ("", dimension, each.system, "", ""): each.human_spread.value
        for each in of_systems(method, dimension)
    }


@cache
def challenge() -> tuple[tuple[str, str], ...]:
    return neighbours(human_ranking(*(scores("rts", dimension) for dimension in DIMENSIONS)))


@cache
def preferences(method: str, dimension: str, subset: str) -> CorrectPreferences:
    of = scores("rts" if method == "h2h" else method, dimension)
    pairs = challenge() if subset == "challenge" else all_pairs(of.system_names)
    if method == "h2h":
        return correct_verdicts(verdicts(dimension), of, pairs)
    return correct_preferences(of, pairs)


def correct_preferences_figures(method: str, dimension: str) -> Figures:
    asked = [(method, subset) for subset in ("full", "challenge")] + [("h2h", "challenge")]
    return {
        (method, dimension, "", subset, ""): preferences(method, dimension, subset).correct
        for method, subset in asked
    }


def h2h_points_of_system_1_figures(_: str, dimension: str) -> Figures:
    judge = head_to_head_points(verdicts(dimension), challenge())
    human = preferences("h2h", dimension, "challenge").pairs
    figures: Figures = {
        ("h2h", dimension, f"{pair.first}-{pair.second}", "", "llm"): pair.points.value for pair in judge
    }
    for pair in human:
        figures["h2h", dimension, f"{pair.first}-{pair.second}", "", "human"] = pair.human_points
    return figures


QUANTITIES: dict[str, Callable[[str, str], Figures]] = {
    "correlation_with_humans": correlation_with_humans_figures,  # table 4
    "correct_preferences": correct_preferences_figures,  # table 5
    "meta_correlation": meta_correlation_figures,  # table 6
    "indicator_vs_human_correlation": indicator_vs_human_correlation_figures,  # table 7
    "sd_of_human_scores": sd_of_human_scores_figures,  # table 20
    "mean_human_score": mean_human_score_figures,  # table 21
    "h2h_points_of_system_1": h2h_points_of_system_1_figures,  # table 22
    "per_system_correlation": per_system_correlation_figures,  # tables 23 and 24
    "mean_judge_score": mean_judge_score_figures,  # table 25
    "reliability_indicator": reliability_indicator_figures,  # table 29
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_published_value_is_reproduced(quantity: str, dimension: str) -> None:
    expected = {
        (row["method"], dimension, row["system"], row["subset"], row["coefficient"]): float(row["recomputed"])
        for row in published()
        if (row["quantity"], row["dimension"]) == (quantity, dimension)
    }
    figures: Figures = {}
    for method in METHODS:
        figures |= QUANTITIES[quantity](method, dimension)
    assert expected
    assert {key: figures[key] for key in expected} == pytest.approx(expected, abs=5.1e-7)


def test_all_published_values_are_included() -> None:
    assert {row["quantity"] for row in published()} == set(QUANTITIES)
    assert {row["dimension"] for row in published()} == set(DIMENSIONS)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_consistency_of_position_equals_a_recount_of_the_replies(dimension: str) -> None:
    winners: dict[tuple[str, ...], set[str]] = {}
    for line in lines("h2h_gpt-3.5-turbo-0301.jsonl.gz"):
        if line["dimension"] == dimension:
            pair = (*sorted((line["system_1"], line["system_2"])), line["id"])
            winner = {"A": line["system_1"], "B": line["system_2"], "C": "tie"}[line["response"].strip()[0]]
            winners.setdefault(pair, set()).add(winner)
    same = sum(len(found) == 1 for found in winners.values())
    result = position_consistency(verdicts(dimension))
    assert (result.consistent, len(winners)) == (same, 1100)
    assert result.share.value == pytest.approx(same / 1100)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("method", METHODS)
def test_alpha_with_the_experts_equals_an_independent_package(method: str, dimension: str) -> None:
    of = scores(method, dimension)
    alphas = alpha_with_people(of)
    for alpha, table in (
        (alphas.among_people, of.human),
        (alphas.with_judge, np.vstack([of.human, of.judge])),
        (alphas.with_mean, np.vstack([of.human.mean(axis=0).round(12), of.judge])),
    ):
        oracle = krippendorff.alpha(table, level_of_measurement="interval")
        assert alpha.value == pytest.approx(oracle, abs=1e-9)
