"""Whatever is missing, every figure is a number or a sentence, and fits into JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agreement import PairMeasure
from agreement.comparison import (
    CORRELATIONS,
    Level,
    Scores,
    Verdicts,
    alpha_with_people,
    correct_preferences,
    correct_verdicts,
    correlation_by_system,
    correlation_with_humans,
    head_to_head_points,
    judge_as_one_more_rater,
    meta_correlation,
    position_consistency,
    reliability_and_correlation,
    reliability_by_system,
    scores_by_system,
    self_consistency,
)
from tests.agreement.comparison.tables import GAP, grid

points = st.sampled_from([GAP, GAP, 1.0, 2.0, 3.5, 5.0])
tables = st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        arrays.arrays(float, (shape[0] + 2, shape[1] * shape[2]), elements=points), st.just(shape[2])
    )
)
examples = settings(max_examples=60, deadline=None)


def split(table: np.ndarray, documents: int) -> tuple[Scores, np.ndarray]:
    """People, the judge in the last row but one, another judge in the last."""
    return grid(table[:-2], table[-2], documents), table[-1]


def figures(scores: Scores, other: np.ndarray, measure: PairMeasure) -> Iterator[Any]:
    with_interval: dict[str, Any] = {"generator": np.random.default_rng(0)}
    for level in Level:
        yield correlation_with_humans(scores, measure, level, **with_interval)
    yield meta_correlation(scores, measure)
    yield reliability_and_correlation(scores, other, measure, **with_interval)
    yield from correlation_by_system(scores, measure, **with_interval)
    yield from reliability_by_system(scores, other, measure, **with_interval)
    yield from scores_by_system(scores, **with_interval)
    yield correct_preferences(scores, **with_interval)
    yield alpha_with_people(scores, **with_interval)
    yield judge_as_one_more_rater(scores, **with_interval)
    yield self_consistency([scores.judge, other], documents=scores.documents, **with_interval)


def all_said(figure: object) -> bool:
    """Every coefficient in nested dictionaries has a value or a reason, and an interval or a reason."""
    if isinstance(figure, dict):
        if {"value", "reason", "interval_reason"} <= set(figure):
            return (figure["value"] is None) == bool(figure["reason"]) and (
                (figure["interval"] is None) == bool(figure["interval_reason"])
            )
        return all(all_said(part) for part in figure.values())
    return all(all_said(part) for part in figure) if isinstance(figure, list | tuple) else True


@pytest.mark.parametrize("measure", CORRELATIONS.values(), ids=CORRELATIONS)
@examples
@given(made=tables)
def test_every_statistic_of_scores_is_a_number_or_a_reason(
    measure: PairMeasure, made: tuple[np.ndarray, int]
) -> None:
    scores, other = split(*made)
    for figure in figures(scores, other, measure):
        assert all_said(asdict(figure))
        json.dumps(asdict(figure), allow_nan=False)


asked = st.lists(
    st.tuples(st.permutations(["0", "1", "2"]), st.integers(0, 3), st.sampled_from([1.0, 0.5, 0.0, GAP])),
    max_size=20,
)


@examples
@given(asked=asked)
def test_every_statistic_of_verdicts_is_a_number_or_a_reason(
    asked: list[tuple[list[str], int, float]],
) -> None:
    verdicts = Verdicts(
        first=[systems[0] for systems, _, _ in asked],
        second=[systems[1] for systems, _, _ in asked],
        documents=[document for _, document, _ in asked],
        points=[value for _, _, value in asked],
    )
    scores = grid([[1, 2, 3, 2, 2, GAP]], [1] * 6, documents=2)
    generator = np.random.default_rng(0)
    found: list[Any] = [
        *head_to_head_points(verdicts, generator=generator),
        position_consistency(verdicts, generator=generator),
        correct_verdicts(verdicts, scores, generator=generator),
    ]
    for figure in found:
        assert all_said(asdict(figure))
        json.dumps(asdict(figure), allow_nan=False)


@examples
@given(asked=asked)
def test_the_points_of_two_systems_add_up_to_their_documents(
    asked: list[tuple[list[str], int, float]],
) -> None:
    verdicts = Verdicts(
        first=[systems[0] for systems, _, _ in asked],
        second=[systems[1] for systems, _, _ in asked],
        documents=[document for _, document, _ in asked],
        points=[value for _, _, value in asked],
    )
    turned = [(second, first) for first, second in verdicts.pairs]
    for pair, other in zip(head_to_head_points(verdicts), head_to_head_points(verdicts, turned), strict=True):
        assert pair.documents == other.documents
        if pair.documents:
            assert (pair.points.value or 0) + (other.points.value or 0) == pytest.approx(pair.documents)
        assert pair.consistency == other.consistency
