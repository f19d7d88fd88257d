"""Labels, preferences, rankings, spans and parts: a value or a reason, and intervals that hold."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import (
    Coefficient,
    LabelAnswers,
    MarkedSpan,
    Rankings,
    SpannedText,
    SpanWeights,
    agreement_by_label,
    alpha_by_category,
    jaccard_distance,
    label_alpha,
    label_rates,
    mean_concordance,
    mqm_alpha,
    ranking_alpha,
    share_of_yes,
    span_f1,
    unitizing_alpha_by_category,
)
from agreement.comparison import PairwiseAnswers, preference_alpha, share_of_agreement
from benchmarks.coverage_questions import held_questions

GAP = float("nan")
examples = settings(max_examples=60, deadline=None)
shapes = st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(1, 3), st.integers(0, 10_000))


def all_statistics(
    raters: int, items: int, documents: int, generator: np.random.Generator
) -> Iterator[Coefficient]:
    """Every statistic of small random answers; a third of the answers is missing."""
    of_item = np.arange(items) % documents
    gap = generator.random((raters, items)) < 0.3
    sets = [
        [
            None if gap[row, unit] else frozenset(generator.choice(3, size=generator.integers(0, 3)).tolist())
            for unit in range(items)
        ]
        for row in range(raters)
    ]
    labels = LabelAnswers(sets, labels=range(3), documents=of_item)
    yield label_alpha(labels, generator=generator)
    yield label_alpha(labels, jaccard_distance)
    for each in agreement_by_label(labels, generator=generator):
        yield from (each.alpha, each.f1)
    yield from (each.rate for each in label_rates(labels, [str(index % 2) for index in range(items)]))
    values = np.where(gap, GAP, generator.integers(-1, 2, size=(raters, items)))
    pairs = PairwiseAnswers(values, first=["A"] * items, second=["B"] * items, documents=of_item)
    yield preference_alpha(pairs, generator=generator)
    yield preference_alpha(pairs, by_strength=True)
    yield share_of_agreement(pairs, generator=generator)
    ranks = generator.integers(1, 4, size=(raters, items, 3)).astype(float)
    ranks[gap] = GAP
    rankings = Rankings(ranks, systems="ABC", documents=of_item)
    yield ranking_alpha(rankings, generator=generator)
    yield mean_concordance(rankings, generator=generator)
    texts = [
        SpannedText(
            str(of_item[item]),
            9,
            {
                str(row): [MarkedSpan(1, int(end), "style", "minor") for end in generator.integers(1, 9, 2)]
                for row in range(raters)
                if not gap[row, item]
            },
        )
        for item in range(items)
    ]
    yield span_f1(texts)
    yield mqm_alpha(texts, SpanWeights({"minor": 1}), generator=generator)
    for found in (alpha_by_category, unitizing_alpha_by_category):
        yield from found(texts, ["style", "fact"], generator=generator).values()
    yes = np.where(gap, GAP, generator.integers(0, 2, size=(raters, items)))
    yield share_of_yes(yes, [str(index % 4) for index in range(items)])


@examples
@given(shape=shapes)
def test_every_statistic_is_a_number_or_a_reason(shape: tuple[int, int, int, int]) -> None:
    raters, items, documents, seed = shape
    for found in all_statistics(raters, items, documents, np.random.default_rng(seed)):
        assert (found.value is None) == bool(found.reason), found
        assert (found.interval is None) == bool(found.interval_reason), found
        json.dumps(asdict(found), allow_nan=False)
        if found.interval is not None and found.value is not None:
            assert found.interval.low - 1e-9 <= found.value <= found.interval.high + 1e-9


@pytest.mark.parametrize("kind", ["parts", "spans"])
def test_intervals_hold_about_as_often_as_they_say(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python benchmarks/coverage.py questions` measures more."""
    monkeypatch.setattr("benchmarks.coverage_questions._MANY", 2_000)
    for held, exist in held_questions(kind, 30, 60).values():
        assert held >= 0.85
        assert exist == 1
